package quote

import "math"

// Scene is what inspect found in the active scene (decisions 6): the basis
// of the price and of the caller's answer. It is stored with the upload.
type Scene struct {
	Name                 string        `json:"name"`
	Engine               string        `json:"engine"`
	ResolutionX          int           `json:"resolution_x" doc:"Pixels, before the percentage."`
	ResolutionY          int           `json:"resolution_y" doc:"Pixels, before the percentage."`
	ResolutionPercentage int           `json:"resolution_percentage"`
	FrameWidth           int           `json:"frame_width" doc:"Pixels of a picture: the percentage taken, and cropped where the scene says so."`
	FrameHeight          int           `json:"frame_height"`
	Samples              int           `json:"samples" doc:"Cycles samples a pixel."`
	FPS                  float64       `json:"fps"`
	FrameStart           int           `json:"frame_start"`
	FrameEnd             int           `json:"frame_end"`
	FrameStep            int           `json:"frame_step"`
	FileVersion          string        `json:"file_version" doc:"Version of the Blender that saved the file, such as 4.1."`
	MissingFiles         []MissingFile `json:"missing_files" doc:"Files that the picture needs and that are not packed into the upload."`
	LinkedLibraries      []string      `json:"linked_libraries" doc:"Paths of the .blend files that the picture needs data of, as written."`
	Scripts              []string      `json:"scripts" doc:"Names of text blocks; none of them is run."`
	UsesAutorunScripts   bool          `json:"uses_autorun_scripts" doc:"True when the picture can depend on Python that would run by itself."`
	AutorunScripts       []Script      `json:"autorun_scripts,omitempty" doc:"That Python; none of it is run."`
	DrivenSamples        bool          `json:"driven_samples" doc:"True when a driver or keyframes set the samples."`
	FileOutputNodes      []string      `json:"file_output_nodes" doc:"Paths of compositor File Output nodes; they write nothing here."`
	OutputFormat         string        `json:"output_format" doc:"Blender's name of the still or movie format, such as PNG."`
	MovieOutput          bool          `json:"movie_output" doc:"True when the format is one film; frames are then PNG."`
	Denoise              bool          `json:"denoise" doc:"True when the scene asks for denoising."`
	Multiview            bool          `json:"multiview" doc:"True when the scene renders several views."`
	StampNames           bool          `json:"stamp_names" doc:"True when the scene writes the file's or the computer's name into the picture."`
}

// MissingFile is a file that the .blend refers to and does not contain. Path is the
// text in the file, of the machine that saved it; nothing here ever opens it.
type MissingFile struct {
	Kind  string `json:"kind"`
	Path  string `json:"path" doc:"As written in the file."`
	Owner string `json:"owner" doc:"The data-block that wants it."`
	// UsedBy is what the missing file changes in the picture.
	UsedBy string `json:"used_by,omitempty" doc:"What uses that data-block, such as \"material Floor\"."`
}

// Script is Python of the file without which the picture can be another.
type Script struct {
	Owner      string `json:"owner" doc:"What has it, such as \"object Door\" or \"text startup.py\"."`
	Property   string `json:"property,omitempty" doc:"What a driver sets, as Blender writes it."`
	Expression string `json:"expression,omitempty" doc:"The driver's."`
}

// Frames returns the scene's own range. A step below 1, which a damaged file may hold,
// counts as 1.
func (s Scene) Frames() Frames {
	return Frames{Start: s.FrameStart, End: s.FrameEnd, Step: max(1, s.FrameStep)}
}

// PixelSamples is the work of one frame: pixels × samples, of the whole picture even
// where the scene crops it. It computes in floating point and saturates, because a
// hostile file's numbers may overflow an int64. Percentage and samples count as 1 at
// least and signs are dropped, so that no strange number makes a scene look cheap.
func (s Scene) PixelSamples() int64 {
	scale := math.Max(1, float64(s.ResolutionPercentage)) / 100
	work := math.Abs(float64(s.ResolutionX)) * scale * math.Abs(float64(s.ResolutionY)) * scale * math.Max(1, float64(s.Samples))
	if work >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(work)
}
