package blendfile

// Sources of an image (Image.source) that stand for a file. 4 is generated, 5 a
// render's result; 0 is from before 2.42, which knew only single pictures.
const (
	imageUnsaid   = 0
	imageFile     = 1
	imageSequence = 2
	imageMovie    = 3
	imageTiled    = 6

	clipSequence = 1 // MovieClip.source
)

// externals lists every file that the data of this .blend draws on, except
// libraries. A file that two data-blocks want is listed twice, once with each
// owner.
func (f *file) externals() []External {
	all := []External{}
	add := func(r record, kind Kind, path string, packed bool) {
		if path == "" && !packed {
			return
		}
		e := External{Kind: kind, Path: path, Normalised: NormalisePath(path), Packed: packed, Owner: f.ownerName(r), needed: f.needed(r, kind)}
		if e.needed && !packed {
			e.usedBy = f.user(r)
		}
		if !f.spend(len(e.Path) + len(e.Normalised) + len(e.Owner) + len(e.usedBy)) {
			f.lost["External"] = true
			return
		}
		all = append(all, e)
	}
	f.images(add)
	f.otherData(add)
	f.strips(add)
	f.simulations(add)
	f.shaders(add)
	return append(all, f.linkedFiles()...)
}

// needed reports whether a picture can show a file of a data-block. No picture shows a
// sound.
func (f *file) needed(r record, kind Kind) bool {
	if kind == KindSound {
		return false
	}
	if r.l.Name == "Sequence" && f.reach != nil && r.kept.owner > 0 {
		return f.reach.sequenced[uint32(r.kept.owner)]
	}
	return f.reach.rendered(r)
}

// user names what uses a data-block first, such as "material Floor"; "" when that is not
// known or is the data-block itself.
func (f *file) user(r record) string {
	if f.reach == nil {
		return ""
	}
	at := uint32(r.kept.owner)
	by, ok := f.reach.seen[at]
	if !ok || by == at {
		return ""
	}
	return f.called(by)
}

// called names a data-block with its kind, such as "material Floor".
func (f *file) called(ordinal uint32) string {
	kind := kindNames()[f.reach.g.code(ordinal)]
	for _, g := range []group{inNames, inHeads, inFacts, inTrees} {
		if k, ok := f.indexed(g).first(int(ordinal)); ok {
			return kind + " " + f.headName(k)
		}
	}
	return kind
}

// kindNames is what an artist calls the data-blocks of a code.
func kindNames() map[string]string {
	return map[string]string{
		"AC": "action", "AR": "armature", "CA": "camera", "CU": "curve", "CV": "curves", "GD": "grease pencil", "GR": "collection", "HA": "hair", "IM": "image",
		"KE": "shape keys", "LA": "light", "LP": "light probe", "LS": "line style", "LT": "lattice", "MA": "material", "MB": "metaball",
		"ME": "mesh", "NT": "node group", "OB": "object", "PA": "particle settings", "PT": "point cloud", "SC": "scene", "SK": "speaker", "TE": "texture", "VO": "volume", "WO": "world",
	}
}

// adder takes one external file that the data-block of r wants. An empty path
// stands for no file.
type adder func(r record, kind Kind, path string, packed bool)

// images adds the images that stand for files. A movie or a sequence may be packed
// picture by picture, which is a list of its own.
func (f *file) images(add adder) {
	kinds := map[int]Kind{imageUnsaid: KindImage, imageFile: KindImage, imageSequence: KindImageSequence, imageMovie: KindMovie, imageTiled: KindImageTiles}
	for r := range f.facts("IM", "Image") {
		kind, ok := kinds[r.int("source")]
		if ok {
			packed := r.ptr("packedfile") != 0 || r.ptr("packedfiles.first") != 0
			add(r, kind, pathOf(r), packed)
		}
	}
}

// pathOf reads a data-block's path. On disk it is still called name where it
// ever was; then filepath, where both are there, is where it was last found.
func pathOf(r record) string {
	if r.has("name") {
		return r.text("name")
	}
	return r.text("filepath")
}

// otherData adds the data-blocks of other kinds that stand for files. Blender's
// built-in font is none.
func (f *file) otherData(add adder) {
	for r := range f.facts("VF", "VFont") {
		if path := pathOf(r); path != "<builtin>" {
			add(r, KindFont, path, r.ptr("packedfile") != 0)
		}
	}
	for r := range f.facts("SO", "bSound") {
		add(r, KindSound, pathOf(r), r.ptr("packedfile") != 0)
	}
	for r := range f.facts("CF", "CacheFile") {
		add(r, KindCache, pathOf(r), false)
	}
	for r := range f.facts("VO", "Volume") {
		add(r, KindVolume, pathOf(r), r.ptr("packedfile") != 0)
	}
	for r := range f.facts("MC", "MovieClip") {
		kind := KindMovie
		if r.int("source") == clipSequence {
			kind = KindImageSequence
		}
		add(r, kind, pathOf(r), false)
	}
}

// Types of sequencer strips that name files themselves. Sound strips of 2.50 and
// later name a sound data-block.
const (
	stripImage   = 0
	stripMovie   = 3
	stripHDSound = 5
)

// strips adds the files of the sequencer. It stops once the answer is full, because
// a strip costs several look-ups.
func (f *file) strips(add adder) {
	for k := range f.held(inScene, "Sequence").all() {
		if f.answer > answerBudget {
			return
		}
		r := f.record(k, "Sequence")
		strip := r.follow("strip", "Strip")
		element := strip.follow("stripdata", "StripElem")
		path := strip.text("dir") + element.text("name")
		switch r.int("type") {
		case stripImage:
			kind := KindImage
			// The pictures of a strip are an array of elements in one block.
			if element.kept.count > 1 {
				kind = KindImageSequence
			}
			add(r, kind, path, false)
		case stripMovie:
			add(r, KindMovie, path, false)
		case stripHDSound:
			add(r, KindSound, path, false)
		}
	}
}

const (
	pointCacheExternal = 1 << 9 // PointCache.flag
	// FluidDomainSettings.cache_flag: data, noise, mesh, particles or guiding
	// are baked. Without, there is a folder's name but nothing in the folder.
	fluidBaked = 1<<1 | 1<<3 | 1<<5 | 1<<7 | 1<<9
)

// simulations adds the caches that simulations and modifiers read. A folder that
// nothing was baked into is not wanted: Blender simulates then.
func (f *file) simulations(add adder) {
	for r := range f.everywhere("MeshCacheModifierData") {
		add(r, KindCache, r.text("filepath"), false)
	}
	for r := range f.everywhere("OceanModifierData") {
		if r.int("cached") != 0 {
			add(r, KindCache, r.text("cachepath"), false)
		}
	}
	for r := range f.everywhere("FluidDomainSettings") {
		if r.int("cache_flag")&fluidBaked != 0 {
			add(r, KindCache, r.text("cache_directory"), false)
		}
	}
	for r := range f.everywhere("PointCache") {
		if r.int("flag")&pointCacheExternal != 0 {
			add(r, KindCache, r.text("path"), false)
		}
	}
}

// shaders adds the files that shader nodes name: Open Shading Language scripts and
// IES lights.
func (f *file) shaders(add adder) {
	for r := range f.everywhere("NodeShaderScript") {
		add(r, KindScript, r.text("filepath"), false)
	}
	for r := range f.everywhere("NodeShaderTexIES") {
		add(r, KindLight, r.text("filepath"), false)
	}
}

// linkedFiles lists data that lies in a library and stands for a file there.
// Where that file is only the library knows.
func (f *file) linkedFiles() []External {
	kinds := map[string]Kind{"IM": KindImage, "VF": KindFont, "SO": KindSound, "CF": KindCache, "VO": KindVolume, "MC": KindMovie}
	var all []External
	for r := range f.facts("ID", "ID") {
		code := r.text("name")
		if len(code) < 2 {
			continue
		}
		if kind, ok := kinds[code[:2]]; ok {
			if !f.spend(len(r.name())) {
				f.lost["External"] = true
				return all
			}
			all = append(all, External{Kind: kind, Owner: r.name(), Linked: true})
		}
	}
	return all
}

// libraries lists the other .blend files that this one links from. From 5.0 data
// of a library can be packed: an archive then stands for it beside the library
// itself, which is wanted no more unless something is still linked from it.
func (f *file) libraries() []Library {
	linked, archived := map[uint64]bool{}, map[uint64]bool{}
	for r := range f.facts("ID", "ID") {
		linked[r.ptr("lib")] = true
	}
	for r := range f.facts("LI", "Library") {
		archived[r.ptr("archive_parent_library")] = true
	}
	all, known, users := []Library{}, map[string]bool{}, f.neededLibraries()
	for r := range f.facts("LI", "Library") {
		path, at := pathOf(r), r.kept.addr
		if archive := r.ptr("archive_parent_library") != 0; !archive {
			// Blender takes two of one path for one, which old versions wrote.
			if known[NormalisePath(path)] {
				continue
			}
			known[NormalisePath(path)] = true
		}
		if !f.spend(2 * len(path)) {
			f.lost["Library"] = true
			break
		}
		by, needed := users[at]
		l := Library{Name: r.name(), Path: path, Normalised: NormalisePath(path), Needed: needed || f.reach == nil}
		if needed {
			l.usedBy = f.user(by)
		}
		l.Packed = r.ptr("packedfile") != 0 || r.ptr("archive_parent_library") != 0 || archived[at] && !linked[at]
		all = append(all, l)
	}
	return all
}

// neededLibraries finds the libraries that the picture comes from, by address, with a
// data-block that is in each.
func (f *file) neededLibraries() map[uint64]record {
	needed := map[uint64]record{}
	if f.reach == nil {
		return needed
	}
	for r := range f.facts("ID", "ID") {
		if _, known := needed[r.ptr("lib")]; !known && f.reach.needs[uint32(r.kept.owner)] {
			needed[r.ptr("lib")] = r
		}
	}
	// A library of a library counts as that one does.
	parents := map[uint64]uint64{}
	for r := range f.facts("LI", "Library") {
		parents[r.kept.addr] = r.ptr("parent")
	}
	for addr, parent := range parents {
		for range maxTreeNesting {
			if r, ok := needed[parent]; ok {
				if _, known := needed[addr]; !known {
					needed[addr] = r
				}
				break
			}
			parent = parents[parent]
		}
	}
	return needed
}

// missing lists what an upload of the .blend alone cannot contain and the picture needs:
// what is not packed. Data that lies in a library is left out, since the library itself is
// listed.
func missing(libraries []Library, externals []External) []MissingFile {
	all := []MissingFile{}
	for _, l := range libraries {
		if !l.Packed && l.Needed {
			all = append(all, MissingFile{Kind: KindLibrary, Path: l.Path, Owner: l.Name, UsedBy: l.usedBy})
		}
	}
	for _, e := range externals {
		if !e.Packed && !e.Linked && e.needed {
			all = append(all, MissingFile{Kind: e.Kind, Path: e.Path, Owner: e.Owner, UsedBy: e.usedBy})
		}
	}
	return all
}

const textRegisters = 1 << 4 // Text.flags

// texts lists the text data-blocks, whose contents are not read.
func (f *file) texts() []Text {
	all := []Text{}
	for r := range f.facts("TX", "Text") {
		if !f.spend(len(r.name())) {
			f.lost["Text"] = true
			break
		}
		all = append(all, Text{Name: r.name(), Registers: r.int("flags")&textRegisters != 0})
	}
	return all
}
