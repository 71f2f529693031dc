package framename

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const (
	mostFolders = 8  // of a file, the innermost ones
	mostFolder  = 60 // bytes of a folder's name
)

// Path makes the path of a file safe that a scene writes besides its picture: relative, with "/"
// between folders, at most MaxBytes long, and a name on every operating system. Both slashes
// separate folders; "..", "." and empty parts are left out. A safe path stays as it is.
func Path(raw string) string {
	parts := strings.FieldsFunc(raw, func(r rune) bool { return r == '/' || r == '\\' })
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "." || part == ".." })
	if len(parts) == 0 {
		return "_"
	}
	folders, name := parts[:len(parts)-1], parts[len(parts)-1]
	ext := cleaned(path.Ext(name))
	if len(ext) > mostExtension {
		ext = ""
	}
	safe := part(fitted(cleaned(strings.TrimSuffix(name, ext)), MaxBytes/2-len(ext)-1) + ext)
	for i := len(folders) - 1; i >= max(0, len(folders)-mostFolders); i-- {
		longer := part(fitted(cleaned(folders[i]), mostFolder-1)) + "/" + safe
		if len(longer) > MaxBytes {
			break
		}
		safe = longer
	}
	return safe
}

// part makes a cleaned name one that no system takes for something else.
func part(name string) string {
	if name == "" {
		return "_"
	}
	if strings.ContainsAny(name[:1], ".- ") { // hidden, or taken for an option
		name = "_" + name[1:]
	}
	if last := len(name) - 1; strings.ContainsAny(name[last:], ". ") { // Windows drops it
		name = name[:last] + "_"
	}
	stem, _, _ := strings.Cut(name, ".")
	if reserved(stem) {
		name = "_" + name
	}
	return name
}

// Names gives files names that do not collide, also where capitals do not count, or whether an
// accent is a character of its own. The zero value is ready.
type Names struct{ files, folders map[string]bool }

// Take returns the safe path of a file, with a number where another file has it.
func (n *Names) Take(raw string) string {
	if n.files == nil {
		n.files, n.folders = map[string]bool{}, map[string]bool{}
	}
	name := Path(raw)
	if slices.ContainsFunc(foldersOf(name), func(folder string) bool { return n.files[folder] }) {
		name = Path(strings.ReplaceAll(name, "/", "_"))
	}
	free := name
	for i := 2; n.files[folded(free)] || n.folders[folded(free)]; i++ {
		free = Numbered(name, i)
	}
	n.files[folded(free)] = true
	for _, folder := range foldersOf(free) {
		n.folders[folder] = true
	}
	return free
}

// folded is the same for names that some file system takes for one.
func folded(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(name)))
}

// foldersOf are the folders that a file lies in, folded.
func foldersOf(name string) (all []string) {
	for dir := path.Dir(folded(name)); dir != "."; dir = path.Dir(dir) {
		all = append(all, dir)
	}
	return all
}

// Numbered is a safe path with a number before its extension. A long name loses its end.
func Numbered(name string, number int) string {
	ext := path.Ext(name)
	return Path(path.Join(path.Dir(name), fitted(strings.TrimSuffix(path.Base(name), ext), MaxBytes/2-2*mostExtension-1)+"_"+strconv.Itoa(number)+ext))
}
