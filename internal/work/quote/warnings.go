package quote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/buildoption"
)

// WarningCode names a difference between the render and what the file expects. Callers
// tell warnings apart by it, so a code never changes its meaning.
//
// To add one: add its constant below, its row in WarningTable where its severity belongs, and
// its cause in warnings_test.go. A fact that no inspection finds yet also needs a member of
// Scene, a line in SceneOf of package intake, and its member and its reading in package
// blendfile. Then run `make generate`, which prints docs/warnings.md.
type WarningCode string

// The codes of warnings. Their texts and their order are in Warnings.
const (
	WarnBuildOption      WarningCode = "build_option_missing"
	WarnMissingFiles     WarningCode = "missing_files"
	WarnUnreadable       WarningCode = "unreadable_files"
	WarnUnreachable      WarningCode = "paths_unreachable"
	WarnFilesPartial     WarningCode = "files_partial"
	WarnNoLayer          WarningCode = "view_layers_off"
	WarnEmptyImages      WarningCode = "empty_image_nodes"
	WarnMissingCache     WarningCode = "missing_cache"
	WarnLinkedLibraries  WarningCode = "linked_libraries"
	WarnSequenceGaps     WarningCode = "sequence_gaps"
	WarnMissingData      WarningCode = "linked_data_missing"
	WarnScriptsDisabled  WarningCode = "scripts_disabled"
	WarnUnbaked          WarningCode = "unbaked_simulation"
	WarnNewerFile        WarningCode = "newer_file_version"
	WarnDenoiseOff       WarningCode = "denoise_off"
	WarnColors           WarningCode = "color_management_missing"
	WarnSequencerOff     WarningCode = "sequencer_off"
	WarnStampOff         WarningCode = "stamp_off"
	WarnRemapped         WarningCode = "paths_remapped"
	WarnFrameZeroSkipped WarningCode = "frame_zero_skipped"
	WarnFramesOutside    WarningCode = "frames_outside_scene"
	WarnMovieAsPNG       WarningCode = "movie_output_as_png"
	WarnFileOutput       WarningCode = "file_outputs_wait"
	WarnTooManyOutputs   WarningCode = "too_many_outputs"
	WarnNotRepeatable    WarningCode = "not_repeatable"
	WarnDrivenSamples    WarningCode = "driven_samples"
	WarnHeavyScene       WarningCode = "heavy_scene"
)

// Severity says what a warning concerns.
type Severity string

// Severities, the worst first.
const (
	SeverityPicture Severity = "picture" // the pictures differ from those of the file's author
	SeverityResult  Severity = "result"  // the pictures are right, but frames or other outputs are not as expected
	SeverityTime    Severity = "time"    // the render takes long
)

// WarningRow is a row of the table of warnings.
type WarningRow struct {
	Code     WarningCode
	Severity Severity
	Meaning  string // what is found in the file
	Instead  string // what is rendered; it follows the finding in each message
	Action   string // what the artist can do
	// find returns a sentence about what is found, with its detail; "" for nothing.
	find func(in *inspected) (detail any, message string)
}

// inspected is what warnings are about: a scene, the farm that will render it and the frames.
type inspected struct {
	Scene
	farm     Farm
	selected Selection
	envelope Envelope
}

// Warnings lists where the render will differ from what the file expects, the worst
// first. It works from the stored scene, so a later quote of the same upload gives the same
// warnings, unless the farm has changed.
func (e Envelope) Warnings(s Scene, farm Farm, selected Selection) []Warning {
	out, in := []Warning{}, &inspected{s, farm, selected, e}
	for _, row := range WarningTable() {
		if detail, message := row.find(in); message != "" {
			out = append(out, row.warning(detail, message))
		}
	}
	return out
}

// when is a finding where a condition holds.
func when(condition bool, detail any, format string, args ...any) (any, string) {
	if !condition {
		return nil, ""
	}
	return detail, fmt.Sprintf(format, args...)
}

// some is a finding where a list is not empty. Its detail is the list, as member.
func some[T any](list []T, member, format string, text func(T) string) (any, string) {
	return when(len(list) > 0, map[string]any{"count": len(list), member: first(list, mostDetail)}, format, listed(list, text))
}

// WarningTable returns all warnings, the worst first. Every text that a caller reads about
// a warning comes from here, and docs/warnings.md is printed from it.
func WarningTable() []WarningRow {
	return slices.Concat(missingWarnings(), pictureWarnings(), otherWarnings())
}

// missingWarnings are of what the picture needs and Blender will not have.
func missingWarnings() []WarningRow {
	return []WarningRow{
		{WarnBuildOption, SeverityPicture, "No online worker has a Blender built with everything this scene needs (Alembic, USD, Open Shading Language, OpenVDB or FFmpeg).",
			"Frames and free previews wait for a worker that has it.",
			"Wait for such a worker, or change the file so that it no longer needs it: import the contents of caches, replace movies by image sequences, build shaders from nodes. Then save the file and upload it again.",
			func(in *inspected) (any, string) {
				lacked := in.neededOf(in.farm.lacks(in.Needs()))
				return when(len(lacked) > 0, map[string]any{"missing": lacked, "workers": in.farm.Workers},
					"No online worker has a Blender with everything this scene needs: %s.", listed(lacked, optionText))
			}},
		{WarnMissingFiles, SeverityPicture, "The upload lacks files that the scene needs.",
			"Missing images render magenta, text in a missing font shows in Blender's own, and other missing files are left out.",
			"Upload the files too, as a project or a .zip. Or pack them into the .blend (File > External Data > Pack Resources), save it and upload it again.",
			func(in *inspected) (any, string) {
				return some(in.missing(), "files", "The upload lacks %s.", fileText)
			}},
		{WarnSequenceGaps, SeverityPicture, "Image sequences or volumes lack the files of frames that were chosen.",
			"A missing picture is magenta, or nothing where the compositor shows it; a missing volume is not seen.",
			"Upload the missing files too, or set start, length and offset of the sequence to what is there; save and upload the project again.",
			func(in *inspected) (any, string) {
				return some(in.gaps(), "sequences", "Sequences lack pictures that these frames show: %s.", gapText)
			}},
		{WarnUnreadable, SeverityPicture, "Blender cannot read some files of the upload: they are Git LFS pointers, empty, incomplete, web pages, or not of the type that their name says.",
			"Unreadable images render magenta, or in part if they are cut off. Text in an unreadable font does not show, and other unreadable files are left out.",
			"Replace each file with the real one (for Git LFS, run git lfs pull), check that Blender shows it, and upload the project again.",
			func(in *inspected) (any, string) {
				return some(in.UnreadableFiles, "files", "Blender cannot read these files: %s.", unreadableText)
			}},
		{WarnLinkedLibraries, SeverityPicture, "The scene links data from other .blend files, which are not in the upload.",
			"The linked data is not rendered.",
			"Upload the libraries too, as a project or a .zip. Or pack them (File > External Data > Pack Linked Libraries) or make the data local, save the file and upload it again.",
			func(in *inspected) (any, string) {
				return some(in.LinkedLibraries, "paths", "The upload lacks linked .blend files: %s.", itself)
			}},
		{WarnMissingData, SeverityPicture, "Data that the picture needs is not in the library from which it is linked: it was renamed or removed there.",
			"What is linked is not rendered.",
			"Give the data its old name in the library, or link it again in the .blend; save and upload the project again.",
			func(in *inspected) (any, string) {
				return some(in.MissingData, "data", "Libraries lack data that is linked from them: %s.", missingDataText)
			}},
		{WarnUnreachable, SeverityPicture, "The .blend looks for files of the project in places that no worker can offer: on a network or in a system folder.",
			"They count as missing: images render magenta, and other files are left out.",
			"Make the paths relative (File > External Data > Make Paths Relative), save and upload the project again.",
			func(in *inspected) (any, string) {
				_, unreachable := in.remapped()
				return some(unreachable, "files", "The .blend looks for files in places that no worker can offer: %s.", remappedText)
			}},
		{WarnFilesPartial, SeverityPicture, "The project refers to more files than are checked.",
			"Files that were not checked may be missing. Missing images render magenta; other missing files are left out.",
			"Upload only the files that the scene needs, or compare one frame before you order all.",
			func(in *inspected) (any, string) {
				return when(in.FilesPartial, nil, "The project refers to more files than were checked.")
			}},
		{WarnMissingCache, SeverityPicture, "A simulation was baked to a folder that is not in the upload.",
			"The simulation does not move, or is invisible.",
			"Upload the folder too. Or bake into the .blend (Physics > Cache, Disk Cache off; for node bakes: Packed), save the file and upload it again.",
			func(in *inspected) (any, string) {
				return some(in.missingCaches(), "files", "The upload lacks the baked caches of simulations: %s.", fileText)
			}},
	}
}

// pictureWarnings are of what else changes the picture.
func pictureWarnings() []WarningRow {
	return []WarningRow{
		{WarnScriptsDisabled, SeverityPicture, "The scene may depend on Python in the file.",
			"Python in the file is never run: a driver that needs it evaluates to 0, and a Freestyle style module draws no lines.",
			"Replace the Python with simple driver expressions, bake its results to keyframes, or use Freestyle line sets. Then save the file and upload it again.",
			func(in *inspected) (any, string) {
				return when(in.UsesAutorunScripts, map[string]any{"count": len(in.AutorunScripts), "scripts": first(in.AutorunScripts, mostDetail)},
					"The scene may depend on Python: %s.", cmp.Or(listed(in.AutorunScripts, scriptText), "more drivers than can be listed"))
			}},
		{WarnNoLayer, SeverityPicture, "All view layers of a scene are disabled for rendering.",
			"Its objects are not rendered, so the frames are empty.",
			"Enable Use for Rendering in a view layer (View Layer Properties), save the file and upload it again.",
			func(in *inspected) (any, string) {
				return when(in.NoLayer != "", map[string]string{"scene": in.NoLayer}, "All view layers of the scene %q are disabled for rendering.", in.NoLayer)
			}},
		{WarnEmptyImages, SeverityPicture, "Some image texture nodes have no image.",
			"They render magenta.",
			"Choose an image in each of these nodes or remove them. Then save the file and upload it again.",
			func(in *inspected) (any, string) {
				return some(in.EmptyImages, "nodes", "These image texture nodes have no image: %s.", emptyImageText)
			}},
		{WarnUnbaked, SeverityPicture, "A simulation is not baked.",
			"Each frame is what `blender -b FILE -a` renders from the scene's first frame on. Without a bake, most simulations do not move there, although they move in Blender's window.",
			"Bake all simulations (Physics > Cache > Bake All Dynamics; fluids and nodes in their own panels), save the file and upload it again.",
			func(in *inspected) (any, string) {
				return some(in.unbaked(), "simulations", "These simulations are not baked: %s.", simulationText)
			}},
		{WarnNewerFile, SeverityPicture, "The file was saved by a newer Blender than the workers use.",
			"Features of the newer version are left out or look different.",
			"Compare one frame before you order all, or save the file with the workers' version.",
			func(in *inspected) (any, string) {
				renderer, number := in.farm.Renderer()
				// The version is read back from its text: the scene may come from the store.
				file, ok := versionNumber(in.FileVersion)
				return when(ok && file > number, map[string]string{"file": in.FileVersion, "renderer": renderer},
					"The file was saved by Blender %s, but is rendered with Blender %s.", in.FileVersion, renderer)
			}},
		{WarnColors, SeverityPicture, "The file uses a display, view transform, look or colour space that the workers' Blender, or the project's OpenColorIO configuration, does not have.",
			"Blender uses its defaults: the first display (sRGB), that display's first view (Standard) and no look. Images in an unknown colour space are not converted; clips and strips are read in their usual one; conversion nodes are muted.",
			"Choose settings that a plain Blender of the workers' version has (Render > Color Management; each image's Color Space). Or send your OpenColorIO configuration with the project (ocio).",
			func(in *inspected) (any, string) {
				colors := in.farm.colorLacks(in.ColorManagement)
				if c := in.ColorManagement; c != nil && c.Config != nil {
					return when(len(colors) > 0, map[string]any{"count": len(colors), "missing": first(colors, mostDetail), "config": c.Config.Path},
						"The OpenColorIO configuration %s lacks colour settings that this scene uses: %s.", c.Config.Path, listed(colors, lackText))
				}
				return when(len(colors) > 0, map[string]any{"count": len(colors), "missing": first(colors, mostDetail), "workers": in.farm.Workers},
					"The workers' Blender lacks colour settings that this scene uses: %s.", listed(colors, lackText))
			}},
		{WarnSequencerOff, SeverityPicture, "Some strips of the sequencer show scenes that do not use Cycles.",
			"These strips are left out, as if muted.",
			"Set the engine of those scenes to Cycles, or render them on your computer and replace the strips by the pictures.",
			func(in *inspected) (any, string) {
				unrendered := slices.DeleteFunc(slices.Clone(in.Unrendered), func(s Shot) bool { return !s.in(in.selected.Frames) })
				return some(unrendered, "strips", "These strips of the sequencer show scenes that do not use Cycles: %s.", shotText)
			}},
		{WarnDenoiseOff, SeverityPicture, "The scene uses denoising, but the workers do not denoise.",
			"Workers with denoising switched off leave the noise in; workers without a denoiser render no frames.",
			"Raise the samples, or denoise the frames yourself.",
			func(in *inspected) (any, string) {
				// One worker with a denoiser renders what others refuse.
				farm := in.farm
				undenoised := farm.DenoiseOff > 0 || farm.Workers > 0 && farm.NoDenoiser == farm.Workers
				return when(len(in.Denoising) > 0 && undenoised, map[string]any{"denoising": first(in.Denoising, mostDetail), "workers": farm.Workers, "denoise_off": farm.DenoiseOff, "no_denoiser": farm.NoDenoiser},
					"Denoising is on in the %s, but %d of %d online workers do not denoise.", listed(in.Denoising, itself), farm.DenoiseOff+farm.NoDenoiser, farm.Workers)
			}},
		{WarnStampOff, SeverityPicture, "The scene writes the file's or the computer's name into the picture.",
			"The stamp omits both names; its other lines stay.",
			"Put the name into the stamp's note.",
			func(in *inspected) (any, string) {
				return when(in.StampNames, nil, "The scene writes the file's or the computer's name into the picture.")
			}},
	}
}

// otherWarnings are of what is delivered, and how long it takes.
func otherWarnings() []WarningRow {
	return []WarningRow{
		{WarnRemapped, SeverityResult, "The .blend refers to files of the project by absolute paths, by paths outside the project, or with a different case.",
			"Workers make these paths work. Absolute paths need a worker with a full sandbox (--sandbox required); on other workers they count as missing.",
			"Nothing has to be done. To be safe on all workers, make the paths relative (File > External Data > Make Paths Relative), save and send the project again.",
			func(in *inspected) (any, string) {
				remapped, _ := in.remapped()
				return some(remapped, "files", "The .blend refers to files by paths that differ from the project's: %s.", remappedText)
			}},
		{WarnFrameZeroSkipped, SeverityResult, "The scene's frame range begins below 1.",
			"Frames below 1 are not rendered and cost nothing.",
			"Move the animation so that it begins at frame 1.",
			func(in *inspected) (any, string) {
				return when(in.selected.Skipped > 0, map[string]int{"skipped": in.selected.Skipped}, "The scene's frame range begins at %d.", in.FrameStart)
			}},
		{WarnFramesOutside, SeverityResult, "Some chosen frames are outside the scene's frame range.",
			"They are rendered at the usual price.",
			"Check the frame numbers. If the animation is longer than the range, extend the range.",
			func(in *inspected) (any, string) {
				outside := in.selected.outside(in.Frames())
				return when(len(outside) > 0, map[string]any{"count": len(outside), "frames": outside.String(), "scene": in.Frames()},
					"The scene's frame range is %s; you chose %s outside it.", ListText(in.FrameStart, in.FrameEnd, 1, ""), frameText(outside))
			}},
		{WarnMovieAsPNG, SeverityResult, "The scene's output is a movie file.",
			"The frames are delivered as PNG pictures, and a movie with the scene's codec and sound can be made of them.",
			"Download the movie once the job is completed.",
			func(in *inspected) (any, string) {
				return when(in.MovieOutput, map[string]string{"format": in.OutputFormat}, "The scene's output is a movie file (%s).", in.OutputFormat)
			}},
		{WarnTooManyOutputs, SeverityResult, "The scene writes more files besides the pictures than a frame or a job may have.",
			"The job fails at its first frame, and costs nothing.",
			"Mute or unlink slots of File Output nodes that you do not need, write several passes into one multilayer OpenEXR, or order fewer frames at once.",
			func(in *inspected) (any, string) {
				each, frames := in.OutputsPerFrame, in.selected.count()
				most := cmp.Or(in.farm.FrameOutputs, contract.FrameOutputs)
				detail := map[string]int{"outputs_per_frame": each, "most_per_frame": most, "most_per_job": contract.JobOutputs}
				if each > most {
					return detail, fmt.Sprintf("The scene writes %d files for each frame besides its picture; a frame may have %d.", each, most)
				}
				return when(each*frames > contract.JobOutputs, detail, "The scene writes %d files for each of %d frames besides the pictures; a job may have %d.", each, frames, contract.JobOutputs)
			}},
		{WarnFileOutput, SeverityResult, "The scene writes more than one file for a frame (File Output nodes, several views, or JPEG previews of OpenEXR), and no online worker delivers all of them.",
			"Frames wait for a worker that does.",
			"Wait for such a worker. Or mute the nodes and switch views and previews off, save the file and upload it again.",
			func(in *inspected) (any, string) {
				lacked := in.farm.lacks(in.Needs()) & buildoption.Of(buildoption.FileOutputs, buildoption.Views)
				return when(lacked != 0, map[string][]string{"paths": first(in.FileOutputNodes, mostDetail)},
					"No online worker has everything that this scene writes for a frame: %s.", buildoption.List(lacked.Options()))
			}},
		{WarnNotRepeatable, SeverityResult, "The world has a volume, which Blender 4.3 was seen to render with other noise each time.",
			"The frames are right, but a second render can have other noise, and none is made to confirm them.",
			"Nothing has to be done. Put the volume into a large cube instead of the world if frames have to repeat.",
			func(in *inspected) (any, string) {
				renderer, number := in.farm.Renderer()
				return when(!in.repeatsIn(number), map[string]string{"renderer": renderer},
					"The world has a volume, which Blender %s may render with other noise each time.", renderer)
			}},
		{WarnDrivenSamples, SeverityTime, "The samples are animated or driven.",
			"Each frame uses the samples that Blender computes for it.",
			"Check the samples of the slowest frame.",
			func(in *inspected) (any, string) {
				return when(in.DrivenSamples, in.samplesDetail(in.selected.Frames), "%s", in.samplesText(in.selected.Frames))
			}},
		{WarnHeavyScene, SeverityTime, "Each frame takes a long time to render.",
			"The frames are rendered with these settings.",
			"Check the resolution and the samples.",
			func(in *inspected) (any, string) {
				work := in.PixelSamples(in.selected.Frames)
				return when(work > int64(in.envelope)/heavyPart, map[string]int64{"pixel_samples": work, "limit": int64(in.envelope)},
					"A frame has %d million pixel samples (pixels times samples).", work/1e6)
			}},
	}
}

// Warning describes a difference between the render and what the file expects. It
// never refuses a render.
type Warning struct {
	Code            WarningCode `json:"code" doc:"Stable machine-readable code; see the table of warnings."`
	Severity        Severity    `json:"severity,omitempty" enum:"picture,result,time" doc:"What the warning affects. Warnings are sorted by severity, worst first."`
	Message         string      `json:"message" doc:"What was found, and what is rendered instead."`
	SuggestedAction string      `json:"suggested_action,omitempty" doc:"What the artist can do."`
	Detail          any         `json:"detail,omitempty"`
}

// IsWarning reports whether a code is one of the table: free previews also have
// findings of their own.
func IsWarning(code WarningCode) bool {
	_, ok := RowOf(code)
	return ok
}

// RowOf finds the row of a code; ok is false where the table has none.
func RowOf(code WarningCode) (row WarningRow, ok bool) {
	table := WarningTable()
	at := slices.IndexFunc(table, func(r WarningRow) bool { return r.Code == code })
	if at < 0 {
		return row, false
	}
	return table[at], true
}

// Warn makes a warning of what was found in a file, in a sentence. The texts of the
// table follow.
func Warn(code WarningCode, detail any, format string, args ...any) Warning {
	message := fmt.Sprintf(format, args...)
	if row, ok := RowOf(code); ok {
		return row.warning(detail, message)
	}
	return Warning{Code: code, Message: message, Detail: detail}
}

func (r WarningRow) warning(detail any, message string) Warning {
	return Warning{Code: r.Code, Severity: r.Severity, Message: message + " " + r.Instead, SuggestedAction: r.Action, Detail: detail}
}

// WarningsMarkdown prints the table of warnings.
func WarningsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Warnings\n\nPrinted from `internal/work/quote` by `make generate`; do not edit.\n\n" +
		"If a price comes with a warning, look it up here. Inspect and each quote carry `warnings: [{code, severity, message, suggested_action, detail}]`, sorted as here, the worst first. " +
		"A warning tells you how the frames will differ from your own render before you accept the price. It never blocks a render, although the frames of `build_option_missing` wait. " +
		"`message` says what was found and what is rendered instead.\n\n" +
		"`severity` is `picture` when the pictures differ from those on the artist's computer, `result` when the pictures are right but frames or other outputs are not as expected, `time` when the render takes long.\n\n" +
		"| code | severity | found | rendered instead | what to do |\n|---|---|---|---|---|\n")
	for _, r := range WarningTable() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Code, r.Severity, r.Meaning, r.Instead, r.Action)
	}
	b.WriteString("\nHow true they are was [measured](internal/blendfile.md#how-true-the-warnings-are).\n")
	return b.String()
}
