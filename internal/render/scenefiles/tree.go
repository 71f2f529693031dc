package scenefiles

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// tree reads the names of a tree of files, each folder once, within a bound on their number.
// Names are compared as they are listed, so a file system that ignores case, such as those
// of Windows and macOS, does not hide that Blender on Linux finds another name missing.
type tree struct {
	files   fs.FS
	folders map[string]*folder
	left    int // names that may still be listed
	steps   int // names that may still be looked at; at less than 0 the search has to end
	partial bool
}

// folder is the listed names of a folder; nil entries in tree.folders are folders that are
// not there, or have too many names.
type folder struct {
	entries []entry // sorted by name
	folded  map[string][]int
}

type entry struct {
	name string
	mode fs.FileMode // type bits
}

// Bounds of a listing.
const (
	listedAtOnce = 1024
	maxDepth     = 64 // of paths, and of folders in a cache
	statCost     = 20 // steps of asking the system about a file
)

// errEscapes says that a link in the tree leads out of it, or in circles.
var errEscapes = errors.New("a link leads out of the folder")

// fold is the form of a name in which names that differ only by case, or by how letters
// with marks are composed, are equal.
func fold(name string) string { return strings.ToLower(norm.NFC.String(name)) }

// list is the names of a folder; nil when it is none or has too many.
func (t *tree) list(at string) *folder {
	if l, known := t.folders[at]; known {
		return l
	}
	l := t.read(at)
	t.folders[at] = l
	return l
}

func (t *tree) read(at string) *folder {
	entries, err := readNames(t.files, at, t.left)
	if err != nil {
		t.partial = t.partial || errors.Is(err, errTooMany)
		return nil
	}
	t.left -= len(entries)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return &folder{entries: entries}
}

var errTooMany = errors.New("too many names")

// readNames lists at most so many names of a folder.
func readNames(files fs.FS, at string, most int) ([]entry, error) {
	info, err := fs.Stat(files, at)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() { // to open a pipe would wait for its other end
		return nil, fs.ErrNotExist
	}
	f, err := files.Open(at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, fs.ErrInvalid
	}
	var all []entry
	for {
		some, err := dir.ReadDir(listedAtOnce)
		for _, e := range some {
			all = append(all, entry{e.Name(), e.Type()})
		}
		switch {
		case len(all) > most:
			return nil, errTooMany
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}

// exact is the entry of a name; ok is false when there is none.
func (l *folder) exact(name string) (e entry, ok bool) {
	i, ok := slices.BinarySearchFunc(l.entries, name, func(e entry, n string) int { return strings.Compare(e.name, n) })
	if !ok {
		return entry{}, false
	}
	return l.entries[i], true
}

// alike are the entries whose names differ from a name by case or composition only, the name
// itself included.
func (l *folder) alike(name string) (all []entry) {
	if l.folded == nil {
		l.folded = map[string][]int{}
		for i, e := range l.entries {
			key := fold(e.name)
			l.folded[key] = append(l.folded[key], i)
		}
	}
	for _, i := range l.folded[fold(name)] {
		all = append(all, l.entries[i])
	}
	return all
}

// beginning yields the entries whose names begin with a text.
func (t *tree) beginning(l *folder, head string) []entry {
	first, _ := slices.BinarySearchFunc(l.entries, head, func(e entry, h string) int { return strings.Compare(e.name, h) })
	last := first
	for last < len(l.entries) && strings.HasPrefix(l.entries[last].name, head) {
		last++
	}
	if t.steps -= last - first + 1; t.steps < 0 {
		t.partial = true
		return nil
	}
	return l.entries[first:last]
}

// find is the path of a place that is in the tree, as it is written there. Where loose is
// set, one that differs by case will do when it is the only one. The error is errEscapes or
// nil; found is "" when there is none.
func (t *tree) find(place string, loose bool) (found string, err error) {
	if !isInside(place) || !fs.ValidPath(place) {
		return "", nil
	}
	names := parts(place)
	if len(names) > maxDepth {
		return "", nil
	}
	w := walk{tree: t, loose: loose}
	w.into(".", names)
	switch {
	case len(w.found) == 1:
		return w.found[0], nil
	case len(w.found) == 0 && w.escapes:
		return "", errEscapes
	}
	return "", nil
}

// walk looks for a path name by name.
type walk struct {
	*tree
	loose   bool
	found   []string // at most two
	escapes bool
}

func (w *walk) into(at string, names []string) {
	if len(names) == 0 {
		w.found = append(w.found, at)
		return
	}
	l := w.list(at)
	if l == nil {
		// Too many names, or no folder: only the system can say.
		if full := path.Join(at, path.Join(names...)); w.stat(full) != nil {
			w.found = append(w.found, full)
		}
		return
	}
	var next []entry
	if e, ok := l.exact(names[0]); !w.loose && ok {
		next = []entry{e}
	} else if w.loose {
		next = l.alike(names[0])
	}
	for _, e := range next {
		if w.steps--; len(w.found) > 1 || w.steps < 0 {
			return
		}
		full := path.Join(at, e.name)
		if e.mode&fs.ModeSymlink != 0 && w.stat(full) == nil {
			continue
		}
		w.into(full, names[1:])
	}
}

// stat is what is at a path, after following all links; nil if there is
// nothing.
func (w *walk) stat(at string) fs.FileInfo {
	info, err := fs.Stat(w.files, at)
	if err != nil {
		w.escapes = w.escapes || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && w.isLink(at)
		return nil
	}
	return info
}

// isLink reports whether one of the names of a path is a link.
func (w *walk) isLink(at string) bool {
	for ; at != "."; at = path.Dir(at) {
		if l := w.folders[path.Dir(at)]; l != nil {
			if e, ok := l.exact(path.Base(at)); ok && e.mode&fs.ModeSymlink != 0 {
				return true
			}
		}
	}
	return false
}

// file is the name and the size of a regular file; ok is false where there is none.
func (t *tree) file(at string) (n Name, ok bool) {
	t.steps -= statCost
	info, err := fs.Stat(t.files, at)
	if err != nil || !info.Mode().IsRegular() {
		return Name{}, false
	}
	return Name{at, info.Size()}, true
}

// allFolders lists the folders of the tree; ok is false when it has more names than the
// bound. Hidden folders and links are left out.
func (t *tree) allFolders(most int) (all []string, ok bool) {
	open := []string{"."}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		entries, err := readNames(t.files, at, most)
		if errors.Is(err, errTooMany) {
			return nil, false
		}
		most -= len(entries)
		for _, e := range entries {
			if e.mode.IsDir() && !strings.HasPrefix(e.name, ".") && strings.Count(at, "/") < maxDepth {
				full := path.Join(at, e.name)
				all, open = append(all, full), append(open, full)
			}
		}
	}
	slices.Sort(all)
	return all, true
}
