package quote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// WarningCode names a difference between the render and what the file expects. Callers
// tell warnings apart by it, so a code never changes its meaning.
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
	WarnScriptsDisabled  WarningCode = "scripts_disabled"
	WarnUnbaked          WarningCode = "unbaked_simulation"
	WarnNewerFile        WarningCode = "newer_file_version"
	WarnDenoiseOff       WarningCode = "denoise_off"
	WarnColors           WarningCode = "color_management_missing"
	WarnSequencerOff     WarningCode = "sequencer_off"
	WarnMultiviewOff     WarningCode = "multiview_off"
	WarnStampOff         WarningCode = "stamp_off"
	WarnRemapped         WarningCode = "paths_remapped"
	WarnFrameZeroSkipped WarningCode = "frame_zero_skipped"
	WarnFramesOutside    WarningCode = "frames_outside_scene"
	WarnMovieAsPNG       WarningCode = "movie_output_as_png"
	WarnFileOutput       WarningCode = "file_output_disabled"
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
}

// WarningTable returns all warnings, the worst first. Every text that a caller reads about
// a warning comes from here, and docs/warnings.md is printed from it.
func WarningTable() []WarningRow {
	return []WarningRow{
		{WarnBuildOption, SeverityPicture, "The picture needs what the Blender of no worker that is online was built with: Alembic, USD, Open Shading Language, OpenVDB or FFmpeg.",
			"The frames wait for a worker that has it, and so does a free preview.",
			"Wait for such a worker; or make the file do without: import what a cache holds, write a film out as pictures, build a shader of nodes; save the file and send it again."},
		{WarnMissingFiles, SeverityPicture, "Files that the picture needs are not in the upload.",
			"A missing image is magenta; of other missing files nothing is rendered.",
			"Send the files along, as a project or in a .zip, or pack them into the .blend (File > External Data > Pack Resources), save it and send it again."},
		{WarnUnreadable, SeverityPicture, "Files that the scene names are in the upload, but Blender cannot read them: Git LFS pointers, empty files, web pages, or files of another kind than they are named for.",
			"An unreadable image is magenta; of other unreadable files nothing is rendered.",
			"Replace each file by the real one (of Git LFS: run git lfs pull), check that Blender shows it, and send the project again."},
		{WarnLinkedLibraries, SeverityPicture, "Data that the picture needs is linked from other .blend files, which are not in the upload.",
			"What is linked from them is not rendered.",
			"Send the libraries along, as a project or in a .zip, or pack them (File > External Data > Pack Linked Libraries) or make the data local, save the file and send it again."},
		{WarnUnreachable, SeverityPicture, "Files of the project are not where the .blend looks for them, and no worker can put them there: it looks on a network, or in a folder of the system.",
			"They count as missing: a missing image is magenta; of other missing files nothing is rendered.",
			"Make the paths relative (File > External Data > Make Paths Relative), save and send the project again."},
		{WarnFilesPartial, SeverityPicture, "The project names more files than the search goes through.",
			"Files that were not looked for may be missing; a missing image is magenta, of other missing files nothing is rendered.",
			"Send only the files that the scene needs, or compare one frame before ordering all."},
		{WarnMissingCache, SeverityPicture, "A simulation was baked to a folder that is not in the upload.",
			"The simulation stands still, or is not seen.",
			"Send the folder along, or bake into the .blend (Physics > Cache, Disk Cache off; for node bakes: Packed), save the file and send it again."},
		{WarnScriptsDisabled, SeverityPicture, "The picture can depend on Python in the file.",
			"No Python of the file is run: a driver that needs it gives 0, and a Freestyle style module draws no lines.",
			"Replace the Python by expressions that Blender computes without it, bake what it sets to keyframes, or draw the lines by Freestyle's line sets; save the file and send it again."},
		{WarnNoLayer, SeverityPicture, "All view layers of a scene are switched off.",
			"Its objects are not rendered, and the frames are empty.",
			"Switch Use for Rendering on in a view layer (View Layer Properties), save the file and send it again."},
		{WarnEmptyImages, SeverityPicture, "Image texture nodes that the picture needs have no image.",
			"Each of them gives magenta.",
			"Choose an image in each of these nodes, or remove them; save the file and send it again."},
		{WarnUnbaked, SeverityPicture, "A simulation is not baked.",
			"Each frame is what `blender -b FILE -a` writes from the scene's first frame on; without a bake Blender leaves most simulations standing there, though they move in its window.",
			"Bake all simulations (Physics > Cache > Bake All Dynamics; fluids and nodes in their own panels), save the file and send it again."},
		{WarnNewerFile, SeverityPicture, "The file was saved by a newer Blender than the one that renders.",
			"What is new in that Blender is not rendered, or is rendered in another way.",
			"Compare one frame before ordering all, or save the file in the renderer's version."},
		{WarnColors, SeverityPicture, "The file asks for a display, view transform, look or colour space that the renderer's Blender does not have.",
			"Blender takes its default: the sRGB display, the display's first view (Standard), no look; an image in an unknown colour space is not converted, a clip or a strip is read as its files usually are, and a node that converts from or to one is muted.",
			"Choose what a plain Blender of the renderer's version has (Render > Color Management; each image's Color Space), or render to OpenEXR and apply your own configuration to the frames."},
		{WarnSequencerOff, SeverityPicture, "Strips of the sequencer show scenes that another engine than Cycles renders.",
			"These strips are left out, as if they were muted.",
			"Render those scenes on your computer and put the pictures in place of the strips, or set their engine to Cycles."},
		{WarnDenoiseOff, SeverityPicture, "The scene asks for denoising, which workers do not do.",
			"A worker that is told not to denoise leaves the noise; one that has no denoiser renders no frame.",
			"Raise the samples, or denoise the frames yourself."},
		{WarnMultiviewOff, SeverityPicture, "The scene renders several views, such as a left and a right eye.",
			"One picture is rendered for each frame, from the scene's camera.",
			"Render each eye as a scene of its own."},
		{WarnStampOff, SeverityPicture, "The scene writes the file's or the computer's name into the picture.",
			"The stamp leaves out both names; its other lines stay.",
			"Put the name into the stamp's note."},
		{WarnRemapped, SeverityResult, "Files of the project are not where the .blend looks for them: it has an absolute path, one that leads out of the project, or one that differs by case.",
			"Workers put them there too. At absolute paths only workers with a whole sandbox do (--sandbox required); on others these count as missing.",
			"Nothing has to be done. To be safe on all workers, make the paths relative (File > External Data > Make Paths Relative), save and send the project again."},
		{WarnFrameZeroSkipped, SeverityResult, "The scene's range begins below frame 1.",
			"Frames below 1 are not rendered and cost nothing.",
			"Move the animation so that it begins at frame 1."},
		{WarnFramesOutside, SeverityResult, "Frames were chosen that the scene's range does not reach.",
			"They are rendered and cost the same as any other frame.",
			"Check the frame numbers, or extend the scene's range if the animation goes beyond it."},
		{WarnMovieAsPNG, SeverityResult, "The scene's output is a film.",
			"The frames are delivered as PNG pictures, without sound.",
			"Make the film of the delivered frames."},
		{WarnFileOutput, SeverityResult, "The compositor writes files of its own through File Output nodes.",
			"Those files are not written; the picture is.",
			"Write what you need as passes into a multi-layer EXR."},
		{WarnDrivenSamples, SeverityTime, "A driver or keyframes change the samples from frame to frame.",
			"Each frame is rendered with the samples that Blender computes for it.",
			"Check the samples of the heaviest frame."},
		{WarnHeavyScene, SeverityTime, "Each frame is a lot of work.",
			"The frames are rendered as they are, which takes long.",
			"Check resolution and samples."},
	}
}

// Warning describes a difference between the render and what the file expects. It
// never refuses a render.
type Warning struct {
	Code            WarningCode `json:"code" doc:"Stable machine-readable code; see the table of warnings."`
	Severity        Severity    `json:"severity,omitempty" enum:"picture,result,time" doc:"What it concerns. Warnings are sorted by it, worst first."`
	Message         string      `json:"message" doc:"What is found, and what is rendered instead."`
	SuggestedAction string      `json:"suggested_action,omitempty" doc:"What the artist can do."`
	Detail          any         `json:"detail,omitempty"`
}

// IsWarning reports whether a code is one of the table: free previews have findings of
// their own beside these.
func IsWarning(code WarningCode) bool {
	return slices.ContainsFunc(WarningTable(), func(r WarningRow) bool { return r.Code == code })
}

// Warn makes a warning of what was found in a file, in a sentence. The texts of the
// table follow.
func Warn(code WarningCode, detail any, format string, args ...any) Warning {
	w := Warning{Code: code, Message: fmt.Sprintf(format, args...), Detail: detail}
	if row, _, ok := lookup(code); ok {
		w.Severity, w.SuggestedAction = row.Severity, row.Action
		w.Message += " " + row.Instead
	}
	return w
}

// lookup finds the row of a code and its place in the table.
func lookup(code WarningCode) (WarningRow, int, bool) {
	table := WarningTable()
	at := slices.IndexFunc(table, func(r WarningRow) bool { return r.Code == code })
	if at < 0 {
		return WarningRow{}, len(table), false
	}
	return table[at], at, true
}

// sortWarnings puts the worst first, in the order of the table.
func sortWarnings(warnings []Warning) {
	slices.SortStableFunc(warnings, func(a, b Warning) int {
		_, first, _ := lookup(a.Code)
		_, second, _ := lookup(b.Code)
		return cmp.Compare(first, second)
	})
}

// WarningsMarkdown prints the table of warnings.
func WarningsMarkdown() string {
	var b strings.Builder
	b.WriteString("# Warnings\n\nPrinted from `internal/work/quote` by `make generate`; do not edit.\n\n" +
		"Inspect and each quote carry `warnings: [{code, severity, message, suggested_action, detail}]`, sorted as here, the worst first. " +
		"A warning says before the price is accepted how the frames will differ from what the file expects; it never refuses a render, though the frames of `build_option_missing` wait. " +
		"`message` names what was found and says what is rendered instead.\n\n" +
		"`severity` is `picture` when the pictures differ from those on the artist's computer, `result` when the pictures are right but frames or other outputs are not as expected, `time` when the render takes long.\n\n" +
		"| code | severity | found | rendered instead | what to do |\n|---|---|---|---|---|\n")
	for _, r := range WarningTable() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", r.Code, r.Severity, r.Meaning, r.Instead, r.Action)
	}
	b.WriteString("\nHow true they are was [measured](blendfile.md#how-true-the-warnings-are).\n")
	return b.String()
}
