package scenefiles

import (
	"path"
	"strings"

	"svc.example/internal/render/blendfile"
)

// locate finds what a stored path stands for: where Blender looks, otherwise where the same
// file must be meant.
func (s *search) locate(stored string, b *blend, find set) File {
	place, known := s.placeOf(stored, b.path)
	f := File{Stored: stored, Path: place, Status: StatusMissing, Names: []Name{}}
	if isInside(place) && (s.inPlace(&f, known, find) || known) {
		return f
	}
	for candidate := range s.elsewhere(place, stored, known, b) {
		for _, loose := range []bool{false, true} {
			if found, _ := find(candidate, loose); len(found.names) > 0 {
				f.take(found, StatusRemapped)
				f.Wanted = place
				return f
			}
		}
	}
	if known && !isInside(place) {
		if found, ok := s.byTail(place, find); ok {
			f.take(found, StatusRemapped)
			f.Wanted = place
			return f
		}
	}
	if isAbove(place) || isAbsolute(place) && s.onThisDisk(place) {
		f.Status = StatusOutside
	}
	return f
}

// inPlace looks where the path leads in the tree, and reports whether there is an answer.
func (s *search) inPlace(f *File, known bool, find set) bool {
	place := f.Path
	found, err := find(place, false)
	switch {
	case len(found.names) > 0 && known:
		f.take(found, StatusFound)
		return true
	case err != nil:
		f.Status = StatusOutside
		return true
	case len(found.names) == 0:
		found, _ = find(place, true)
	}
	if len(found.names) > 0 {
		f.take(found, StatusRemapped)
		f.Wanted = place
	}
	return len(found.names) > 0
}

// take notes what was found.
func (f *File) take(found in, status Status) {
	f.Status, f.Path, f.Names, f.Lacking, f.as, f.numbers = status, found.path, found.names, found.lacking, found.as, found.numbers
}

// elsewhere yields where a file can be meant that is not where Blender looks: a path of
// this disk that leads into the tree, one that counts from the folder where the .blend was
// once saved, and for a path without a beginning the folder of its .blend.
func (s *search) elsewhere(place, stored string, known bool, b *blend) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !known {
			yield(under(folderOf(b.path), strings.ReplaceAll(stored, `\`, "/")))
			return
		}
		if !isAbsolute(place) {
			return
		}
		if rest, ok := below(place, s.base); ok && s.base != "" && !yield(rest) {
			return
		}
		if old, absolute := placeOf(b.savedAs, ""); absolute && isAbsolute(old) && isInside(b.path) {
			from, to := movedFolder(old, b.path)
			if rest, ok := below(place, from); ok && len(parts(from)) > 0 {
				yield(path.Join(to, rest))
			}
		}
	}
}

// onThisDisk reports whether an absolute path can lead to a file of this machine.
func (s *search) onThisDisk(place string) bool {
	return s.base != "" && (place[0] == '/') == (s.base[0] == '/')
}

// byTail finds a file by the end of its path: the one place in the tree that has it in a
// folder of the same name, and of all such places shares the most folders with the path. The
// name alone is never enough: real projects have files of one name in every folder.
func (s *search) byTail(place string, find set) (in, bool) {
	wanted := parts(place)
	if len(wanted) < 2 {
		return in{}, false
	}
	name, wanted := wanted[len(wanted)-1], wanted[:len(wanted)-1]
	var best in
	most, several := 0, false
	for _, dir := range s.foldersNamed(wanted[len(wanted)-1]) {
		n := commonTail(parts(dir), wanted)
		if s.tree.steps -= n; n < most || s.tree.steps < 0 {
			continue
		}
		found, _ := find(path.Join(dir, name), false)
		if len(found.names) == 0 {
			found, _ = find(path.Join(dir, name), true)
		}
		switch {
		case len(found.names) == 0:
		case n > most:
			best, most, several = found, n, false
		default:
			several = true
		}
	}
	return best, most > 0 && !several
}

// foldersNamed are the folders of the tree with a name, ignoring case. It is empty for a
// tree with too many names to be sure which is the only one.
func (s *search) foldersNamed(name string) []string {
	if s.dirs == nil {
		s.dirs = map[string][]string{}
		all, _ := s.tree.allFolders(tailNames)
		for _, dir := range all {
			key := fold(path.Base(dir))
			s.dirs[key] = append(s.dirs[key], dir)
		}
	}
	return s.dirs[fold(name)]
}

// commonTail is how many names two paths share at their ends, but for case.
func commonTail(a, b []string) (n int) {
	for n < len(a) && n < len(b) && fold(a[len(a)-1-n]) == fold(b[len(b)-1-n]) {
		n++
	}
	return n
}

// KindOf is a kind of package blendfile in the words of this one.
func KindOf(k blendfile.Kind) Kind {
	switch k {
	case blendfile.KindImageSequence:
		return KindSequence
	case blendfile.KindImageTiles:
		return KindTiles
	}
	return Kind(k)
}
