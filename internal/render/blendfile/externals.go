package blendfile

import (
	"strings"

	"svc.example/internal/render/blendfile/reach"
	"svc.example/internal/render/blendfile/records"
)

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
	for _, r := range f.references() {
		if !r.aside {
			all = append(all, r.External)
		}
	}
	return append(all, f.linkedFiles()...)
}

// needed reports whether a picture can show a file of a data-block, or a movie has its sound.
func (f *file) needed(r records.Record, kind Kind) bool {
	if kind == KindSound { // speakers of a library are seen as its other objects are
		return f.heard != nil && (f.heard[r.Addr()] || f.reach.Rendered(r))
	}
	if r.Struct() == "Sequence" {
		return f.reach.Shows(r)
	}
	switch kind {
	case KindScript:
		return f.reach.Uses(r) && f.shadesByScripts()
	case KindLight:
		return f.reach.Uses(r)
	}
	return f.reach.Rendered(r)
}

// shadesByScripts reports whether a rendered scene switches Open Shading Language on, here or
// in the file that shows this one. Without it, Cycles leaves its nodes out.
func (f *file) shadesByScripts() bool {
	if f.scripts {
		return true
	}
	for r := range f.Facts("SC", "Scene") {
		if f.reach.Rendered(r) && f.cycles(r).scripts {
			return true
		}
	}
	return false
}

// user names what uses a data-block first, such as "material Floor"; "" when that is not
// known or is the data-block itself.
func (f *file) user(r records.Record) string {
	by, ok := f.reach.User(r)
	if !ok {
		return ""
	}
	return f.called(by)
}

// called names a data-block with its kind, such as "material Floor".
func (f *file) called(ordinal uint32) string {
	return strings.TrimRight(kindNames()[f.reach.Code(ordinal)]+" "+f.NameOf(ordinal), " ")
}

// KindName is what an artist calls the data-blocks of a code; "" for others.
func KindName(code string) string { return kindNames()[code] }

// kindNames is what an artist calls the data-blocks of a code.
func kindNames() map[string]string {
	return map[string]string{
		"AC": "action", "AR": "armature", "CA": "camera", "CF": "cache file", "CU": "curve", "CV": "curves", "GD": "grease pencil", "GP": "grease pencil", "GR": "collection",
		"HA": "hair", "IM": "image", "KE": "shape keys", "LA": "light", "LP": "light probe", "LS": "line style", "LT": "lattice", "MA": "material", "MB": "metaball",
		"MC": "movie clip", "ME": "mesh", "MS": "mask", "NT": "node group", "OB": "object", "PA": "particle settings", "PT": "point cloud", "SC": "scene", "SI": "simulation",
		"SK": "speaker", "SO": "sound", "TE": "texture", "TX": "text", "VF": "font", "VO": "volume", "WO": "world",
	}
}

// adder takes one external file that the data-block of r wants. An empty path
// stands for no file.
type adder func(r records.Record, kind Kind, path string, packed bool) *Reference

// images adds the images that stand for files. A movie or a sequence may be packed
// picture by picture, which is a list of its own.
func (f *file) images(add adder) {
	kinds := map[int]Kind{imageUnsaid: KindImage, imageFile: KindImage, imageSequence: KindImageSequence, imageMovie: KindMovie, imageTiled: KindImageTiles}
	for r := range f.Facts("IM", "Image") {
		kind, ok := kinds[r.Int("source")]
		if ok {
			packed := r.Ptr("packedfile") != 0 || r.Ptr("packedfiles.first") != 0
			f.imageFacts(r, add(r, kind, pathOf(r), packed))
			f.eyes(r, kind, packed, add)
		}
	}
}

// eyes adds the files of a stereo image that has one for each eye. No Blender opens the second one
// without a window; the image itself is the file of the first.
func (f *file) eyes(r records.Record, kind Kind, packed bool, add adder) {
	if r.Ptr("views.first") == 0 || f.Gone(r, "ImageView") {
		return
	}
	for view := range r.List("views", "ImageView") {
		if path := view.Text("filepath"); path != pathOf(r) {
			ref := add(r, kind, path, packed)
			ref.aside, ref.Level = true, min(ref.Level, Computed)
		}
	}
}

// pathOf reads a data-block's path. On disk it is still called name where it
// ever was; then filepath, where both are there, is where it was last found.
func pathOf(r records.Record) string {
	if r.Has("name") {
		return r.Text("name")
	}
	return r.Text("filepath")
}

// otherData adds the data-blocks of other kinds that stand for files. Blender's
// built-in font is none.
func (f *file) otherData(add adder) {
	for r := range f.Facts("VF", "VFont") {
		if path := pathOf(r); path != "<builtin>" {
			add(r, KindFont, path, r.Ptr("packedfile") != 0)
		}
	}
	for r := range f.Facts("SO", "bSound") {
		add(r, KindSound, pathOf(r), r.Ptr("packedfile") != 0)
	}
	for r := range f.Facts("CF", "CacheFile") {
		add(r, KindCache, pathOf(r), false).Numbered = r.Int("is_sequence") != 0
		if f.Gone(r, "CacheFileLayer") {
			continue
		}
		for layer := range r.List("layers", "CacheFileLayer") {
			add(r, KindCache, layer.Text("filepath"), false)
		}
	}
	for r := range f.Facts("VO", "Volume") {
		volume := add(r, KindVolume, pathOf(r), r.Ptr("packedfile") != 0)
		volume.Numbered, volume.Uses = r.Int("is_sequence") != 0, f.volumeUses(r)
	}
	for r := range f.Facts("MC", "MovieClip") {
		if path := pathOf(r); r.Int("source") == clipSequence {
			add(r, KindImageSequence, path, false).Uses = f.clipUses(r, path)
		} else {
			add(r, KindMovie, path, false)
		}
	}
	for r := range f.Everywhere("CustomDataExternal") {
		add(r, KindCache, r.Text("filename"), false)
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
	for r := range f.DataIn(records.InScenes, "Sequence") {
		if f.answer > answerBudget {
			return
		}
		strip := r.Follow("strip", "Strip")
		element := strip.Follow("stripdata", "StripElem")
		path := strip.Text("dir") + element.Text("name")
		switch r.Int("type") {
		case stripImage:
			kind := KindImage
			// The pictures of a strip are an array of elements in one block.
			if element.Count() > 1 {
				kind = KindImageSequence
			}
			f.stripNames(element, add(r, kind, path, false))
		case stripMovie:
			add(r, KindMovie, path, false)
		case stripHDSound:
			add(r, KindSound, path, false)
		}
	}
}

// modifierCaches adds the caches that modifiers read.
func (f *file) modifierCaches(add adder) {
	for r := range f.Everywhere("MeshCacheModifierData") {
		add(r, KindCache, r.Text("filepath"), false)
	}
	for r := range f.Everywhere("OceanModifierData") {
		if r.Int("cached") != 0 {
			add(r, KindCache, r.Text("cachepath"), false).Bake = &Bake{Prefixes: []string{"disp_", "foam_", "norm_", "spray_"}, Baked: true}
		}
	}
}

// shaderFileOutside is the mode of a script or a light whose text is not in the .blend.
const shaderFileOutside = 1

// shaders adds the files that shader nodes name: Open Shading Language scripts and
// IES lights.
func (f *file) shaders(add adder) {
	for r := range f.Everywhere("NodeShaderScript") {
		if r.Int("mode") == shaderFileOutside {
			add(r, KindScript, r.Text("filepath"), false)
		}
	}
	for r := range f.Everywhere("NodeShaderTexIES") {
		if r.Int("mode") == shaderFileOutside {
			add(r, KindLight, r.Text("filepath"), false)
		}
	}
}

// linkedFiles lists data that lies in a library and stands for a file there.
// Where that file is only the library knows.
func (f *file) linkedFiles() []External {
	kinds := map[string]Kind{"IM": KindImage, "VF": KindFont, "SO": KindSound, "CF": KindCache, "VO": KindVolume, "MC": KindMovie}
	var all []External
	for r := range f.Facts("ID", "ID") {
		code := r.Text("name")
		if len(code) < 2 {
			continue
		}
		if kind, ok := kinds[code[:2]]; ok {
			if !f.spend(len(r.Name())) {
				f.Lost["External"] = true
				return all
			}
			all = append(all, External{Kind: kind, Owner: r.Name(), Linked: true})
		}
	}
	return all
}

// libraries lists the other .blend files that this one links from. From 5.0 data
// of a library can be packed: an archive then represents it next to the library
// itself, which is no longer needed unless something is still linked from it.
func (f *file) libraries() []Library {
	linked, archived := map[uint64]bool{}, map[uint64]bool{}
	for r := range f.Facts("ID", "ID") {
		linked[r.Ptr("lib")] = true
	}
	for r := range f.Facts("LI", "Library") {
		archived[r.Ptr("archive_parent_library")] = true
	}
	all, known, users := []Library{}, map[string]int{}, f.neededLibraries()
	numbers := map[uint64]int{}
	for r := range f.Facts("LI", "Library") {
		path, at := pathOf(r), r.Addr()
		if archive := r.Ptr("archive_parent_library") != 0; !archive {
			// Blender takes two of one path for one, which old versions wrote.
			if first, twice := known[NormalisePath(path)]; twice {
				all[first].addrs = append(all[first].addrs, at)
				numbers[at] = first
				continue
			}
			known[NormalisePath(path)] = len(all)
		}
		if !f.spend(2 * len(path)) {
			f.Lost["Library"] = true
			break
		}
		by, needed := users[at]
		l := Library{Name: r.Name(), Path: path, Normalised: NormalisePath(path), Needed: needed || f.reach == nil, Parent: -1, addrs: []uint64{at}}
		if needed {
			l.UsedBy = f.user(by)
		}
		var packed records.Record
		if !f.Gone(r, "PackedFile") {
			packed = r.Follow("packedfile", "PackedFile")
		}
		if offset, size, ok := f.Place(r, packed.Ptr("data")); ok {
			l.PackedAt, l.PackedSize = offset, min(size, int64(packed.Int("size")))
		}
		numbers[at] = len(all)
		l.Packed = r.Ptr("packedfile") != 0 || r.Ptr("archive_parent_library") != 0 || archived[at] && !linked[at]
		all = append(all, l)
	}
	for r := range f.Facts("LI", "Library") {
		number, ok := numbers[r.Addr()]
		if parent, known := numbers[r.Ptr("parent")]; ok && known && parent != number {
			all[number].Parent = parent
		}
	}
	return all
}

// neededLibraries finds the libraries that the picture comes from, by address, with a
// data-block that is in each.
func (f *file) neededLibraries() map[uint64]records.Record {
	needed := map[uint64]records.Record{}
	if f.reach == nil {
		return needed
	}
	for r := range f.Facts("ID", "ID") {
		if _, known := needed[r.Ptr("lib")]; !known && f.reach.Computed(r) {
			needed[r.Ptr("lib")] = r
		}
	}
	// A library of a library counts as that one does.
	parents := map[uint64]uint64{}
	for r := range f.Facts("LI", "Library") {
		parents[r.Addr()] = r.Ptr("parent")
	}
	for addr, parent := range parents {
		for range reach.MaxNesting {
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
			all = append(all, MissingFile{Kind: KindLibrary, Path: l.Path, Owner: l.Name, UsedBy: l.UsedBy})
		}
	}
	for _, e := range externals {
		if !e.Packed && !e.Linked && e.needed {
			all = append(all, MissingFile{Kind: e.Kind, Path: e.Path, Owner: e.Owner, UsedBy: e.usedBy})
		}
	}
	return all
}

// packed lists what is packed and the picture needs.
func (f *file) packed(externals []External) (all []PackedFile) {
	for _, e := range externals {
		if e.Packed && e.needed {
			all = append(all, PackedFile{Kind: e.Kind, Path: e.Path, Owner: e.Owner})
		}
	}
	for r := range f.Everywhere("NodeShaderScript") {
		if r.Text("bytecode_hash") == "" || !f.needed(r, KindScript) {
			continue
		}
		owner := f.OwnerName(r)
		if !f.spend(len(owner)) {
			f.Lost["External"] = true
			break
		}
		all = append(all, PackedFile{Kind: KindScript, Owner: owner})
	}
	return all
}

const textRegisters = 1 << 4 // Text.flags

// texts lists the text data-blocks, whose contents are not read.
func (f *file) texts() []Text {
	all := []Text{}
	for r := range f.Facts("TX", "Text") {
		if !f.spend(len(r.Name())) {
			f.Lost["Text"] = true
			break
		}
		all = append(all, Text{Name: r.Name(), Registers: r.Int("flags")&textRegisters != 0})
	}
	return all
}
