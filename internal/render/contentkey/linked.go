package contentkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
)

// A library counts by what others use of it: by all that those data-blocks lead to in its file,
// and in the libraries of that one. Where this is not certain for one library, all libraries
// count by all of their bytes, and every frame counts everything.

// use is a data-block of a library that a file uses.
type use struct {
	library string // its path, as the file has it
	name    string // with its code
}

// linking is what a scene needs to know of its libraries.
type linking struct {
	uses    []use
	whole   string // why every frame counts everything, whatever the libraries are
	unclear bool   // the libraries count by their bytes
	own     Key    // what counts if nothing in a library moves by what the file has computed
	moving  Key    // what counts otherwise, if frames count apart from each other
}

// uses lists what the reached data uses of libraries. known is false where it is not known.
func (w *reached) uses() (all []use, known bool) {
	known = true
	for _, p := range w.parts {
		o := &w.owners[p.owner]
		switch o.code {
		case "ID":
		case "LI":
			known = known && w.pointer(o.first, "packedfile") == nowhere
			continue
		default:
			continue
		}
		if x := w.extras[o.first]; x != nil && x.weak {
			continue // others of the libraries use it, or nobody
		}
		library := w.pointer(o.first, "lib")
		if library == nowhere || w.extras[library] == nil || w.extras[library].name == "" || len(o.name) < 3 {
			known = false
			continue
		}
		all = append(all, use{w.extras[library].name, o.name})
	}
	return all, known
}

// scripts reports whether a driver needs Python, which can read everything.
func (w *reached) scripts() bool {
	for _, b := range w.order {
		if w.structOf(b) == "ChannelDriver" && w.scripted(b) != "" {
			return true
		}
	}
	return false
}

// library is what counts of a library.
type library struct {
	uses            []use
	whole           string // as Scene.Whole
	moving          bool   // something in it moves by what the file has computed
	own, everything Key
	named           map[string]Key
	curves          []curve
}

// errUnclear reports a library of which it is not certain what counts.
var errUnclear = errors.New("it is not certain what of the library counts")

// readLibrary reads what others use of a library, by sorted names with code.
func readLibrary(open func() (io.ReadCloser, error), o blendfile.Options, names []string) (*library, error) {
	f, err := read(open, o)
	if err != nil {
		return nil, err
	}
	heads := f.heads(names)
	if heads == nil {
		return nil, errUnclear
	}
	w := f.reach(heads...)
	uses, known := w.uses()
	if !known || w.scripts() || w.watched() {
		return nil, errUnclear
	}
	d := &digest{reached: w, animation: w.animate(heads...)}
	l := &library{uses: uses, moving: d.animation.circle}
	scenes, why := w.remembered()
	if l.whole = why; scenes > 0 {
		l.whole = cmp.Or(why, anotherScene)
	}
	own := &way{local: l.whole == "", matrices: true, spans: true, names: true}
	everything := &way{matrices: true, spans: true, names: true}
	l.named = d.all(own, everything)
	l.own, l.everything, l.curves = own.key(), everything.key(), d.animation.curves
	return l, f.tooLong()
}

// heads finds data-blocks of the file itself by their names with code; nil if one is missing, or
// if two have a name.
func (f *file) heads(names []string) []int32 {
	found := make(map[string]int32, len(names))
	for _, name := range names {
		found[name] = nowhere
	}
	for i := range f.owners {
		o := &f.owners[i]
		before, wanted := found[o.name]
		if !wanted || o.code == "ID" {
			continue
		}
		if before != nowhere {
			return nil
		}
		found[o.name] = o.first
	}
	heads := make([]int32, len(names))
	for i, name := range names {
		if heads[i] = found[name]; heads[i] == nowhere {
			return nil
		}
	}
	return heads
}

// follower reads the libraries of a scene, one after the other.
type follower struct {
	files fs.FS
	o     blendfile.Options
	main  string
	where map[use]string             // paths of libraries in the tree; name is the file that has the path
	used  map[string]map[string]bool // what is used, by the path of the library
	queue []string                   // those of which more is used than when they were last read
	read  map[string]*library
	turns int
	kept  int // bytes of what was read
}

// maxTurns is how often a library may learn that more of it is used, on average.
const maxTurns = 4

// follow reads the libraries of a scene and lets what it uses of them count, in place of their
// bytes. found are the files of the scene. Where that is not possible, nothing changes. Errors
// are blendfile.ErrBusy and those of the context.
func (s *Scene) follow(ctx context.Context, files fs.FS, found *scenefiles.Found, o blendfile.Options) error {
	if s.linking == nil || s.linking.unclear || found.Partial {
		return nil
	}
	f := &follower{files: files, o: o, main: found.Main, where: map[use]string{}, used: map[string]map[string]bool{}, read: map[string]*library{}}
	for _, l := range found.Links {
		f.where[use{l.Stored, l.From}] = l.Path
	}
	if err := f.all(ctx, s.linking.uses); err != nil {
		if errors.Is(err, blendfile.ErrBusy) || ctx.Err() != nil {
			return err
		}
		return nil
	}
	s.link(f.read)
	return nil
}

// all reads libraries until nothing more is used of any.
func (f *follower) all(ctx context.Context, uses []use) error {
	if err := f.enter(f.main, uses); err != nil {
		return err
	}
	for len(f.queue) > 0 {
		path := f.queue[0]
		f.queue = f.queue[1:]
		if f.turns++; f.turns > maxTurns*len(f.used) {
			return errUnclear
		}
		l, err := readLibrary(func() (io.ReadCloser, error) { return f.files.Open(path) }, f.o, slices.Sorted(maps.Keys(f.used[path])))
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read the libraries of a scene: %w", err)
		}
		f.read[path] = l
		if f.kept += l.cost(); f.kept > mostKept {
			return errUnclear
		}
		if err := f.enter(path, l.uses); err != nil {
			return err
		}
	}
	return nil
}

// enter notes what a file uses.
func (f *follower) enter(from string, uses []use) error {
	for _, u := range uses {
		path, ok := f.where[use{u.library, from}]
		if !ok || path == f.main {
			return errUnclear // missing, packed, or in a circle
		}
		if f.used[path] == nil {
			f.used[path] = map[string]bool{}
		}
		if f.used[path][u.name] {
			continue
		}
		f.used[path][u.name] = true
		if !slices.Contains(f.queue, path) {
			f.queue = append(f.queue, path)
		}
	}
	return nil
}

// cost is how many bytes of a library are kept.
func (l *library) cost() int {
	const eachName = 160
	bytes := eachName * (len(l.named) + len(l.uses))
	for i := range l.curves {
		bytes += eachName + keySize*len(l.curves[i].keys)
	}
	return bytes
}

// link lets what the scene uses of libraries count.
func (s *Scene) link(libraries map[string]*library) {
	paths := slices.Sorted(maps.Keys(libraries))
	s.Whole = s.linking.whole
	moving := false
	for _, path := range paths {
		s.Whole = cmp.Or(s.Whole, libraries[path].whole)
		moving = moving || libraries[path].moving
	}
	switch {
	case s.Whole != "": // everything counts already
	case moving:
		s.together = s.linking.moving
	default:
		s.together = s.linking.own
	}
	s.linked = map[string]Key{}
	for _, path := range paths {
		l := libraries[path]
		if s.linked[path] = l.own; s.Whole != "" {
			s.linked[path] = l.everything
		}
		for name, k := range l.named {
			s.named[name+" of "+path] = k
		}
		for _, c := range l.curves {
			c.action += " of " + path
			s.curves = append(s.curves, c)
		}
	}
}
