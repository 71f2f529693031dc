package quote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/colour"
	"svc.example/internal/render/framelist"
)

// Farm is what a quote tells of the workers that are online. The zero value is a farm
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
	// Lacks is what the Blenders of workers were built without: an entry for each
	// combination.
	Lacks []buildoption.Set
}

// Colors is what the Blenders of some workers have for colour management. It is Known.
type Colors struct {
	colour.Offer
	Workers int
}

// Renderer returns the version of the Blender that will render: that of the workers
// where all have one, else the contract's. The number is as files encode versions: 4.1
// is 401.
func (f Farm) Renderer() (text string, number int) {
	if n, ok := versionNumber(f.BlenderVersion); ok {
		return f.BlenderVersion, n
	}
	n, _ := versionNumber(contract.BlenderVersion)
	return contract.BlenderVersion, n
}

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

// Warnings lists where the render will differ from what the file expects, the worst
// first. It works from the stored scene, so a later quote of the same upload gives the same
// warnings, unless the farm has changed.
func (e Envelope) Warnings(s Scene, farm Farm, selected Selection) []Warning {
	frames := selected.Frames
	out := []Warning{}
	warn := func(condition bool, code WarningCode, detail any, format string, args ...any) {
		if condition {
			out = append(out, Warn(code, detail, format, args...))
		}
	}
	lacked := s.neededOf(farm.lacks(s.Needs()))
	warn(len(lacked) > 0, WarnBuildOption, map[string]any{"missing": lacked, "workers": farm.Workers},
		"The Blender of no worker that is online has all that the picture needs: %s.", listed(lacked, optionText))
	missing := s.missing()
	warn(len(missing) > 0, WarnMissingFiles, map[string]any{"count": len(missing), "files": first(missing, mostDetail)}, "The upload lacks %s.", listed(missing, fileText))
	warn(len(s.UnreadableFiles) > 0, WarnUnreadable, map[string]any{"count": len(s.UnreadableFiles), "files": first(s.UnreadableFiles, mostDetail)},
		"Blender cannot read files of the upload: %s.", listed(s.UnreadableFiles, unreadableText))
	remapped, unreachable := s.remapped()
	warn(len(unreachable) > 0, WarnUnreachable, map[string]any{"count": len(unreachable), "files": first(unreachable, mostDetail)},
		"The .blend looks for files of the project where none can be put: %s.", listed(unreachable, remappedText))
	warn(s.FilesPartial, WarnFilesPartial, nil, "Not all files of the project were looked for.")
	caches := s.missingCaches()
	warn(len(caches) > 0, WarnMissingCache, map[string]any{"count": len(caches), "files": first(caches, mostDetail)}, "The upload lacks what simulations were baked to: %s.", listed(caches, fileText))
	warn(len(s.LinkedLibraries) > 0, WarnLinkedLibraries, map[string]any{"count": len(s.LinkedLibraries), "paths": first(s.LinkedLibraries, mostDetail)},
		"The upload lacks linked .blend files: %s.", listed(s.LinkedLibraries, itself))
	warn(s.UsesAutorunScripts, WarnScriptsDisabled, map[string]any{"count": len(s.AutorunScripts), "scripts": first(s.AutorunScripts, mostDetail)},
		"The picture can depend on Python: %s.", cmp.Or(listed(s.AutorunScripts, scriptText), "drivers too many to name"))
	warn(s.NoLayer != "", WarnNoLayer, map[string]string{"scene": s.NoLayer}, "All view layers of the scene %q are switched off.", s.NoLayer)
	warn(len(s.EmptyImages) > 0, WarnEmptyImages, map[string]any{"count": len(s.EmptyImages), "nodes": first(s.EmptyImages, mostDetail)},
		"Image texture nodes have no image: %s.", listed(s.EmptyImages, emptyImageText))
	running := s.unbaked()
	warn(len(running) > 0, WarnUnbaked, map[string]any{"count": len(running), "simulations": first(running, mostDetail)}, "Simulations are not baked: %s.", listed(running, simulationText))
	renderer, number := farm.Renderer()
	// The version is read back from its text: the scene may come from the store.
	file, ok := versionNumber(s.FileVersion)
	warn(ok && file > number, WarnNewerFile, map[string]string{"file": s.FileVersion, "renderer": renderer},
		"The file was saved by Blender %s; Blender %s renders it.", s.FileVersion, renderer)
	// One worker with a denoiser renders what others refuse.
	undenoised := farm.DenoiseOff > 0 || farm.Workers > 0 && farm.NoDenoiser == farm.Workers
	warn(len(s.Denoising) > 0 && undenoised, WarnDenoiseOff, map[string]any{"denoising": first(s.Denoising, mostDetail), "workers": farm.Workers, "denoise_off": farm.DenoiseOff, "no_denoiser": farm.NoDenoiser},
		"The picture is denoised by the %s; %d of %d workers online do not denoise.", listed(s.Denoising, itself), farm.DenoiseOff+farm.NoDenoiser, farm.Workers)
	colors := farm.colorLacks(s.ColorManagement)
	warn(len(colors) > 0, WarnColors, map[string]any{"count": len(colors), "missing": first(colors, mostDetail), "workers": farm.Workers},
		"The picture's colours need what the renderer's Blender lacks: %s.", listed(colors, lackText))
	unrendered := slices.DeleteFunc(slices.Clone(s.Unrendered), func(s Shot) bool { return !s.in(frames) })
	warn(len(unrendered) > 0, WarnSequencerOff, map[string]any{"count": len(unrendered), "strips": first(unrendered, mostDetail)},
		"Strips of the sequencer show scenes of other engines: %s.", listed(unrendered, shotText))
	warn(s.Multiview, WarnMultiviewOff, nil, "The scene renders several views.")
	warn(s.StampNames, WarnStampOff, nil, "The scene writes the file's or the computer's name into the picture.")
	warn(len(remapped) > 0, WarnRemapped, map[string]any{"count": len(remapped), "files": first(remapped, mostDetail)},
		"The .blend looks elsewhere for files of the project: %s.", listed(remapped, remappedText))
	warn(s.MovieOutput, WarnMovieAsPNG, map[string]string{"format": s.OutputFormat}, "The scene's output is a film (%s).", s.OutputFormat)
	warn(len(s.FileOutputNodes) > 0, WarnFileOutput, map[string][]string{"paths": first(s.FileOutputNodes, mostDetail)},
		"The compositor writes files of its own: %s.", listed(s.FileOutputNodes, itself))
	warn(selected.Skipped > 0, WarnFrameZeroSkipped, map[string]int{"skipped": selected.Skipped}, "The scene begins at frame %d.", s.FrameStart)
	outside := selected.outside(s.Frames())
	warn(len(outside) > 0, WarnFramesOutside, map[string]any{"count": len(outside), "frames": outside.String(), "scene": s.Frames()},
		"The scene's range is %s; you chose %s outside it.", ListText(s.FrameStart, s.FrameEnd, 1, ""), frameText(outside))
	warn(s.DrivenSamples, WarnDrivenSamples, s.samplesDetail(frames), "%s", s.samplesText(frames))
	work := s.PixelSamples(frames)
	warn(work > int64(e)/heavyPart, WarnHeavyScene, map[string]int64{"pixel_samples": work, "limit": int64(e)},
		"A frame has %d million samples of pixels.", work/1e6)
	sortWarnings(out)
	return out
}

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

func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }

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
		return fmt.Sprintf("The samples change by frame; the file stores %d.", s.Samples)
	}
	return fmt.Sprintf("Keyframes change the samples: %d at most in these frames.", s.SamplesIn(frames))
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
