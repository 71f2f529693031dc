package contentkey

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"strings"
)

// digest hashes what counts in every frame: for each part by the places that pointers lead
// to, all together, and by names, to tell what differs between two revisions.
type digest struct {
	*reached
	animation *animation
	mentioned string         // paths of curves and drivers
	viewport  map[int32]bool // blocks of settings of the viewport
	ways      []*way
}

// way is one way to hash all parts together.
type way struct {
	local    bool // frames count apart from each other
	matrices bool // they count
	spans    bool // they count
	names    bool // all names count, not only those that this file shows to count
	hash     hash.Hash
}

func (w *way) key() (k Key) {
	w.hash.Sum(k[:0])
	return k
}

// all hashes every part in each way. The names are those of the data-blocks.
func (d *digest) all(ways ...*way) (named map[string]Key) {
	d.ways, named = ways, map[string]Key{}
	for _, w := range ways {
		w.hash = sha256.New()
		_, _ = fmt.Fprintln(w.hash, d.Version, d.subversion, d.Pointer, d.Order, len(d.parts))
	}
	for _, p := range d.parts {
		own := sha256.New()
		name := d.nameOf(p.owner)
		counts := d.nameCounts(p.owner, name)
		object := among(d.owners[p.owner].code, " OB GR ")
		for _, w := range ways {
			if counts || w.names || object && !w.local {
				_, _ = fmt.Fprintf(w.hash, "%q", name)
			}
		}
		for _, b := range d.order[p.first:p.last] {
			d.block(own, b, p.first)
		}
		for _, w := range ways {
			_, _ = fmt.Fprintln(w.hash, "end")
		}
		var k Key
		own.Sum(k[:0])
		if before, twice := named[name]; twice {
			k = sha256.Sum256(append(before[:], k[:]...))
		}
		named[name] = k
	}
	return named
}

// nameCounts reports whether the picture can come from the name of a data-block.
func (d *digest) nameCounts(owner int32, name string) bool {
	code := d.owners[owner].code
	switch {
	case strings.Contains(d.mentioned, name[2:]), code == "MA" && d.cryptomatte():
		return true
	case among(code, " OB GR "):
		return d.objectNames()
	}
	return !among(code, nameless)
}

// objectNames reports whether the picture can come from the names of objects and collections.
// Cycles makes the random numbers of Object Info of them, metaballs with one name flow together,
// Freestyle can run scripts, and passes and stamps show names.
func (d *digest) objectNames() bool {
	if d.namesRead || d.cryptomatte() || d.stamped() || d.freestyle() {
		return true
	}
	for _, p := range d.parts {
		if d.owners[p.owner].code == "MB" {
			return true
		}
	}
	return false
}

// cryptomatte reports whether a view layer has a pass of names.
func (d *digest) cryptomatte() bool {
	const passes = 1<<0 | 1<<1 | 1<<2 // ViewLayer.cryptomatte_flag: objects, materials, assets
	for _, b := range d.order {
		if of := d.structOf(b); of == "ViewLayer" && (d.extras[b] == nil || d.number(b, "cryptomatte_flag")&passes != 0) {
			return true
		}
	}
	return false
}

// block hashes a block, together with the others and in its part, which begins at first. Of
// its part, only what no other cause names counts: see Compare.
func (d *digest) block(own io.Writer, b int32, first int) {
	around := d.animation.around[b]
	extend := d.extend(b)
	switch {
	case d.viewport[b]:
		write(own, 'v')
	case around:
		write(own, 'k')
	default:
		write(own, d.blocks[b].sum[:]...)
		if !d.animation.extends[b] {
			write(own, extend...)
		}
		write(own, d.base(b, true)...)
		if x := d.extras[b]; x != nil {
			write(own, x.unset()...)
		}
		d.pointersOf(b, func(to int32) {
			if d.isHead(to) {
				_, _ = fmt.Fprintf(own, "%q", d.nameOf(d.blocks[to].owner))
				return
			}
			write(own, placed(int(d.place[to])-first, 2)...)
		}, own)
	}
	for _, w := range d.ways {
		switch {
		case d.viewport[b]:
			write(w.hash, 'v')
		case around && w.local:
			write(w.hash, 'k')
		default:
			if !w.local || !d.animation.extends[b] {
				write(w.hash, extend...)
			}
			write(w.hash, d.base(b, w.local)...)
			d.together(w, b)
		}
	}
}

// extend is how a curve runs beyond its keys; nothing for other blocks.
func (d *digest) extend(b int32) []byte {
	if d.structOf(b) != "FCurve" {
		return nil
	}
	return []byte{'x', byte(d.number(b, "extend"))}
}

// together hashes a block with the others.
func (d *digest) together(w *way, b int32) {
	write(w.hash, d.blocks[b].sum[:]...)
	if x := d.extras[b]; x != nil {
		if w.local {
			write(w.hash, x.unset()...)
		} else {
			write(w.hash, x.values...)
		}
		if w.spans {
			write(w.hash, x.spans...)
		}
		if w.matrices {
			write(w.hash, x.matrices[:]...)
		}
	}
	d.pointersOf(b, func(to int32) {
		if d.isHead(to) {
			write(w.hash, placed(int(d.partOf[d.blocks[to].owner]), 1)...)
			return
		}
		write(w.hash, placed(int(d.place[to]), 2)...)
	}, w.hash)
}

// base is the flag of a base, without what curves set, if so; nothing for other blocks.
func (d *digest) base(b int32, unset bool) []byte {
	flag, ok := d.bases[b]
	if !ok {
		return nil
	}
	if unset {
		flag &^= d.shown[d.pointer(b, "object")]
	}
	return binary.LittleEndian.AppendUint32([]byte{'b'}, flag)
}

// pointersOf shows the pointers of a block, and writes 0 for those that lead nowhere.
func (d *digest) pointersOf(b int32, show func(to int32), into io.Writer) {
	for _, to := range d.pointers[d.blocks[b].first:d.blocks[b].last] {
		if to == nowhere {
			write(into, 0)
		} else {
			show(to)
		}
	}
}

func write(w io.Writer, data ...byte) { _, _ = w.Write(data) } // a hash never fails

// placed is a place, and of which kind it is.
func placed(at int, kind byte) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(at)), kind)
}

// viewportSettings finds the settings of Cycles in the scene that are those of the viewport.
func (w *reached) viewportSettings() map[int32]bool {
	found := map[int32]bool{}
	for group := range w.list(w.pointer(w.pointer(w.order[0], "id.properties"), "data.group.first")) {
		if w.extras[group] == nil || w.extras[group].name != "cycles" {
			continue
		}
		for setting := range w.list(w.pointer(group, "data.group.first")) {
			if x := w.extras[setting]; x != nil && viewportSetting(x.name) {
				found[setting] = true
			}
		}
	}
	return found
}
