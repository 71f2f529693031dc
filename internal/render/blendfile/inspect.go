package blendfile

import (
	"io"
	"slices"
	"strings"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
	"svc.example/internal/render/sequence"
	"svc.example/internal/render/settings"
)

// Inspect reads a .blend from r in one forward pass and returns its facts. It stops
// at the end mark unless o.ReadAll is set, though it may have read up to two
// buffers of 64 KiB beyond. It keeps no reference to r, and may be called
// concurrently.
//
// Errors: [ErrNotBlend], [TruncatedError], [DamagedError], [TooLargeError],
// [UnsupportedError], each with the place and the reason; [ErrBusy]; or the error of r,
// wrapped, so that a broken connection is never taken for a damaged file.
func Inspect(r io.Reader, o Options) (*Facts, error) { return InspectAs(r, o, settings.Settings{}) }

// InspectAs is Inspect of a file that is rendered with the settings of an order. Errors: those
// of Inspect and of Opened.Choose.
func InspectAs(r io.Reader, o Options, s settings.Settings) (*Facts, error) {
	opened, err := Open(r, o)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if err := opened.Choose(s); err != nil {
		return nil, err
	}
	facts, err := opened.Facts()
	if err != nil {
		return nil, err
	}
	if o.ReadAll {
		if err := opened.file.ReadAll(); err != nil {
			return nil, err
		}
	}
	facts.Unpacked = opened.Unpacked()
	return facts, nil
}

// file is a .blend whose facts are gathered.
type file struct {
	*records.File
	reach     *reach.Set            // what the picture comes from; nil = not known
	heard     map[uint64]bool       // what the sequencer plays in the movie that is written, by address; nil where it has no sound
	sims      []found               // what runs from frame to frame in the active scene
	moved     map[string]Simulation // what worlds of other files move: see Opened.Move
	lastFrame int                   // of the active scene
	scripts   bool                  // a scene of another file shades by them: see Opened.Show
	answer    int                   // bytes of the answer that blocks could share: see spend
	chosen    chosen
	active    uint64 // address of a scene that was chosen; 0 for the file's own

	frameUses      map[uint64][]sequence.Use // see uses
	imageSequences map[uint64]bool           // see sequences
	cyclesOf       map[uint64]cycles         // of scenes, by address
	sampleCurves   map[uint32][]sampleCurve
}

// answerBudget bounds the parts of the answer that are made of blocks which many
// others may point to: without it a small file could give a huge answer.
const (
	answerBudget = 2 << 20
	entryCost    = 128
)

// spend takes n bytes and the cost of an entry from the answer's budget, and
// reports whether they were left.
func (f *file) spend(n int) bool {
	f.answer += n + entryCost
	return f.answer <= answerBudget
}

// render finds what the active scene comes from. The reach is nil where there is none, or it is
// not known.
func (f *file) render(active records.Record, found bool) {
	f.reach, f.heard = nil, nil // nothing is heard
	if !found {
		return
	}
	f.reach = reach.Of(f.File, active, f.chosen.Chosen)
	if _, movie := outputFormat(active); movie && active.Int("r.ffcodecdata.audio_codec") != 0 {
		f.heard = reach.Sounds(f.File, active)
	}
}

// gather puts the facts together. Whatever a member's reader found wrong is
// returned at the end.
func (f *file) gather(active records.Record, found bool) (*Facts, error) {
	var scene *Scene
	var rendering *Rendering
	if found {
		f.sims = f.simulations(active.Int("r.efra"))
		scene = f.scene(active) // first of all that has a part of the answer's bytes
		rendering = f.rendering(active, scene)
	}
	facts := &Facts{
		Scene:           scene,
		Rendering:       rendering,
		FileVersion:     f.Version,
		FileSubversion:  f.subversion(),
		BuildHash:       buildHash(f.Global),
		PointerBits:     8 * f.Pointer,
		BigEndian:       f.BigEndian,
		Compression:     f.Compression(),
		SceneCount:      f.sceneCount(),
		Scenes:          f.sceneNames(),
		Cameras:         f.cameraNames(),
		LinkedLibraries: f.libraries(),
		Externals:       f.externals(),
		MissingData:     []MissingData{},
		Texts:           f.texts(),
		PythonDrivers:   f.pythonDrivers(),
		Scripted:        f.scripted(),
		EmptyImages:     f.emptyImages(),
		WorldVolume:     f.reach.WorldVolume(),
		Simulations:     f.simulationFacts(),
		Thumbnail:       f.Thumbnail,
	}
	if found {
		scene.Colors = f.colors(active, rendering.Sequenced)
	}
	facts.MissingFiles = missing(facts.LinkedLibraries, facts.Externals)
	facts.Packed = f.packed(facts.Externals)
	facts.Partial = f.partial()
	return facts, f.Err()
}

// buildHash is the commit that the saving Blender was built from. Builds that
// do not know it write "unknown".
func buildHash(global records.Record) string {
	if h := strings.TrimSpace(global.Text("build_hash")); h != "unknown" {
		return h
	}
	return ""
}

// sceneCount counts the scenes of the file and those it links.
func (f *file) sceneCount() int {
	n := 0
	for range f.Facts("SC", "Scene") {
		n++
	}
	for r := range f.Facts("ID", "ID") {
		if strings.HasPrefix(r.Text("name"), "SC") {
			n++
		}
	}
	return n
}

// emptyImages lists the image nodes without an image that the picture comes from.
func (f *file) emptyImages() []EmptyImage {
	all := []EmptyImage{}
	for owner, node := range f.reach.EmptyImages {
		e := EmptyImage{Node: node, Owner: f.called(owner)}
		if !f.spend(len(e.Node) + len(e.Owner)) {
			break
		}
		all = append(all, e)
	}
	return all
}

// partial names the lists that lost entries to the memory bound.
func (f *file) partial() []string {
	lists := []string{}
	for lost := range f.Lost {
		list := "externals"
		switch lost {
		case "ChannelDriver", "FCurve", "DriverVar":
			list = "python_drivers"
		case "Library":
			list = "linked_libraries"
		case "Text":
			list = "texts"
		case "Camera":
			list = "cameras"
		case "Scene":
			list = "scenes"
		case "Simulation":
			list = "simulations"
		}
		if !slices.Contains(lists, list) {
			lists = append(lists, list)
		}
	}
	slices.Sort(lists)
	return lists
}
