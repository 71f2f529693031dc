package strips

import (
	"slices"
	"strings"

	"svc.example/internal/render/blendfile"
)

// Reason says why a picture is rendered in one piece; "" where it may be cut.
type Reason string

// Reasons. Those up to Unproven are of scenes whose strips are known, or must be feared, to differ
// from the whole picture.
const (
	Denoised      Reason = "denoising"
	AdaptiveTiles Reason = "adaptive_tiles"
	TimeLimited   Reason = "time_limit"
	WorldVolume   Reason = "world_volume"
	Guided        Reason = "path_guiding"
	Lines         Reason = "lines"
	Played        Reason = "simulation"
	Driven        Reason = "driven_settings"
	OtherEngine   Reason = "engine"
	SeveralScenes Reason = "several_scenes"
	Sequenced     Reason = "sequencer"
	Scripts       Reason = "shader_scripts"
	SampleCounts  Reason = "sample_counts"
	Bordered      Reason = "border"
	Views         Reason = "views"
	Unproven      Reason = "unproven"
)

// reasons has what each Reason means, in a sentence for people.
func reasons() map[Reason]string {
	return map[Reason]string{
		Denoised:      "Cycles denoises the whole picture.",
		AdaptiveTiles: "The picture has several tiles, and adaptive sampling depends on them.",
		TimeLimited:   "Cycles stops after a time limit.",
		WorldVolume:   "The world has a volume, which Blender does not render the same way twice.",
		Guided:        "Path guiding learns from the whole picture.",
		Lines:         "Freestyle or Grease Pencil draws lines over the whole picture.",
		Played:        "The frame depends on a simulation of the frames before it.",
		Driven:        "A driver or keyframes set how the picture is rendered, or a driver reads it.",
		OtherEngine:   "The scene is not rendered with Cycles alone.",
		SeveralScenes: "The picture shows several scenes.",
		Sequenced:     "The sequencer makes the picture.",
		Scripts:       "Shaders run Open Shading Language.",
		SampleCounts:  "A pass shows sample counts, which Cycles gives as parts of the picture's highest.",
		Bordered:      "A border leaves out parts of the picture without cropping it.",
		Views:         "The scene renders several views.",
		Unproven:      "The scene has something whose strips were never compared with a whole picture.",
	}
}

// Text is the reason as a sentence for people; "" for none, or one that this version does not know.
func (r Reason) Text() string { return reasons()[r] }

// The types of objects that were compared, by Blender's numbers: empties, meshes, curves, surfaces,
// texts, metaballs, lights, cameras, speakers, light probes, lattices, armatures, hair curves, point
// clouds and volumes.
const provenTypes = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<10 | 1<<11 | 1<<12 | 1<<13 | 1<<22 | 1<<25 | 1<<27 | 1<<28 | 1<<29

// Grease Pencil, up to 4.2 and from then on.
const lineTypes = 1<<26 | 1<<30

// Files of these versions of Blender load in those that were measured.
const oldestFile, newestFile = 280, 499

// Splittable returns why the picture that a file shows is rendered in one piece; "" where strips
// of it are proven to be the picture. Blender itself looks again before it renders a strip.
func Splittable(f *blendfile.Facts) Reason {
	s, r := f.Scene, f.Rendering
	switch {
	case s == nil || r == nil || f.FileVersion < oldestFile || f.FileVersion > newestFile:
		return Unproven
	case r.Sequenced:
		return Sequenced
	case len(r.Shots) != 1 || r.Shots[0].Scene != s.Name:
		return SeveralScenes
	case s.Engine != "CYCLES":
		return OtherEngine
	case f.WorldVolume:
		return WorldVolume
	case slices.ContainsFunc(f.Simulations, func(m blendfile.Simulation) bool { return !m.Baked }):
		return Played
	case denoised(r.Denoising):
		return Denoised
	case s.Multiview:
		return Views
	}
	return ofDivision(s, r.Division)
}

// ofDivision judges a single scene of Cycles.
func ofDivision(s *blendfile.Scene, d blendfile.Division) Reason {
	types := 0
	for t := range d.ObjectTypes {
		types |= 1 << min(max(t, 0), 31)
	}
	switch {
	case d.TimeLimit:
		return TimeLimited
	case d.Guiding:
		return Guided
	case d.Scripts:
		return Scripts
	case d.Freestyle || types&lineTypes != 0:
		return Lines
	case s.AdaptiveSampling && d.Tiled:
		return AdaptiveTiles
	case s.AdaptiveSampling && d.SampleCounts:
		return SampleCounts
	case s.Border != nil && !s.Border.Crop: // cuts count the rows of the picture
		return Bordered
	case s.SizeChanges || driven(d.Curves):
		return Driven
	case !d.Known || types&^provenTypes != 0:
		return Unproven
	}
	return ""
}

// denoised reports whether a scene is denoised by its own settings. A compositor's nodes run
// after the strips are joined.
func denoised(by []string) bool {
	for _, what := range by {
		if strings.HasPrefix(what, "scene ") {
			return true
		}
	}
	return false
}

// harmless are the settings that may change with the frame: each strip has the same then.
func harmless(path string) bool {
	path = strings.NewReplacer(`["cycles"]`, "cycles", `["`, ".", `"]`, "").Replace(path)
	return path == "cycles.seed" || path == "cycles.samples"
}

func driven(curves []string) bool {
	for _, path := range curves {
		if !harmless(path) {
			return true
		}
	}
	return false
}
