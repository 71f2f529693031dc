package quote

import (
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/colour"
	"svc.example/internal/render/framelist"
)

// Farm is what a quote says about the online workers. The zero value is a farm
// without workers.
type Farm struct {
	// BlenderVersion is that of all workers; "" when they differ or there is none.
	BlenderVersion string
	Workers        int
	DenoiseOff     int // workers that render without denoising
	NoDenoiser     int // workers that refuse scenes that ask for denoising
	// Colors is what the Blenders of workers have for colour management, of those that
	// told it.
	Colors []Colors
	// Lacks is what the Blenders of workers were built without: one entry for
	// each combination.
	Lacks []buildoption.Set
	// FrameOutputs is how many files a frame may have besides its picture; 0 for the contract's.
	FrameOutputs int
}

// Colors is what the Blenders of some workers have for colour management. It is Known.
type Colors struct {
	colour.Offer
	Workers int
}

// Renderer returns the version of the Blender that will render: that of the workers if
// all have the same, otherwise the contract's. The number is as files encode versions:
// 4.1 is 401.
func (f Farm) Renderer() (text string, number int) {
	if n, ok := versionNumber(f.BlenderVersion); ok {
		return f.BlenderVersion, n
	}
	n, _ := versionNumber(contract.BlenderVersion)
	return contract.BlenderVersion, n
}

// lastRepeating is the last version of Blender that was seen to repeat a world volume. 4.3 does
// not; those between were not measured.
const lastRepeating = 304

// Repeats reports whether two renders by a version of Blender, such as "4.1.1", show the same
// noise. Renders that do not repeat prove nothing about their workers.
func (s Scene) Repeats(blender string) bool {
	number, _ := versionNumber(blender)
	return s.repeatsIn(number)
}

func (s Scene) repeatsIn(number int) bool { return !s.WorldVolume || number <= lastRepeating }

// versionNumber reads "4.1" or "4.1.1" as 401.
func versionNumber(text string) (int, bool) {
	var major, minor int
	if _, err := fmt.Sscanf(text, "%d.%d", &major, &minor); err != nil {
		return 0, false
	}
	return major*100 + minor, true
}

// heavyPart is the share of the envelope, 1/heavyPart, above which a scene is called
// heavy. The warning is advice before paying; it changes neither price nor rights.
const heavyPart = 4

// frameText names frames in a sentence.
func frameText(l framelist.List) string {
	switch ranges := l.Ranges(); {
	case len(l) == 1:
		return "frame " + l.String()
	case len(ranges) > mostNamed:
		return fmt.Sprintf("%d frames (%d to %d)", len(l), l[0], l[len(l)-1])
	default:
		return fmt.Sprintf("%d frames (%s)", len(l), l)
	}
}

// Bounds of what a warning names: a file can hold thousands of each.
const (
	mostNamed  = 3  // in the message
	mostDetail = 50 // in the detail; the scene has all
)

func first[L ~[]T, T any](list L, most int) L { return list[:min(len(list), most)] }

// listed writes the first of a list, and how many more there are.
func listed[T any](list []T, text func(T) string) string {
	named := make([]string, 0, mostNamed)
	for _, v := range first(list, mostNamed) {
		named = append(named, text(v))
	}
	if more := len(list) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(named, ", "), more)
	}
	return strings.Join(named, ", ")
}

func itself(s string) string { return s }

// fileText names a missing file and what it changes, as in "//wood.png (image wood, used
// by material Floor)".
func fileText(m MissingFile) string {
	user := ""
	if m.UsedBy != "" {
		user = ", used by " + m.UsedBy
	}
	return fmt.Sprintf("%s (%s %s%s%s)", m.Path, m.Kind, m.Owner, user, inLibrary(m.From))
}

// emptyImageText names a node without an image, as in "Image Texture of material Floor".
func emptyImageText(e EmptyImage) string { return e.Node + " of " + e.Owner }

// shotText names a strip and what it shows.
func shotText(s Shot) string { return fmt.Sprintf("%s (scene %s, %s)", s.Strip, s.Scene, s.Engine) }

// samplesText says what is known of samples that change.
func (s Scene) samplesText(frames Frames) string {
	if len(s.SampleKeys) == 0 {
		return fmt.Sprintf("The samples change from frame to frame; the file has %d.", s.Samples)
	}
	return fmt.Sprintf("The samples are animated: at most %d in these frames.", s.SamplesIn(frames))
}

func (s Scene) samplesDetail(frames Frames) map[string]int {
	detail := map[string]int{"stored": s.Samples}
	if len(s.SampleKeys) > 0 {
		detail["most"] = s.SamplesIn(frames)
	}
	return detail
}

// scriptText names Python, as in "object Door, location".
func scriptText(s Script) string {
	if s.Property == "" {
		return s.Owner + inLibrary(s.From)
	}
	return s.Owner + ", " + s.Property + inLibrary(s.From)
}

// simulationText names a simulation, as in "Curtain (cloth)".
func simulationText(m Simulation) string {
	return fmt.Sprintf("%s (%s%s)", m.Object, strings.ReplaceAll(m.Kind, "_", " "), inLibrary(m.From))
}

// inLibrary names the packed library that something is in.
func inLibrary(path string) string {
	if path == "" {
		return ""
	}
	return ", in " + path
}

// missing lists the missing files that no other warning names: libraries and bakes of
// simulations have their own.
func (s Scene) missing() []MissingFile {
	return slices.DeleteFunc(slices.Clone(s.MissingFiles), func(m MissingFile) bool { return m.Kind == "library" || m.Kind == "simulation" })
}

// missingCaches lists the missing bakes of simulations.
func (s Scene) missingCaches() []MissingFile {
	return slices.DeleteFunc(slices.Clone(s.MissingFiles), func(m MissingFile) bool { return m.Kind != "simulation" })
}

// unbaked lists the simulations that Blender has to compute: the file has neither their
// frames nor the name of a folder that they were baked to.
func (s Scene) unbaked() []Simulation {
	return slices.DeleteFunc(slices.Clone(s.Simulations), func(m Simulation) bool { return m.Baked || m.Cached || m.Folder != "" })
}
