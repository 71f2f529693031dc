package scenefiles

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/sequence"
)

// set finds the files that a path stands for, at a place in the tree. If loose is set,
// names may differ by case.
type set func(place string, loose bool) (in, error)

// in is what a set found. It has names, or there is nothing.
type in struct {
	path    string // of the set, as the tree has it
	names   []Name
	as      []string // where Blender looks for each of names, from the folder of the place
	lacking []string
	numbers []int // of names, where they are numbered
}

// setOf is the set that a reference stands for.
func (s *search) setOf(r *blendfile.Reference) set {
	switch {
	case r.Bake != nil:
		return func(place string, loose bool) (in, error) {
			found, err := s.baked(place, loose, r.Bake)
			found.as = asBakes(place, found)
			return found, err
		}
	case r.Kind == blendfile.KindImageTiles:
		return func(place string, loose bool) (in, error) {
			head, name := path.Split(place)
			pattern := tilePattern(name)
			var names []string
			for _, n := range r.Tiles {
				names = append(names, tileName(pattern, n))
			}
			found, err := s.named(path.Clean(head), names, loose)
			found.path = path.Join(found.path, pattern)
			return found, err
		}
	case len(r.Names) > 0:
		return func(place string, loose bool) (in, error) {
			found, err := s.named(path.Dir(place), r.Names, loose)
			found.path = path.Join(found.path, path.Base(place))
			return found, err
		}
	case r.Kind == blendfile.KindImageSequence:
		return func(place string, loose bool) (in, error) { return s.numbered(place, loose, false) }
	case r.Numbered:
		return func(place string, loose bool) (in, error) { return s.numbered(place, loose, true) }
	}
	return s.single
}

// single is one file.
func (s *search) single(place string, loose bool) (in, error) {
	found, err := s.tree.find(place, loose)
	if found == "" {
		return in{}, err
	}
	n, ok := s.tree.file(found)
	if !ok {
		return in{}, nil
	}
	return in{path: found, names: []Name{n}, as: []string{path.Base(place)}}, nil
}

// named are files of one folder by their names.
func (s *search) named(folder string, names []string, loose bool) (in, error) {
	dir, err := s.tree.find(folder, loose)
	if dir == "" {
		return in{}, err
	}
	found := in{path: dir}
	for _, name := range names {
		if s.full() {
			break
		}
		one, escapes := s.single(path.Join(dir, name), loose)
		if escapes != nil {
			err = escapes
		}
		if len(one.names) == 0 || strings.ContainsAny(name, `/\`) {
			found.lacking = append(found.lacking, path.Join(dir, name))
			continue
		}
		found.names, found.as = append(found.names, one.names...), append(found.as, one.as...)
	}
	return found, err
}

var (
	tileNumber = regexp.MustCompile(`^(|.*?\D)([12]\d{3})(\D.*)$`)
	tilePlace  = regexp.MustCompile(`^(.*)(u\d{1,2}_v\d{1,3})(\D.*)$`)
)

// tilePattern is the name of a UDIM set with the place of the number marked. Blender before
// 3.1 stored the name of the first file.
func tilePattern(name string) string {
	switch {
	case strings.Contains(name, "<UDIM>"), strings.Contains(name, "<UVTILE>"):
		return name
	case tileNumber.MatchString(name):
		return tileNumber.ReplaceAllString(name, "${1}<UDIM>${3}")
	case tilePlace.MatchString(name):
		return tilePlace.ReplaceAllString(name, "${1}<UVTILE>${3}")
	}
	return name
}

// tileName is the name of one tile's file.
func tileName(pattern string, n int) string {
	at := fmt.Sprintf("u%d_v%d", (n-1001)%10+1, (n-1001)/10+1)
	return strings.NewReplacer("<UDIM>", strconv.Itoa(n), "<UVTILE>", at).Replace(pattern)
}

// ofNumber reports whether a text is a number as Blender writes it in names: at least as
// many digits as the stored one, more of them only where the number has grown.
func ofNumber(text string, digits int) bool {
	if strings.Trim(text, "0123456789") != "" {
		return false
	}
	return len(text) == digits || len(text) > digits && text[0] != '0'
}

// numbered are all files whose names differ from that of a place by the number only. Which
// of them a render opens follows from its frames; none of them must be there.
func (s *search) numbered(place string, loose, atEnd bool) (in, error) {
	folder, name := path.Dir(place), path.Base(place)
	head, digits, tail := sequence.Split(name, atEnd)
	if digits == "" {
		return s.single(place, loose)
	}
	dir, err := s.tree.find(folder, loose)
	l := s.tree.list(dir)
	if dir == "" || l == nil {
		if dir == "" {
			return in{}, err
		}
		return s.single(place, loose)
	}
	entries := s.tree.beginning(l, head)
	number := func(name, head, tail string) (n string, ok bool) {
		if len(name) <= len(head)+len(tail) || !strings.HasPrefix(name, head) || !strings.HasSuffix(name, tail) {
			return "", false
		}
		n = name[len(head) : len(name)-len(tail)]
		return n, ofNumber(n, len(digits))
	}
	matches := func(name string) (n string, ok bool) { return number(name, head, tail) }
	if loose {
		entries = s.tree.beginning(l, "")
		foldedHead, foldedTail := fold(head), fold(tail)
		matches = func(name string) (n string, ok bool) { return number(fold(name), foldedHead, foldedTail) }
	}
	found := in{path: path.Join(dir, name)}
	for _, e := range entries {
		n, ok := matches(e.name)
		if !ok {
			continue
		}
		if s.full() {
			break
		}
		one, escapes := s.single(path.Join(dir, e.name), false)
		if escapes != nil {
			err = escapes
		}
		if len(one.names) > 0 {
			found.names, found.as = append(found.names, one.names...), append(found.as, head+n+tail)
			number, _ := strconv.Atoi(n) // one that is too large for it is none that Blender shows
			found.numbers = append(found.numbers, number)
		}
	}
	return found, err
}

// baked are the files of a cache's folder that belong to it.
func (s *search) baked(place string, loose bool, b *blendfile.Bake) (in, error) {
	dir, err := s.tree.find(place, loose)
	if dir == "" {
		return in{}, err
	}
	found := in{path: dir}
	l := s.tree.list(dir)
	if l == nil {
		return in{}, nil
	}
	for _, prefix := range b.Prefixes {
		for _, e := range s.tree.beginning(l, prefix) {
			if s.full() {
				return found, nil
			}
			one, escapes := s.single(path.Join(dir, e.name), false)
			if escapes != nil {
				err = escapes
			}
			found.names = append(found.names, one.names...)
		}
	}
	for _, e := range l.entries {
		for _, name := range b.Folders {
			if e.name == name {
				s.whole(path.Join(dir, name), 0, &found)
			}
		}
		if b.Numbers && ofNumber(e.name, 1) {
			s.whole(path.Join(dir, e.name), 0, &found)
		}
	}
	return found, err
}

// whole adds all files of a folder and of its subfolders, without following links to
// folders.
func (s *search) whole(dir string, depth int, found *in) {
	l := s.tree.list(dir)
	if l == nil || depth > maxDepth {
		return
	}
	for _, e := range l.entries {
		if s.full() {
			return
		}
		full := path.Join(dir, e.name)
		if e.mode.IsDir() {
			s.whole(full, depth+1, found)
		} else if one, _ := s.single(full, false); len(one.names) > 0 {
			found.names = append(found.names, one.names...)
		}
	}
}
