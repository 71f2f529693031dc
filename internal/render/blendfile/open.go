package blendfile

import (
	"io"
	"maps"
	"slices"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
)

// Opened is a .blend that was read and is kept, to be asked which other files it refers to,
// and which of its data-blocks others use. Not safe for concurrent use.
type Opened struct {
	file   *file
	active records.Record
	scene  bool // there is an active one
	main   bool
}

// Linked is a data-block of a library that a .blend uses.
type Linked struct {
	Library int    // number in Libraries
	Name    string // with its code: "MAFloor"
	Level   Level
	UsedBy  string // what shows it, such as "object Hero"; "" where that is not known
	// World is the simulation of the rigid body world that moves it; nil where none does.
	World *Simulation
}

// Open reads a .blend as [Inspect] does, with the same errors, and keeps it until Close.
func Open(r io.Reader, o Options) (*Opened, error) {
	f, err := records.Open(r, o)
	if err != nil {
		return nil, err
	}
	opened := &Opened{file: &file{File: f, reach: reach.New(f)}}
	opened.active, opened.scene = opened.file.activeScene()
	if err := f.Err(); err != nil {
		f.Close()
		return nil, err
	}
	return opened, nil
}

// Section reads a part of a .blend: a packed library, by the place that Libraries gives. r is
// read forward, and left to the caller.
func Section(r io.Reader, o Options, offset, size int64) (io.ReadCloser, error) {
	return records.Section(r, o, offset, size)
}

// Close gives the memory back.
func (f *Opened) Close() { f.file.Close() }

// Kept is how many bytes it holds.
func (f *Opened) Kept() int { return f.file.Kept() }

// Unpacked is how many bytes of the unpacked file were read.
func (f *Opened) Unpacked() int64 { return f.file.Unpacked() }

// SavedAs is the path that the file had where it was saved, up to 2.83; "" from then on. It
// can reveal who made the file: do not show it.
func (f *Opened) SavedAs() string { return f.file.Global.Text("filename") }

// Render says that the file is the main one: its active scene is rendered, and Blender
// loads all of it.
func (f *Opened) Render() {
	if f.main {
		return
	}
	f.main = true
	addr, named := f.file.activeAddress()
	if f.scene || !named {
		f.file.render(f.active, f.scene)
	} else if f.file.reach != nil {
		f.file.reach.LinkedScene(addr)
	}
	if f.file.reach != nil {
		f.file.reach.LoadAll()
	}
}

// ActiveLinked says where the active scene is that is in a library: the library's number in
// Libraries, and the scene's name; ok is false for a scene of the file itself.
func (f *Opened) ActiveLinked() (library int, name string, ok bool) {
	addr, named := f.file.activeAddress()
	if f.scene || !named {
		return 0, "", false
	}
	linked, _ := f.file.DataBlock("ID", "ID", addr)
	for i, l := range f.Libraries() {
		if slices.Contains(l.addrs, linked.Ptr("lib")) {
			return i, linked.Name(), true
		}
	}
	return 0, "", false
}

// ActiveScene is the address of the active scene, or of what stands for it where it is in a
// library; ok is false where there is none.
func (f *Opened) ActiveScene() (addr uint64, ok bool) {
	if addr, named := f.file.activeAddress(); named {
		return addr, true
	}
	return f.active.Addr(), f.scene
}

// SceneFacts gathers the facts of a file of which a scene is rendered that others name. They
// have no Scene where there is none of that name.
func (f *Opened) SceneFacts(name string) (*Facts, error) {
	f.active, f.scene = records.Record{}, false
	for r := range f.file.Facts("SC", "Scene") {
		if r.Name() == name {
			f.active, f.scene = r, true
		}
	}
	return f.Facts()
}

// LastFrameOf is the last frame of a scene of the file; 0 where there is none of that name.
func (f *Opened) LastFrameOf(scene string) int {
	for r := range f.file.Facts("SC", "Scene") {
		if r.Name() == scene {
			return r.Int("r.efra")
		}
	}
	return 0
}

// Enter says that another file uses a data-block, given by its name with code. One that is
// not known may be anywhere: then Blender may load all of the file.
func (f *Opened) Enter(name string, level Level) {
	if f.file.heard != nil && level == Drawn {
		f.hearScene(name)
	}
	if w := f.file.reach; w != nil && !w.Enter(name, level) {
		w.LoadAll()
	}
}

// Heard reports whether the scene that is rendered writes a movie with sound, according to Render.
func (f *Opened) Heard() bool { return f.file.heard != nil }

// hearScene plays the sequencer of a scene of the file, given by its name with code.
func (f *Opened) hearScene(name string) {
	for r := range f.file.Facts("SC", "Scene") {
		if "SC"+r.Name() == name {
			maps.Copy(f.file.heard, reach.Sounds(f.file.File, r))
		}
	}
}

// heardLinked are what stands for sounds and scenes of libraries that the sequencer plays.
func (f *Opened) heardLinked() map[uint32]bool {
	all := map[uint32]bool{}
	if len(f.file.heard) > 0 {
		for r := range f.file.Facts("ID", "ID") {
			if f.file.heard[r.Addr()] {
				all[r.Owner()] = true
			}
		}
	}
	return all
}

// Lacks reports whether the file has no data-block of a name with code, of what others may
// use. It is false where that is not known.
func (f *Opened) Lacks(name string) bool { return f.file.reach.Lacks(name) }

// Move says that a rigid body world of another file moves a data-block, an object or a
// collection of such, given by its name with code.
func (f *Opened) Move(name string, world Simulation) {
	if f.file.moved == nil {
		f.file.moved = map[string]Simulation{}
	}
	f.file.moved[name] = world
}

// ShadesByScripts reports whether a scene that is rendered switches Open Shading Language on,
// according to Render and Enter.
func (f *Opened) ShadesByScripts() bool {
	f.again()
	return f.file.shadesByScripts()
}

// Show says what a scene of another file, which shows what is in this one, does: it switches Open
// Shading Language on, or writes a movie with sound. Call it before Enter.
func (f *Opened) Show(scripts, sound bool) {
	f.file.scripts = scripts
	if sound {
		f.file.heard = map[uint64]bool{}
	}
}

// unknown is the level of what nothing is known about.
func (f *Opened) unknown() Level {
	if f.main {
		return Drawn
	}
	return Loaded
}

// Linked lists the data-blocks of libraries that the file uses, according to Render, Enter
// and Move.
func (f *Opened) Linked() []Linked {
	numbers := map[uint64]int{}
	for i, l := range f.Libraries() {
		for _, addr := range l.addrs {
			numbers[addr] = i
		}
	}
	var all []Linked
	moved, heard := f.file.movedHere(), f.heardLinked()
	for _, l := range f.file.reach.Linked(f.file.File, f.unknown()) {
		number, ok := numbers[l.Library]
		if !ok {
			continue
		}
		linked := Linked{Library: number, Name: l.Name, Level: l.Level}
		if heard[l.Ordinal] {
			linked.Level = Drawn
		}
		if l.User != 0 {
			linked.UsedBy = f.file.called(l.User)
		}
		if world, ok := moved[l.Ordinal]; ok {
			linked.World = &world
		}
		all = append(all, linked)
	}
	return all
}

// Libraries lists the libraries of the file. Their numbers are always the same.
func (f *Opened) Libraries() []Library {
	f.again()
	return f.file.libraries()
}

// References lists the files that the file refers to, except libraries.
func (f *Opened) References() []Reference {
	f.again()
	f.file.sims = f.file.simulations(f.LastFrame())
	all := f.file.references()
	if f.file.reach == nil && !f.main {
		for i := range all {
			all[i].Level = Loaded
		}
	}
	return all
}

// LastFrame is the last one of the active scene; 0 where there is none.
func (f *Opened) LastFrame() int { return f.active.Int("r.efra") }

// Simulations lists what runs from frame to frame, according to Render, Enter and Move.
// lastFrame is that of the scene that is rendered.
func (f *Opened) Simulations(lastFrame int) []Simulation {
	if f.file.reach == nil && !f.main {
		return nil // it is not known what of it is used
	}
	f.again()
	f.file.sims = f.file.simulations(lastFrame)
	return f.file.simulationFacts()
}

// Scripted lists the Python without which something of what Render and Enter named can be
// missing in the picture.
func (f *Opened) Scripted() []Script {
	if f.file.reach == nil && !f.main {
		return nil // it is not known what of it is used
	}
	f.again()
	return f.file.scripted()
}

// Spaces lists the colour spaces of images, movie clips and nodes, according to Render and
// Enter.
func (f *Opened) Spaces() []UsedSpace {
	if f.file.reach == nil && !f.main {
		return nil // it is not known what of it is used
	}
	f.again()
	return f.file.librarySpaces()
}

// WorldVolume reports whether a world with a volume is shown, by what was said by Render and
// Enter.
func (f *Opened) WorldVolume() bool { return f.file.reach.WorldVolume() }

// Packed lists what is packed in the file and needed by what was said by Render and Enter.
func (f *Opened) Packed() []PackedFile {
	if f.file.reach == nil && !f.main {
		return nil // it is not known what of it is used
	}
	f.again()
	f.file.sims = f.file.simulations(f.LastFrame())
	return f.file.packed(f.file.externals())
}

// again lets the file be asked once more.
func (f *Opened) again() {
	f.file.answer = 0
	f.file.Again()
}

// Partial reports whether References or Libraries may be incomplete because the file
// held more than is kept.
func (f *Opened) Partial() bool { return len(f.file.partial()) > 0 || f.file.Err() != nil }

// Facts gathers the facts of a file that is rendered.
func (f *Opened) Facts() (*Facts, error) {
	f.Render()
	return f.file.gather(f.active, f.scene)
}
