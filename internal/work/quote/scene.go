package quote

import (
	"encoding/json"
	"math"
	"slices"
)

// Scene is what inspect found in the active scene (decisions 6): the basis
// of the price and of the caller's answer. It is stored with the upload.
type Scene struct {
	Name       string   `json:"name"`
	Scenes     []string `json:"scenes,omitempty" doc:"The scenes of the file, of which an order can choose one."`
	Cameras    []string `json:"cameras,omitempty" doc:"The cameras of the file; camera is the one that is used, and absent where only markers of the timeline or strips bring one."`
	Camera     string   `json:"camera,omitempty"`
	ViewLayers []string `json:"view_layers,omitempty" doc:"The view layers of the scene, rendered or not."`
	OutputName string   `json:"output_name,omitempty" doc:"How the scene itself names its frames, such as shot_010_####: what output_name scene gives."`
	// Refused is set of a file that was accepted for what was chosen of it.
	Refused              *Refused      `json:"refused,omitempty" doc:"Why the file cannot be rendered without the settings that were chosen."`
	Engine               string        `json:"engine"`
	ResolutionX          int           `json:"resolution_x" doc:"Pixels, before the percentage."`
	ResolutionY          int           `json:"resolution_y" doc:"Pixels, before the percentage."`
	ResolutionPercentage int           `json:"resolution_percentage"`
	FrameWidth           int           `json:"frame_width" doc:"Pixels of a picture: the percentage taken, cropped where the scene says so, and both eyes where it has them next to each other."`
	FrameHeight          int           `json:"frame_height"`
	Samples              int           `json:"samples" doc:"Cycles samples a pixel."`
	FPS                  float64       `json:"fps"`
	FrameStart           int           `json:"frame_start"`
	FrameEnd             int           `json:"frame_end"`
	FrameStep            int           `json:"frame_step"`
	FileVersion          string        `json:"file_version" doc:"Version of the Blender that saved the file, such as 4.1."`
	MissingFiles         []MissingFile `json:"missing_files" doc:"Files that the picture needs and that are not packed into the upload."`
	LinkedLibraries      []string      `json:"linked_libraries" doc:"Paths of the .blend files that the picture needs data of, as written."`
	// Files is nil for a .blend that was uploaded alone: MissingFiles and LinkedLibraries say what
	// is missing.
	Files              []SceneFile      `json:"files,omitzero" doc:"What the scene of a project names, with what its libraries name; absent of a .blend that was sent alone."`
	FilesPartial       bool             `json:"files_partial,omitempty" doc:"True when the project has more than the search for files goes through; what is listed is right."`
	UnreadableFiles    []UnreadableFile `json:"unreadable_files,omitempty" doc:"Files of the project that the scene names and Blender cannot read, as far as their first bytes tell."`
	Sequences          []Sequence       `json:"sequences,omitempty" doc:"Image sequences and volumes that lack numbers which the scene can show."`
	MissingData        []MissingData    `json:"missing_data,omitempty" doc:"Data-blocks that the picture needs and that are not in the library from which they are linked."`
	Scripts            []string         `json:"scripts" doc:"Names of text blocks; none of them is run."`
	UsesAutorunScripts bool             `json:"uses_autorun_scripts" doc:"True if the picture may depend on Python that would run automatically."`
	AutorunScripts     []Script         `json:"autorun_scripts,omitempty" doc:"That Python; none of it is run."`
	DrivenSamples      bool             `json:"driven_samples" doc:"True when a driver or keyframes set the samples."`
	FileOutputNodes    []string         `json:"file_output_nodes" doc:"Paths of compositor File Output nodes. Their files are delivered with each frame."`
	OutputsPerFrame    int              `json:"outputs_per_frame,omitempty" doc:"How many files a frame has besides its picture: those of File Output nodes, views and previews. Absent for none."`
	Simulations        []Simulation     `json:"simulations" doc:"What runs from frame to frame in the picture."`
	OutputFormat       string           `json:"output_format" doc:"Blender's name of the still or movie format, such as PNG."`
	MovieOutput        bool             `json:"movie_output" doc:"True when the format is one film; frames are then PNG."`
	Denoise            bool             `json:"denoise" doc:"True when the scene asks for denoising."`
	EXRPreviews        bool             `json:"exr_previews,omitempty" doc:"True when the scene writes a JPEG next to each OpenEXR picture. It is delivered with the frame."`
	Multiview          bool             `json:"multiview" doc:"True when the scene renders several views. Frames are the first of them; each other view is delivered with its frame."`
	Views              int              `json:"views,omitempty" doc:"How many views are rendered for a frame, such as a left and a right eye; absent where multiview is false."`
	StampNames         bool             `json:"stamp_names" doc:"True when the scene writes the file's or the computer's name into the picture."`
	Denoising          []string         `json:"denoising" doc:"What of the picture is denoised: \"scene NAME\", \"compositor\"."`
	Sequenced          bool             `json:"sequenced" doc:"True when the strips of the sequencer make the picture."`
	NoLayer            string           `json:"no_layer,omitempty" doc:"A scene of which no view layer is rendered; absent where there is none."`
	WorldVolume        bool             `json:"world_volume,omitempty" doc:"True when the world of the picture has a volume; newer Blenders do not render it the same way twice."`
	EmptyImages        []EmptyImage     `json:"empty_images,omitempty" doc:"Image texture nodes of shaders that have no image."`
	Unrendered         []Shot           `json:"unrendered,omitempty" doc:"Strips that show scenes of other engines than Cycles; they are left out."`
	// ColorManagement is nil of a scene that was inspected before.
	ColorManagement *ColorManagement `json:"color_management,omitempty" doc:"What the picture needs of Blender's colour management."`
	// BuildOptions is nil of a scene that was inspected before.
	BuildOptions []NeededOption `json:"build_options,omitempty" doc:"What Blender must be built with for the picture, each with one file that needs it."`
	// SampleLayers and LayerSamples are what a pixel of the scene takes: so many times the
	// scene's samples, and so many more. OtherPixelSamples is the work of other scenes that
	// a frame shows. The zero values are those of a scene that was inspected before.
	SampleLayers      int          `json:"sample_layers,omitempty" doc:"View layers that are rendered with the scene's samples."`
	LayerSamples      int          `json:"layer_samples,omitempty" doc:"Samples of the other view layers together."`
	OtherPixelSamples int64        `json:"other_pixel_samples,omitempty" doc:"Pixels × samples of the scenes that the sequencer or the compositor shows, at most at a time."`
	SampleKeys        []SampleSpan `json:"sample_keys,omitempty" doc:"The most samples that keyframes set, along the timeline; absent where none do or that cannot be told."`
	// StripOverlap is 0 of a scene that was inspected before.
	StripOverlap int    `json:"strip_overlap,omitempty" doc:"Rows of each neighbour that a strip shows, if several workers render a frame; absent where frames are rendered whole."`
	WholeFrames  string `json:"whole_frames,omitempty" doc:"Why frames are rendered whole; absent where several workers may render one."`
}

// EmptyImage is an image texture node of a shader that has no image.
type EmptyImage struct {
	Node  string `json:"node"`
	Owner string `json:"owner" doc:"What has the node, such as \"material Floor\"."`
}

// Shot is a strip that shows a scene.
type Shot struct {
	Strip  string `json:"strip"`
	Scene  string `json:"scene"`
	Engine string `json:"engine"`
	First  int    `json:"first,omitempty" doc:"First frame in which it may be seen; absent with last where that is not known."`
	Last   int    `json:"last,omitempty"`
}

// in reports whether a frame may show the strip.
func (s Shot) in(frames Frames) bool {
	return s.First == 0 && s.Last == 0 || frames.Count() == 0 || frames.Start <= s.Last && s.First <= frames.End
}

// SampleSpan is the most samples that keyframes set in a part of the timeline.
type SampleSpan struct {
	From float64 `json:"from" doc:"Frame."`
	To   float64 `json:"to" doc:"Frame."`
	Most int     `json:"most"`
}

// MissingFile is a file that the .blend refers to and does not contain. Path is the
// text in the file, of the machine that saved it; nothing here ever opens it.
type MissingFile struct {
	Kind  string `json:"kind"`
	Path  string `json:"path" doc:"As written in the file."`
	Owner string `json:"owner" doc:"The data-block that wants it."`
	// UsedBy is what the missing file changes in the picture.
	UsedBy string `json:"used_by,omitempty" doc:"What uses that data-block, such as \"material Floor\"."`
	From   string `json:"from,omitempty" doc:"The library that names it, packed or in the project, and from which its path counts; absent for the upload itself."`
}

// Simulation is state that runs from frame to frame: what it shows in a frame follows
// from the frames before, unless Blender reads it from a bake (docs/frames.md).
type Simulation struct {
	Kind       string `json:"kind" doc:"cloth, soft_body, rigid_body, particles, hair_dynamics, dynamic_paint, fluid or simulation_nodes."`
	Object     string `json:"object"`
	FirstFrame int    `json:"first_frame" doc:"First frame of the simulation's own range; 0 if it has none."`
	LastFrame  int    `json:"last_frame"`
	Baked      bool   `json:"baked" doc:"Blender reads each frame from a bake."`
	Cached     bool   `json:"cached" doc:"Each frame is stored in the file, without a bake."`
	Folder     string `json:"folder,omitempty" doc:"The folder of its bake, as written; absent where the bake is in the file or there is none."`
	From       string `json:"from,omitempty" doc:"The library that has the object, packed or in the project; absent for the upload itself."`
}

// Plays reports whether frames depend on the frames before: then a worker plays the scene
// up to the frame that it renders.
func (s Scene) Plays() bool {
	return slices.ContainsFunc(s.Simulations, func(m Simulation) bool { return !m.Baked })
}

// Script is Python of the file without which the picture can be another.
type Script struct {
	Owner      string `json:"owner" doc:"What has it, such as \"object Door\" or \"text startup.py\"."`
	Property   string `json:"property,omitempty" doc:"What a driver sets, as Blender writes it."`
	Expression string `json:"expression,omitempty" doc:"The driver's."`
	From       string `json:"from,omitempty" doc:"The library that has it; absent for the upload's own file."`
}

// Frames returns the scene's own range. A step below 1, which a damaged file may hold,
// counts as 1.
func (s Scene) Frames() Frames {
	return Frames{Start: s.FrameStart, End: s.FrameEnd, Step: max(1, s.FrameStep)}
}

// SamplesIn returns the most samples that the scene has in a range of frames: those that it
// stores, or what keyframes set there.
func (s Scene) SamplesIn(frames Frames) int {
	if len(s.SampleKeys) == 0 {
		return s.Samples
	}
	most := 0
	for _, span := range s.SampleKeys {
		if span.From <= float64(frames.End) && span.To >= float64(frames.Start) {
			most = max(most, span.Most)
		}
	}
	return most
}

// PictureSize is the size of the scene's pictures in pixels; 0 where it is not known: of a scene
// with several views that was inspected before they were delivered.
func (s Scene) PictureSize() (width, height int) {
	if s.Multiview && s.Views == 0 {
		return 0, 0
	}
	return s.FrameWidth, s.FrameHeight
}

// PixelSamples is the work of the heaviest frame of a range: pixels × samples of all that is
// rendered for it in all views, of whole pictures even where the scene crops them. It computes in
// floating point and saturates, because a hostile file's numbers may overflow an int64.
// Percentage and samples count as 1 at least and signs are dropped, so that no strange
// number makes a scene look cheap.
func (s Scene) PixelSamples(frames Frames) int64 {
	scale := math.Max(1, float64(s.ResolutionPercentage)) / 100
	layers := s.SampleLayers
	if s.LayerSamples == 0 && s.OtherPixelSamples == 0 {
		layers = max(1, layers)
	}
	samples := float64(layers)*math.Max(1, float64(s.SamplesIn(frames))) + math.Abs(float64(s.LayerSamples))
	work := math.Abs(float64(s.ResolutionX))*scale*math.Abs(float64(s.ResolutionY))*scale*samples + math.Abs(float64(s.OtherPixelSamples))
	work *= float64(max(1, s.Views))
	if work >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(work)
}

// MovieScene is the name of a stored scene, and whether it writes a movie. One that was removed
// with its upload writes none.
func MovieScene(scene string) (name string, writes bool) {
	var s Scene
	if err := json.Unmarshal([]byte(scene), &s); err != nil {
		return "", false
	}
	return s.Name, s.MovieOutput
}

// FPSOf is the speed of a stored scene, in frames a second; Blender's own default if the scene
// does not say it, or was removed with its upload.
func FPSOf(scene string) float64 {
	const usual = 24
	var s Scene
	if err := json.Unmarshal([]byte(scene), &s); err != nil || s.FPS < 1 || s.FPS > 1000 {
		return usual
	}
	return s.FPS
}
