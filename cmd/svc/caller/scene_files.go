package caller

import (
	"fmt"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/render/scenefiles"
)

// fileNouns are what an artist calls the kinds of files, in the order of the summary, one
// and several.
var fileNouns = []struct {
	kind     scenefiles.Kind
	one, all string
}{
	{scenefiles.KindImage, "image", "images"},
	{scenefiles.KindSequence, "image sequence", "image sequences"},
	{scenefiles.KindTiles, "UDIM set", "UDIM sets"},
	{scenefiles.KindMovie, "movie", "movies"},
	{scenefiles.KindLibrary, "library", "libraries"},
	{scenefiles.KindVolume, "volume", "volumes"},
	{scenefiles.KindFont, "font", "fonts"},
	{scenefiles.KindLight, "IES light", "IES lights"},
	{scenefiles.KindScript, "shader script", "shader scripts"},
	{scenefiles.KindCache, "cache", "caches"},
	{scenefiles.KindSimulation, "cache folder", "cache folders"},
	{scenefiles.KindSound, "sound", "sounds"},
	{scenefiles.KindColours, "OpenColorIO configuration", "OpenColorIO configurations"},
	{scenefiles.KindLUT, "LUT", "LUTs"},
}

// noun names a number of files of a kind.
func noun(kind scenefiles.Kind, n int) string {
	for _, f := range fileNouns {
		if f.kind == kind && n == 1 {
			return f.one
		} else if f.kind == kind {
			return f.all
		}
	}
	return string(kind)
}

// filesSummary says in one line which files go with the scene, such as "12 images, 2
// libraries, 1 cache folder of 340.0 MiB; 1 missing".
func filesSummary(found *scenefiles.Found) string {
	counts, bytes, gone := map[scenefiles.Kind]int{}, map[scenefiles.Kind]int64{}, 0
	known := map[string]bool{}
	for _, f := range found.Files {
		if f.Reach == scenefiles.ReachNeeded {
			gone += len(f.Lacking)
		}
		key := string(f.Kind) + f.Path
		if known[key] || !f.Gone() && (!f.There() || f.Reach == scenefiles.ReachUnneeded) {
			continue
		}
		known[key] = true
		if f.Gone() {
			gone++
			continue
		}
		counts[f.Kind]++
		bytes[f.Kind] += f.Bytes()
	}
	var parts []string
	for _, f := range fileNouns {
		if n := counts[f.kind]; n > 0 {
			text := fmt.Sprintf("%d %s", n, noun(f.kind, n))
			if f.kind == scenefiles.KindSimulation {
				text += " of " + terminal.InBytes.Text(bytes[f.kind])
			}
			parts = append(parts, text)
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "none besides the .blend"
	}
	if gone > 0 {
		text += fmt.Sprintf("; %d missing", gone)
	}
	return text
}

// printFiles names the files that are missing, and those that are not where Blender looks.
func printFiles(row func(name, format string, args ...any), found *scenefiles.Found) {
	row("files", "%s", filesSummary(found))
	for _, f := range found.Files {
		what := fmt.Sprintf("%s %s", noun(f.Kind, 1), f.Stored)
		user := ", used by " + f.Owner
		if f.UsedBy != "" {
			user += ", of " + f.UsedBy
		}
		if f.From != found.Main {
			user += ", in " + f.From
		}
		switch {
		case f.Gone() && f.Status == scenefiles.StatusOutside:
			row("missing", "%s%s; it lies outside of the project's folder: choose another with --project-root", what, user)
		case f.Gone():
			row("missing", "%s%s", what, user)
		case f.Reach == scenefiles.ReachUnneeded:
		case f.Status == scenefiles.StatusRemapped:
			row("found as", "%s for %s%s", f.Path, what, user)
		case len(f.Lacking) > 0 && f.Reach == scenefiles.ReachNeeded:
			row("missing", "%d of %d files of %s%s; the first is %s", len(f.Lacking), len(f.Lacking)+len(f.Names), what, user, f.Lacking[0])
		}
	}
	printUnread(row, found)
}

// printUnread names what was not read of the scene's files.
func printUnread(row func(name, format string, args ...any), found *scenefiles.Found) {
	for _, f := range found.Files {
		if f.Problem != "" {
			row("unread", "%s %s: %s", noun(f.Kind, 1), f.Stored, f.Problem)
		}
	}
	if found.Partial {
		row("partial", "files: the scene has more than are listed")
	}
}
