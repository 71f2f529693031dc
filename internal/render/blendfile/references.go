package blendfile

import (
	"slices"
	"strconv"
	"strings"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
	"svc.example/internal/render/sequence"
)

// Level says how much a picture has to do with something.
type Level = reach.Level

// The levels.
const (
	None     = reach.None
	Loaded   = reach.Loaded
	Computed = reach.Computed
	Drawn    = reach.Drawn
)

// Reference is what a .blend says of another file: the path, and what it takes to find all
// files that it stands for.
type Reference struct {
	External
	Level  Level
	UsedBy string // what uses the data-block, such as "material Floor"; "" when it is not known
	// In is the stored path of the library that the data-block was packed out of; "" for
	// one of this file. Its paths count from there.
	In       string
	Tiles    []int          // of image tiles: the numbers of the set
	Names    []string       // of a strip: the names of its pictures, all in the folder of Path
	More     bool           // Names is incomplete
	Uses     []sequence.Use // of numbered files: how the picture shows them; none = not known
	Numbered bool           // a volume or a cache of one file for each frame
	Bake     *Bake          // of a folder that something was baked to

	aside bool // not an External: nothing in the picture shows that it exists
}

// Bake says which files of a folder belong to a cache.
type Bake struct {
	Implied  bool     // the folder is named for the .blend: Path is empty
	OfMain   bool     // ... for the main file, also in a library
	Prefixes []string // how the names of its files begin; one of "" is any
	Folders  []string // where it has folders: those that belong to it, with all that is in them
	Numbers  bool     // its folders have numbers as names
	Baked    bool     // Blender reads it rather than to compute it again
}

const (
	mostUses       = 16 // of one sequence
	imageTileFirst = 1001
	imageUserCycle = 1 // ImageUser.cycl
	maxTiles       = 10000
)

// references lists every file that the data of this .blend refers to, except libraries.
func (f *file) references() []Reference {
	all := []Reference{}
	libraries := f.packedFrom()
	add := func(r records.Record, kind Kind, path string, packed bool) *Reference {
		ref := Reference{External: External{Kind: kind, Path: path, Normalised: NormalisePath(path), Packed: packed, Owner: f.OwnerName(r), needed: f.needed(r, kind)}}
		ref.Level, ref.In = f.level(r, ref.needed), libraries(r)
		if ref.needed && !packed {
			ref.UsedBy = f.user(r)
			ref.usedBy = ref.UsedBy
		}
		if path == "" && !packed {
			return &ref
		}
		if !f.spend(len(path) + len(ref.Normalised) + len(ref.Owner) + len(ref.UsedBy)) {
			f.Lost["External"] = true
			return &ref
		}
		all = append(all, ref)
		return &all[len(all)-1]
	}
	f.images(add)
	f.otherData(add)
	f.strips(add)
	f.modifierCaches(add)
	f.bakes(add)
	f.shaders(add)
	return all
}

// level is that of a reference whose data-block is at least loaded.
func (f *file) level(r records.Record, needed bool) Level {
	if needed {
		return Drawn
	}
	if f.reach == nil {
		return Loaded
	}
	return min(f.reach.LevelOf(r), Computed)
}

// packedFrom finds the library that a data-block was packed out of, as Blender does from
// 5.0 on.
func (f *file) packedFrom() func(r records.Record) string {
	paths := map[uint64]string{}
	for r := range f.Facts("LI", "Library") {
		if r.Ptr("archive_parent_library") != 0 {
			paths[r.Addr()] = pathOf(r)
		}
	}
	return func(r records.Record) string {
		if len(paths) == 0 {
			return ""
		}
		if lib := r.Ptr("id.lib"); lib != 0 {
			return paths[lib]
		}
		return paths[f.Head(r.Owner(), "Object").Ptr("id.lib")]
	}
}

// imageFacts adds what an image says of its tiles and its users of a sequence.
func (f *file) imageFacts(r records.Record, ref *Reference) {
	switch ref.Kind {
	case KindImageTiles:
		if f.Gone(r, "ImageTile") {
			return
		}
		for tile := range r.List("tiles", "ImageTile") {
			if n := tile.Int("tile_number"); n >= imageTileFirst && n < imageTileFirst+maxTiles && f.spend(0) {
				ref.Tiles = append(ref.Tiles, n)
			}
		}
		if len(ref.Tiles) == 0 {
			ref.Tiles = []int{imageTileFirst}
		}
	case KindImageSequence:
		ref.Uses = f.uses()[r.Addr()]
	}
}

// stripNames adds the names of a strip's pictures.
func (f *file) stripNames(element records.Record, ref *Reference) {
	if element.Count() < 2 {
		return
	}
	for e := range element.Each() {
		name := e.Text("name")
		if !f.spend(len(name)) {
			break
		}
		ref.Names = append(ref.Names, name)
	}
	ref.More = int64(len(ref.Names)) < element.Count()
}

// uses finds how the nodes and textures that the picture comes from show the sequences of the
// file, by the address of the image. It is empty when some of it was given up, or when it is animated.
func (f *file) uses() map[uint64][]sequence.Use {
	if f.frameUses != nil {
		return f.frameUses
	}
	all := map[uint64][]sequence.Use{}
	f.frameUses = map[uint64][]sequence.Use{}
	if f.usesUnknown() {
		return f.frameUses
	}
	note := func(image uint64, r records.Record, at string) {
		if image == 0 || !r.Has(at+"frames") || len(all[image]) == mostUses {
			return
		}
		use := sequence.Use{Start: r.Int(at + "sfra"), Frames: r.Int(at + "frames"), Offset: r.Int(at + "offset"), Rule: sequence.Hold}
		if r.Int(at+"cycl")&imageUserCycle != 0 {
			use.Rule = sequence.Cycle
		}
		if !slices.Contains(all[image], use) {
			all[image] = append(all[image], use)
		}
	}
	for n := range f.Everywhere("bNode") {
		id := n.Ptr("id")
		if !f.sequences()[id] || n.Int("flag")&reach.NodeMuted != 0 || !f.reach.NodeUsed(n, n.Text("name")) {
			continue
		}
		for as, at := range map[string]string{"NodeTexImage": "iuser.", "NodeTexEnvironment": "iuser.", "ImageUser": ""} {
			if s := n.Follow("storage", as); s.OK() {
				note(id, s, at)
			}
		}
	}
	textures, _ := f.Heads("TE", "Tex")
	for r := range textures {
		if f.sequences()[r.Ptr("ima")] && f.reach.Rendered(r) {
			note(r.Ptr("ima"), r, "iuser.")
		}
	}
	f.frameUses = all
	return all
}

// usesUnknown reports whether some of what uses reads was given up, or is animated.
func (f *file) usesUnknown() bool {
	for _, as := range []string{"bNode", "NodeTexImage", "NodeTexEnvironment", "ImageUser", "FCurve"} {
		for _, p := range []records.Part{records.InScenes, records.InTrees, records.InOthers} {
			if f.GoneIn(p, as) {
				return true
			}
		}
	}
	if _, whole := f.Heads("TE", "Tex"); !whole {
		return true
	}
	for c := range f.Everywhere("FCurve") {
		if path := records.CString(f.Raw(c, c.Ptr("rna_path"))); strings.Contains(path, "image_user") || strings.HasPrefix(path, "nodes") && strings.Contains(path, "].frame_") {
			return true
		}
	}
	return false
}

// volumeRule is the rule of a volume's sequence (Volume.sequence_mode).
func volumeRule(mode int) sequence.Rule {
	rules := []sequence.Rule{sequence.Clip, sequence.Extend, sequence.Cycle, sequence.PingPong}
	if mode < 0 || mode >= len(rules) {
		return sequence.Clip
	}
	return rules[mode]
}

// volumeUses is how a volume of several files is shown.
func (f *file) volumeUses(r records.Record) []sequence.Use {
	if r.Int("is_sequence") == 0 || !f.byFrame() {
		return nil
	}
	return []sequence.Use{{Start: r.Int("frame_start"), Frames: r.Int("frame_duration"), Offset: r.Int("frame_offset"), Rule: volumeRule(r.Int("sequence_mode"))}}
}

// clipUses is how a movie clip of numbered pictures is shown: Blender adds the frame to the
// number that its path has, and shows nothing where that number is missing. How many pictures
// a clip has follows from the folder (sequence.ToTheLast).
func (f *file) clipUses(r records.Record, path string) []sequence.Use {
	_, digits, _ := sequence.Split(path[strings.LastIndexAny(path, `/\`)+1:], false)
	first, err := strconv.Atoi(digits)
	if err != nil || !r.Has("start_frame") || !f.byFrame() {
		return nil
	}
	return []sequence.Use{{Start: r.Int("start_frame"), Frames: sequence.ToTheLast, Offset: first - 1 + r.Int("frame_offset"), Rule: sequence.Clip}}
}

// byFrame reports whether volumes and clips show in each frame what their stored numbers say:
// nothing animates them, and no scene has another time than its frame.
func (f *file) byFrame() bool {
	if f.GoneIn(records.InOthers, "FCurve") {
		return false
	}
	for s := range f.Facts("SC", "Scene") {
		if s.Int("r.framapto") != s.Int("r.images") {
			return false
		}
	}
	for c := range f.DataIn(records.InOthers, "FCurve") {
		if path := records.CString(f.Raw(c, c.Ptr("rna_path"))); strings.HasPrefix(path, "frame_") {
			return false
		}
	}
	return true
}

// sequences are the images that are sequences, by address.
func (f *file) sequences() map[uint64]bool {
	if f.imageSequences == nil {
		f.imageSequences = map[uint64]bool{}
		for r := range f.Facts("IM", "Image") {
			if r.Int("source") == imageSequence {
				f.imageSequences[r.Addr()] = true
			}
		}
	}
	return f.imageSequences
}
