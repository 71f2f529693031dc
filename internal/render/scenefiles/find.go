package scenefiles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/render/settings"
)

// Options bounds a search. The zero value is safe for untrusted files.
type Options struct {
	// Base is the folder of the tree on this machine's disk, absolute; "" when it is on none.
	// It determines which absolute paths lead into the tree.
	Base string
	// Memory is what the .blend files that are open at once may keep together with others,
	// beyond 1 MiB each; nil means DefaultMemory of its own. Where others hold what a .blend
	// takes, the search ends with blendfile.ErrBusy; its own memory just bounds what is read.
	Memory *memory.Budget
	// Settings are those with which the main file is rendered. They are right for it: a file
	// that does not have what they name is an error (blendfile.Opened.Choose).
	Settings settings.Settings
	// MaxOpen caps the .blend files that are open at once; 0 means DefaultMaxOpen. Each keeps
	// what Memory says, and a decoder while it is read.
	MaxOpen int
	// MaxNames caps the names that are listed of folders; 0 means DefaultMaxNames. Folders
	// beyond are not listed: only exact names are found in them, and no sequences.
	MaxNames int
	// MaxAnswer caps the answer, in bytes; 0 means DefaultMaxAnswer.
	MaxAnswer int
	// MaxBlends caps the .blend files that are opened; 0 means DefaultMaxBlends.
	MaxBlends int
	// MaxUnpacked caps what is unpacked of all .blend files together, in bytes; 0 means
	// DefaultMaxUnpacked. For each alone the caps of package blendfile hold.
	MaxUnpacked int64
	// MaxLinks caps the names of data-blocks that are used of libraries, in bytes; 0 means
	// DefaultMaxLinks.
	MaxLinks int
}

// Defaults and fixed limits.
const (
	DefaultMemory      int64 = 64 << 20
	DefaultMaxOpen           = 8
	DefaultMaxNames          = 100_000
	DefaultMaxAnswer         = 16 << 20 // 10,000 files, the most of a project, take a quarter
	DefaultMaxBlends         = 2000
	DefaultMaxUnpacked int64 = 64 << 30
	DefaultMaxLinks          = 32 << 20

	maxOpen    = 8   // .blend files at once; each has a decoder
	nameCost   = 100 // bytes of an entry besides its texts
	stepsLimit = 50_000_000
	maxTurns   = 20     // how often a .blend may learn that more of it is used, on average
	tailNames  = 50_000 // names of a tree that is searched for a file by the end of its path
)

func (o Options) withDefaults() Options {
	if o.Memory == nil {
		o.Memory = memory.NewBudget(DefaultMemory)
	}
	o.MaxOpen = cmp.Or(o.MaxOpen, DefaultMaxOpen)
	o.MaxNames = cmp.Or(o.MaxNames, DefaultMaxNames)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, DefaultMaxAnswer)
	o.MaxBlends = cmp.Or(o.MaxBlends, DefaultMaxBlends)
	o.MaxUnpacked = cmp.Or(o.MaxUnpacked, DefaultMaxUnpacked)
	o.MaxLinks = cmp.Or(o.MaxLinks, DefaultMaxLinks)
	return o
}

// Find finds the files that the active scene of a .blend needs. main is its path in the
// tree. A link in the tree that leads out of it must not open: os.Root.FS is such a tree.
// Errors: those of blendfile.Open for the main file, blendfile.ErrBusy as Options.Memory
// says, *settings.Error of an OpenColorIO configuration, and those of the context. A library that cannot be read is no error: see
// File.Problem.
func Find(ctx context.Context, files fs.FS, main string, o Options) (*Found, error) {
	s, err := begin(ctx, files, main, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.follow(); err != nil {
		return nil, err
	}
	found, err := s.gather()
	if err != nil {
		return nil, err
	}
	return found, found.addColours(files, s.o.Settings.OCIO, o.Memory)
}

// begin opens the main file. The caller closes the search.
func begin(ctx context.Context, files fs.FS, main string, o Options) (*search, error) {
	shared := o.Memory != nil
	o = o.withDefaults()
	if !fs.ValidPath(main) {
		return nil, fmt.Errorf("open %q: %w", main, fs.ErrInvalid)
	}
	s := &search{
		ctx: ctx, shared: shared, o: o, blends: map[string]*blend{}, answer: o.MaxAnswer, links: o.MaxLinks, unpacked: o.MaxUnpacked, base: absolute(o.Base),
		tree: &tree{files: files, folders: map[string]*folder{}, left: o.MaxNames, steps: stepsLimit},
	}
	first := &blend{path: main, main: true, entered: map[string]usage{}}
	s.main, s.blends[first.key()] = first, first
	if err := s.open(first); err != nil {
		return nil, err
	}
	s.packed = s.packedIn(first)
	return s, nil
}

// absolute is a folder of this machine as a place.
func absolute(folder string) string {
	if folder == "" {
		return ""
	}
	at, _ := placeOf(folder, "")
	return at
}

// search is one run of Find.
type search struct {
	ctx      context.Context
	shared   bool // others have a part of o.Memory
	o        Options
	base     string
	tree     *tree
	main     *blend
	scripts  bool              // its scenes shade by Open Shading Language
	sounds   bool              // it writes a movie with sound
	blends   map[string]*blend // by place
	queue    []*blend          // those of which more is used than when they were last asked
	turns    int
	opened   []*blend                     // most recently used last
	packed   map[string]blendfile.Library // those packed in the main file, by their places
	answer   int                          // bytes left
	links    int                          // bytes left for names of data-blocks that are used of libraries
	unpacked int64                        // bytes left
	dirs     map[string][]string          // folders of the tree, by their folded names; made when asked for
	partial  bool
}

// blend is a .blend file that the scene comes from: the main one, or a library.
type blend struct {
	path    string // its place
	main    bool
	inside  *blend // the .blend that it is packed in; nil for a file of its own
	at      int64  // where, in bytes of that one's unpacked stream
	size    int64
	depth   int                             // of .blend files packed in each other
	entered map[string]usage                // data-blocks that others use, by their names with code
	moved   map[string]blendfile.Simulation // those of entered that rigid body worlds of others move
	queued  bool
	levels  []blendfile.Level // of its libraries, by their numbers
	links   map[string]*blend // libraries that are files of the tree, by their stored paths
	open    *blendfile.Opened
	savedAs string
	failed  error
}

// usage is how a data-block of a library is used.
type usage struct {
	level  blendfile.Level
	from   *blend // that uses it first
	usedBy string // there; "" where that is not known
}

// name is what Blender names the folder of its disk caches for.
func (b *blend) name() string {
	name := path.Base(strings.ReplaceAll(b.path, `\`, "/"))
	if len(name) > len(".blend") {
		return name[:len(name)-len(".blend")]
	}
	return name
}

// full reports whether the search has to end: the answer has no room left, or too much was
// looked at.
func (s *search) full() bool {
	full := s.answer <= 0 || s.tree.steps < 0 || s.ctx.Err() != nil
	s.partial = s.partial || full
	return full
}

func (s *search) close() {
	for _, b := range s.opened {
		b.open.Close()
	}
}

// open reads a .blend, unless it is open. Others are closed for it where the memory is used
// up; they are read again when they are needed.
func (s *search) open(b *blend) error {
	if b.failed != nil {
		return b.failed
	}
	if i := slices.Index(s.opened, b); i >= 0 {
		s.opened = append(slices.Delete(s.opened, i, i+1), b)
		return nil
	}
	for len(s.opened) >= s.o.MaxOpen {
		s.closeOldest()
	}
	for {
		err := s.read(b)
		if !errors.Is(err, blendfile.ErrBusy) || len(s.opened) == 0 {
			b.failed = err
			return err
		}
		s.closeOldest()
	}
}

func (s *search) closeOldest() {
	s.opened[0].open.Close()
	s.opened[0].open = nil
	s.opened = slices.Delete(s.opened, 0, 1)
}

// maxPacked bounds .blend files that are packed in each other: each is read through all that
// are around it.
const maxPacked = 4

// read opens a .blend and tells it what others use of it.
func (s *search) read(b *blend) error {
	if s.unpacked <= 0 {
		s.partial = true
		return &blendfile.TooLargeError{What: "unpacked bytes of all files", Limit: s.o.MaxUnpacked}
	}
	o := s.options()
	for in := b; in != nil; in = in.inside { // even if it cannot be read, the way there is read
		s.unpacked -= in.at
	}
	r, err := s.bytes(b, o)
	if err != nil {
		return err
	}
	counted := &counter{ctx: s.ctx, r: r}
	opened, err := blendfile.Open(counted, o)
	_ = r.Close() // it was only read
	if err := s.ctx.Err(); err != nil {
		if opened != nil {
			opened.Close()
		}
		return err
	}
	if err != nil {
		// How much was unpacked of it is not known.
		s.unpacked -= min(blendfile.DefaultMaxUnpacked, counted.n*int64(blendfile.DefaultMaxRatio))
		return err
	}
	s.unpacked -= opened.Unpacked()
	if b.main {
		if err := opened.Choose(s.o.Settings); err != nil {
			opened.Close()
			return err
		}
		opened.Render()
		s.scripts, s.sounds = opened.ShadesByScripts(), opened.Heard()
	} else {
		opened.Show(s.scripts, s.sounds)
	}
	for _, name := range slices.Sorted(maps.Keys(b.entered)) {
		opened.Enter(name, b.entered[name].level)
	}
	for name, world := range b.moved {
		opened.Move(name, world)
	}
	b.open, b.savedAs = opened, opened.SavedAs()
	s.opened = append(s.opened, b)
	return nil
}

func (s *search) options() blendfile.Options {
	return blendfile.Options{Memory: s.o.Memory, MaxUnpacked: min(s.unpacked, blendfile.DefaultMaxUnpacked)}
}

// bytes opens the bytes of a .blend.
func (s *search) bytes(b *blend, o blendfile.Options) (io.ReadCloser, error) {
	if b.inside == nil {
		if _, ok := s.tree.file(b.path); !ok {
			return nil, fmt.Errorf("open %s: %w", b.path, fs.ErrNotExist)
		}
		f, err := s.tree.files.Open(b.path)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", b.path, err)
		}
		return f, nil
	}
	around, err := s.bytes(b.inside, o)
	if err != nil {
		return nil, err
	}
	section, err := blendfile.Section(around, o, b.at, b.size)
	if err != nil {
		_ = around.Close()
		return nil, err
	}
	return closers{section, around}, nil
}

// closers is a section of a file, closed with the file.
type closers struct {
	io.ReadCloser
	around io.Closer
}

func (c closers) Close() error { return errors.Join(c.ReadCloser.Close(), c.around.Close()) }

// counter counts bytes, and ends with the context.
type counter struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (c *counter) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// follow goes from library to library until nothing more is used of any.
func (s *search) follow() error {
	s.queue = []*blend{s.main}
	for len(s.queue) > 0 {
		b := s.queue[0]
		s.queue, b.queued = s.queue[1:], false
		if s.turns++; s.turns > maxTurns*(len(s.blends)+1) {
			s.partial = true
			return nil
		}
		if err := s.open(b); err != nil {
			if err := s.ends(err); err != nil {
				return err
			}
			continue
		}
		libraries := b.open.Libraries()
		b.levels = make([]blendfile.Level, len(libraries))
		targets := make([]*blend, len(libraries))
		for _, l := range b.open.Linked() {
			if b.levels[l.Library] == blendfile.None {
				targets[l.Library] = s.library(b, libraries, l.Library)
				s.link(b, libraries[l.Library].Path, targets[l.Library])
			}
			b.levels[l.Library] = max(b.levels[l.Library], l.Level)
			if targets[l.Library] != nil {
				s.enter(b, targets[l.Library], l)
			}
		}
	}
	return nil
}

// link notes that a .blend names another one, which is a file of the tree.
func (s *search) link(b *blend, stored string, to *blend) {
	if _, known := b.links[stored]; known || to == nil || to.inside != nil {
		return
	}
	if s.links -= len(stored) + nameCost; s.links < 0 {
		s.partial = true
		return
	}
	if b.links == nil {
		b.links = map[string]*blend{}
	}
	b.links[stored] = to
}

// ends is the error of the search where a library could not be read for err; nil if the
// search continues without it.
func (s *search) ends(err error) error {
	if s.ctx.Err() == nil && s.shared && errors.Is(err, blendfile.ErrBusy) {
		return err
	}
	return s.ctx.Err()
}

// enter says that one .blend uses a data-block of another, and which of its rigid body
// worlds moves it.
func (s *search) enter(from, b *blend, used blendfile.Linked) {
	known, ok := b.entered[used.Name]
	_, moves := b.moved[used.Name]
	more, moved := !ok || known.level < used.Level, used.World != nil && !moves
	if !more && !moved {
		return
	}
	if !ok {
		if s.links -= len(used.Name) + len(used.UsedBy) + nameCost; s.links < 0 {
			s.partial = true
			return
		}
	}
	if more {
		b.entered[used.Name] = usage{used.Level, from, used.UsedBy}
	}
	if moved {
		if b.moved == nil {
			b.moved = map[string]blendfile.Simulation{}
		}
		b.moved[used.Name] = *used.World
	}
	if b.open != nil {
		if more {
			b.open.Enter(used.Name, used.Level)
		}
		if moved {
			b.open.Move(used.Name, *used.World)
		}
	}
	if !b.queued {
		b.queued = true
		s.queue = append(s.queue, b)
	}
}

// library is the .blend that a library stands for; nil when there is none to read.
func (s *search) library(b *blend, libraries []blendfile.Library, number int) *blend {
	l, next := libraries[number], &blend{entered: map[string]usage{}}
	if packed, around, ok := s.packedLibrary(b, l); ok {
		if packed.PackedSize == 0 || around.depth == maxPacked {
			return nil
		}
		next.path, _ = s.placeOf(l.Path, b.path)
		next.inside, next.at, next.size, next.depth = around, packed.PackedAt, packed.PackedSize, around.depth+1
	} else {
		found := s.locate(l.Path, b, s.single)
		if len(found.Names) == 0 {
			return nil
		}
		next.path = found.Path
	}
	if known, ok := s.blends[next.key()]; ok {
		return known
	}
	if len(s.blends) >= s.o.MaxBlends {
		s.partial = true
		return nil
	}
	s.blends[next.key()] = next
	return next
}

// packedIn are the packed libraries of a .blend by their places.
func (s *search) packedIn(b *blend) map[string]blendfile.Library {
	all := map[string]blendfile.Library{}
	for _, l := range b.open.Libraries() {
		if l.Packed {
			place, _ := s.placeOf(l.Path, b.path)
			all[place] = l
		}
	}
	return all
}

// packedLibrary is a library as it is packed in a .blend: its own one, or the main one, whose
// libraries stand for all of the same place.
func (s *search) packedLibrary(b *blend, l blendfile.Library) (packed blendfile.Library, in *blend, ok bool) {
	if l.Packed {
		return l, b, true
	}
	place, _ := s.placeOf(l.Path, b.path)
	packed, ok = s.packed[place]
	return packed, s.main, ok
}

// key distinguishes a .blend from others: a packed one can have the place of another
// file.
func (b *blend) key() string {
	if b.inside == nil {
		return b.path
	}
	return b.path + "\x00" + b.inside.key()
}

// placeOf is where a path of a .blend leads. A path that Blender counts from its working
// directory is taken to mean the folder of the main file: there workers start it.
func (s *search) placeOf(stored, blend string) (place string, relative bool) {
	place, relative = placeOf(stored, folderOf(blend))
	if !relative {
		place = under(folderOf(s.main.path), place)
	}
	return place, relative
}
