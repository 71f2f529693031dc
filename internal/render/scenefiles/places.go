package scenefiles

import (
	"path"
	"strings"

	"svc.example/internal/render/scenefiles/alias"
)

// A place is where a path leads, lexically: relative to the tree without a leading slash
// ("tex/a.png"; "../a.png" lies above it), or absolute ("/a", "C:/a", `\\server/a`). It is
// clean: no ".." but at the beginning.

// placeOf is where a stored path leads, counted from the folder of the .blend that holds it.
// relative is false for a path that Blender counts from its working directory.
func placeOf(stored, folder string) (at string, relative bool) {
	network := strings.HasPrefix(stored, `\\`)
	p := strings.ReplaceAll(stored, `\`, "/")
	switch {
	case network:
		return `\\` + strings.TrimPrefix(path.Clean(p), "/"), true
	case strings.HasPrefix(p, "//"):
		return under(folder, p), true
	case isAbsolute(p):
		return under(p, ""), true
	}
	return p, false
}

// under is where a path leads from a place.
func under(place, p string) string {
	drive := ""
	switch {
	case alias.HasDrive(place):
		drive, place = place[:2], "/"+place[2:]
	case strings.HasPrefix(place, `\\`):
		drive, place = `\\`, "/"+place[2:]
	}
	joined := path.Join(place, strings.TrimLeft(p, "/"))
	if drive == `\\` {
		joined = strings.TrimPrefix(joined, "/")
	}
	if joined == "" {
		joined = "."
	}
	return drive + joined
}

// isAbsolute reports whether a place, or a path with forward slashes, is absolute.
func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\\`) || alias.HasDrive(p)
}

// isAbove reports whether a place is above the tree.
func isAbove(p string) bool { return p == ".." || strings.HasPrefix(p, "../") }

// isInside reports whether a place is in the tree.
func isInside(p string) bool { return !isAbsolute(p) && !isAbove(p) }

// folderOf is the folder of a place.
func folderOf(place string) string {
	if !isAbsolute(place) {
		return path.Dir(place)
	}
	return under(place, "..")
}

// parts are the names of a place, without a drive.
func parts(place string) []string {
	place = strings.TrimLeft(strings.TrimPrefix(place, `\\`), "/")
	if alias.HasDrive(place) {
		place = strings.TrimLeft(place[2:], "/")
	}
	if place == "" || place == "." {
		return nil
	}
	return strings.Split(place, "/")
}

// below is what is left of an absolute place below an absolute folder. Names of Windows
// drives are compared without case, as Windows does.
func below(place, folder string) (rest string, ok bool) {
	prefix := strings.TrimSuffix(folder, "/") + "/"
	if len(place) <= len(prefix) {
		return "", false
	}
	head := place[:len(prefix)]
	if head == prefix || !strings.HasPrefix(folder, "/") && strings.EqualFold(head, prefix) {
		return place[len(prefix):], true
	}
	return "", false
}

// movedFolder says to which folder of the tree an old folder corresponds, by one file that
// has an old place and a new one: equal folders at the end of both are taken off.
func movedFolder(oldFile, newFile string) (from, to string) {
	from, to = folderOf(oldFile), folderOf(newFile)
	for len(parts(from)) > 1 && to != "." && isInside(to) && fold(path.Base(from)) == fold(path.Base(to)) {
		from, to = folderOf(from), folderOf(to)
	}
	return from, to
}
