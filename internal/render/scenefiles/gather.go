package scenefiles

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/sequence"
)

// gather lists the files of all .blend files that were reached, and what else the libraries
// among them say. The error is the context's.
func (s *search) gather() (*Found, error) {
	known := map[string]int{}
	all := []File{}
	found := &Found{Main: s.main.path, Simulations: []blendfile.Simulation{}, Scripted: []blendfile.Script{}, Gone: []blendfile.MissingData{}}
	lastFrame, looks := 0, s.looks()
	if library, name, err := s.activeScene(); err != nil {
		return nil, err
	} else if library != nil {
		lastFrame = library.open.LastFrameOf(name)
	}
	for _, b := range s.reached() {
		if s.full() {
			break
		}
		if err := s.open(b); err != nil {
			if err := s.ends(err); err != nil {
				return nil, err
			}
			continue // what links it says why
		}
		places, ok := looks[b]
		if !ok { // it is packed
			places = []string{b.path}
		}
		for f := range s.filesOf(b) {
			s.addAliases(&f, places, &found.Aliases)
			f.as = nil
			key := string(f.Kind) + "\x00" + f.From + "\x00" + f.Stored + "\x00" + f.Path
			if f.Kind == KindLibrary {
				key = f.Path + "\x00" + f.Wanted
			}
			if i, twice := known[key]; twice {
				merge(&all[i], f)
				continue
			}
			s.answer -= f.cost()
			known[key] = len(all)
			all = append(all, f)
		}
		if b.main {
			lastFrame = max(lastFrame, b.open.LastFrame())
		} else {
			s.inside(b, lastFrame, found)
		}
		s.gone(b, found)
		s.partial = s.partial || b.open.Partial()
	}
	for i := range all {
		s.holes(&all[i])
	}
	sortFiles(all)
	s.readHeads(all)
	found.Aliases, found.Links = unambiguous(found.Aliases), s.allLinks()
	found.Files, found.Partial = all, s.partial || s.tree.partial || s.tree.steps < 0
	return found, s.ctx.Err()
}

// allLinks lists the libraries that are files of the tree.
func (s *search) allLinks() (all []Link) {
	for _, b := range s.reached() {
		if b.inside != nil {
			continue // its place can be that of another file
		}
		for _, stored := range slices.Sorted(maps.Keys(b.links)) {
			to := b.links[stored]
			if s.answer -= nameCost + len(b.path) + len(stored) + len(to.path); s.full() {
				return all
			}
			all = append(all, Link{b.path, stored, to.path})
		}
	}
	return all
}

// gone adds the data-blocks that the picture needs of an open .blend and that are not there.
func (s *search) gone(b *blend, found *Found) {
	for _, name := range slices.Sorted(maps.Keys(b.entered)) {
		used := b.entered[name]
		if used.level < blendfile.Computed || !b.open.Lacks(name) {
			continue
		}
		if s.answer -= nameCost + len(name) + len(b.path) + len(used.from.path) + len(used.usedBy); s.full() {
			return
		}
		found.Gone = append(found.Gone, blendfile.MissingData{
			Kind: blendfile.KindName(name[:2]), Name: name[2:], Library: b.path, UsedBy: used.usedBy, From: used.from.path,
		})
	}
}

// inside adds what runs in a library, from frame to frame and Python, its colour spaces, and
// what is packed in it.
func (s *search) inside(b *blend, lastFrame int, found *Found) {
	found.WorldVolume = found.WorldVolume || b.open.WorldVolume()
	room := func(bytes int) bool {
		s.answer -= nameCost + len(b.path) + bytes
		return !s.full()
	}
	for _, m := range b.open.Simulations(lastFrame) {
		if !room(len(m.Owner) + len(m.Folder)) {
			return
		}
		m.From = b.path
		found.Simulations = append(found.Simulations, m)
	}
	for _, p := range b.open.Scripted() {
		if !room(len(p.Owner) + len(p.Property) + len(p.Expression)) {
			return
		}
		p.From = b.path
		found.Scripted = append(found.Scripted, p)
	}
	for _, u := range b.open.Spaces() {
		if slices.Contains(found.Spaces, u) {
			continue
		}
		if !room(len(u.UsedBy) + len(u.Space)) {
			return
		}
		found.Spaces = append(found.Spaces, u)
	}
	for _, p := range b.open.Packed() {
		if !room(len(p.Path) + len(p.Owner)) {
			return
		}
		p.From = b.path
		found.Packed = append(found.Packed, p)
	}
}

// reached are the .blend files that the scene comes from, the main one first.
func (s *search) reached() []*blend {
	all := []*blend{s.main}
	for _, key := range slices.Sorted(maps.Keys(s.blends)) {
		if b := s.blends[key]; b != s.main {
			all = append(all, b)
		}
	}
	return all
}

// filesOf yields what an open .blend says of other files, until the search has to end.
func (s *search) filesOf(b *blend) iter.Seq[File] {
	return func(yield func(File) bool) {
		libraries := b.open.Libraries()
		for i := range libraries {
			if s.full() {
				return
			}
			// The answer may be wrong where the steps ran out while a file was looked for.
			if f := s.libraryFile(b, libraries, i); s.tree.steps < 0 || !yield(f) {
				return
			}
		}
		for _, r := range b.open.References() {
			if s.full() {
				return
			}
			f, ok := s.file(b, &r)
			if s.tree.steps < 0 || ok && !yield(f) {
				return
			}
		}
	}
}

// merge puts what two data-blocks say of one file together.
func merge(into *File, f File) {
	names, lacking := append(into.Names, f.Names...), append(into.Lacking, f.Lacking...)
	uses := append(into.uses, f.uses...)
	if f.Reach.rank() > into.Reach.rank() {
		*into = f
	}
	slices.SortFunc(names, func(a, b Name) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(lacking)
	into.Names, into.Lacking, into.uses = slices.Compact(names), slices.Compact(lacking), uses
}

// mostHoles bounds the spans of numbers that are reported for one sequence.
const mostHoles = 1000

// holes notes which numbers a sequence lacks.
func (s *search) holes(f *File) {
	slices.Sort(f.numbers)
	for i, u := range f.uses {
		if u.Frames == sequence.ToTheLast && len(f.numbers) > 0 {
			f.uses[i].Frames = f.numbers[len(f.numbers)-1] - u.Offset
		}
	}
	lacks := sequence.Lacking(f.uses, f.numbers, mostHoles)
	if len(lacks) > 0 {
		s.answer -= nameCost + 16*len(lacks)
		f.Sequence = &Sequence{f.uses, lacks}
	}
	f.uses, f.numbers = nil, nil
}

// cost is what a file takes of the answer.
func (f *File) cost() int {
	n := nameCost + len(f.Path) + len(f.Stored) + len(f.Wanted) + len(f.From) + len(f.Owner) + len(f.UsedBy)
	for _, name := range f.Names {
		n += nameCost + len(name.Path)
	}
	for _, name := range f.Lacking {
		n += len(name)
	}
	return n
}

// libraryFile describes a library of a .blend.
func (s *search) libraryFile(b *blend, libraries []blendfile.Library, number int) File {
	l := libraries[number]
	var f File
	_, _, packed := s.packedLibrary(b, l)
	if packed {
		place, _ := s.placeOf(l.Path, b.path)
		f = File{Stored: l.Path, Path: place, Status: StatusPacked, Names: []Name{}}
	} else {
		f = s.locate(l.Path, b, s.single)
	}
	f.Kind, f.From, f.Owner, f.UsedBy, f.Reach = KindLibrary, b.path, l.Name, l.UsedBy, ReachUnneeded
	f.of, f.packedIn = blendfile.KindLibrary, b.inside != nil
	if b.level(number) > blendfile.None {
		if target := s.library(b, libraries, number); target != nil && target.failed != nil {
			f.Problem = target.failed.Error()
			if why := s.spoilt(target); why != "" {
				f.Unreadable = []Unreadable{{f.Path, why}}
			}
		}
	}
	switch level := b.level(number); {
	case level >= blendfile.Computed:
		f.Reach = ReachNeeded
	case level == blendfile.Loaded:
		f.Reach = ReachPerhaps
	}
	return f
}

// level is how much the picture has to do with a library.
func (b *blend) level(number int) blendfile.Level {
	if number < len(b.levels) {
		return b.levels[number]
	}
	return blendfile.None
}

// file describes what a .blend says of another file; ok is false for an optional cache
// that does not exist.
func (s *search) file(b *blend, r *blendfile.Reference) (f File, ok bool) {
	from := b
	if r.In != "" { // from 5.0 on, data that was packed out of a library
		place, _ := s.placeOf(r.In, b.path)
		from = &blend{path: place}
	}
	stored := r.Path
	if r.Bake != nil && r.Bake.OfMain {
		from = s.main
	}
	if r.Bake != nil && r.Bake.Implied {
		stored = "//blendcache_" + from.name()
	}
	if r.Packed {
		place, _ := s.placeOf(stored, from.path)
		f = File{Stored: stored, Path: place, Status: StatusPacked, Names: []Name{}}
	} else {
		f = s.locate(stored, from, s.setOf(r))
		s.partial = s.partial || r.More
	}
	f.Kind, f.From, f.Owner, f.UsedBy = KindOf(r.Kind), b.path, r.Owner, r.UsedBy
	f.of, f.packedIn = r.Kind, b.inside != nil
	if from != b {
		f.counted = from.path
	}
	f.Reach = reachOf(r)
	if f.Reach == ReachNeeded && f.numbers != nil {
		f.uses = r.Uses
	}
	return f, r.Bake == nil || r.Bake.Baked || f.There()
}

// reachOf is the reach of a file. A sound is needed if the movie has it; no picture does.
func reachOf(r *blendfile.Reference) Reach {
	switch {
	case r.Packed, r.Level == blendfile.None:
		return ReachUnneeded
	case r.Level == blendfile.Drawn:
		return ReachNeeded
	case r.Kind == blendfile.KindSound:
		return ReachUnneeded
	}
	return ReachPerhaps
}
