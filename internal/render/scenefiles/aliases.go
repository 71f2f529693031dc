package scenefiles

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Alias is a further name of a file: Blender looks at At for what the tree has at Path. At is
// Placeable.
type Alias struct {
	Path string
	// At is in the tree ("Tex/A.PNG"), above it ("../a.png") or absolute ("/home/anna/a.png").
	// Of a Windows path it is what Blender makes of it on Linux: "/c/tex/a.png" of
	// `C:\tex\a.png`.
	At string
}

// Roots are the first names of absolute paths at which a worker can put files: where people
// keep projects, and the letters of Windows' drives. The system's own folders are not among
// them, for those belong to Blender's sandbox.
var Roots = append(strings.Fields("Projects Users Volumes data export home jobs mnt media nas net nfs private prod proj project projects render root run scratch server share shared shows srv storage var vol volume work workspace"),
	strings.Split("abcdefghijklmnopqrstuvwxyz", "")...)

// MaxAbove bounds the ".." at the beginning of an alias.
const MaxAbove = 16

// Placeable reports whether a worker can put a file where Blender looks for it: at File.Wanted
// or at Alias.At.
func Placeable(place string) bool {
	at, ok := lookedFor(place)
	if !ok {
		return false
	}
	if rest, absolute := strings.CutPrefix(at, "/"); absolute {
		root, rest, _ := strings.Cut(rest, "/")
		return rest != "" && slices.Contains(Roots, root)
	}
	return at != "." && strings.Count(at, "../") <= MaxAbove
}

// maxPath is the most bytes of an alias: what Blender keeps of a path.
const maxPath = 1024

// lookedFor is the place as Blender on Linux looks for it; ok is false of a network path,
// which leads nowhere there.
func lookedFor(place string) (at string, ok bool) {
	if hasDrive(place) {
		place = "/" + strings.ToLower(place[:1]) + place[2:]
	}
	return place, !strings.HasPrefix(place, `\\`) && len(place) <= maxPath
}

// lookup is where Blender looks for a path of a .blend that it has opened at a place.
func (s *search) lookup(stored, blend string) (at string, ok bool) {
	place, _ := s.placeOf(stored, blend)
	return lookedFor(place)
}

// looks are the places at which Blender opens each .blend. They are several where others
// link it under several paths, and not its own place where the paths of all lead elsewhere:
// what it names beside it is then looked for there.
func (s *search) looks() map[*blend][]string {
	type opened struct {
		b  *blend
		at string
	}
	all, queue := map[*blend][]string{s.main: {s.main.path}}, []opened{{s.main, s.main.path}}
	for len(queue) > 0 && !s.full() {
		next := queue[0]
		queue = queue[1:]
		for _, stored := range sortedKeys(next.b.links) {
			to := next.b.links[stored]
			at, ok := s.lookup(stored, next.at)
			if s.tree.steps -= len(all[to]) + 1; !ok || slices.Contains(all[to], at) {
				continue
			}
			if s.answer -= nameCost + len(at); s.full() {
				break
			}
			all[to], queue = append(all[to], at), append(queue, opened{to, at})
		}
	}
	return all
}

// addAliases notes where else Blender looks for a file of a .blend that it opens at places.
func (s *search) addAliases(f *File, places []string, into *[]Alias) {
	if !f.There() || f.Reach == ReachUnneeded {
		return
	}
	if f.counted != "" {
		places = []string{f.counted}
	}
	for _, place := range places {
		at, ok := s.lookup(f.Stored, place)
		if !ok {
			continue
		}
		for i, n := range f.Names {
			if i >= len(f.as) {
				break // a link under two names of a set
			}
			a := Alias{n.Path, under(folderOf(at), f.as[i])}
			if s.tree.steps--; a.At == a.Path || !Placeable(a.At) {
				continue
			}
			if s.answer -= nameCost + len(a.Path) + len(a.At); s.full() {
				return
			}
			*into = append(*into, a)
		}
	}
}

// unambiguous are aliases each once, sorted by where they are; those of two files at one
// place are left out.
func unambiguous(all []Alias) []Alias {
	slices.SortFunc(all, func(a, b Alias) int { return cmp.Or(strings.Compare(a.At, b.At), strings.Compare(a.Path, b.Path)) })
	all = slices.Compact(all)
	out := []Alias{}
	for i, a := range all {
		if (i == 0 || all[i-1].At != a.At) && (i+1 == len(all) || all[i+1].At != a.At) {
			out = append(out, a)
		}
	}
	return out
}

// asBakes are the names of a cache's files from beside its folder, where Blender looks for
// that at a place.
func asBakes(place string, found in) (as []string) {
	for _, n := range found.names {
		as = append(as, path.Join(path.Base(place), strings.TrimPrefix(n.Path, strings.TrimSuffix(found.path, "/")+"/")))
	}
	return as
}
