package scenefiles

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"svc.example/internal/render/scenefiles/alias"
)

// lookup is where Blender looks for a path of a .blend that it has opened at a place.
func (s *search) lookup(stored, blend string) (at string, ok bool) {
	place, _ := s.placeOf(stored, blend)
	return alias.LookedFor(place)
}

// looks are the places at which Blender opens each .blend. There are several if others link
// it under several paths. Its own place is not among them if all those paths lead
// elsewhere: Blender then looks there for files next to it.
func (s *search) looks() map[*blend][]string {
	type opened struct {
		b  *blend
		at string
	}
	all, queue := map[*blend][]string{s.main: {s.main.path}}, []opened{{s.main, s.main.path}}
	for len(queue) > 0 && !s.full() {
		next := queue[0]
		queue = queue[1:]
		for _, stored := range slices.Sorted(maps.Keys(next.b.links)) {
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
func (s *search) addAliases(f *File, places []string, into *[]alias.Alias) {
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
			a := alias.Alias{Path: n.Path, At: under(folderOf(at), f.as[i])}
			if s.tree.steps--; a.At == a.Path || !alias.Placeable(a.At) {
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
func unambiguous(all []alias.Alias) []alias.Alias {
	slices.SortFunc(all, func(a, b alias.Alias) int {
		return cmp.Or(strings.Compare(a.At, b.At), strings.Compare(a.Path, b.Path))
	})
	all = slices.Compact(all)
	out := []alias.Alias{}
	for i, a := range all {
		if (i == 0 || all[i-1].At != a.At) && (i+1 == len(all) || all[i+1].At != a.At) {
			out = append(out, a)
		}
	}
	return out
}

// asBakes are the names of a cache's files next to its folder, if Blender looks for the
// folder at a place.
func asBakes(place string, found in) (as []string) {
	for _, n := range found.names {
		as = append(as, path.Join(path.Base(place), strings.TrimPrefix(n.Path, strings.TrimSuffix(found.path, "/")+"/")))
	}
	return as
}
