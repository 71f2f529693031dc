package contentkey

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// digest hashes what counts in every frame: for each part by the places that pointers lead
// to, all together, and by names, to tell what differs between two revisions.
type digest struct {
	*reached
	animation *animation
	local     bool           // frames count apart from each other
	matrices  bool           // they count
	spans     bool           // they count
	mentioned string         // paths of curves and drivers
	viewport  map[int32]bool // blocks of settings of the viewport
}

// all hashes every part. The names are those of the data-blocks.
func (d *digest) all() (together Key, named map[string]Key) {
	whole := sha256.New()
	named = map[string]Key{}
	_, _ = fmt.Fprintln(whole, d.Version, d.subversion, d.Pointer, d.Order, len(d.parts))
	for _, p := range d.parts {
		own := sha256.New()
		name := d.nameOf(p.owner)
		if d.nameCounts(p.owner, name) {
			_, _ = fmt.Fprintf(whole, "%q", name)
		}
		for _, b := range d.order[p.first:p.last] {
			d.block(whole, own, b, p.first)
		}
		_, _ = fmt.Fprintln(whole, "end")
		var k Key
		own.Sum(k[:0])
		if before, twice := named[name]; twice {
			k = sha256.Sum256(append(before[:], k[:]...))
		}
		named[name] = k
	}
	whole.Sum(together[:0])
	return together, named
}

// nameCounts reports whether the picture can come from the name of a data-block.
func (d *digest) nameCounts(owner int32, name string) bool {
	code := d.owners[owner].code
	return !among(code, nameless) || strings.Contains(d.mentioned, name[2:]) || code == "MA" && d.cryptomatte()
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
func (d *digest) block(whole, own io.Writer, b int32, first int) {
	write := func(w io.Writer, data ...byte) { _, _ = w.Write(data) } // a hash never fails
	if d.viewport[b] {
		write(whole, 'v')
		write(own, 'v')
		return
	}
	if d.animation.around[b] {
		write(own, 'k')
		if d.local {
			write(whole, 'k')
			return
		}
		own = io.Discard
	}
	both := io.MultiWriter(whole, own)
	write(both, d.blocks[b].sum[:]...)
	if x := d.extras[b]; x != nil {
		write(own, x.unset()...)
		if d.local {
			write(whole, x.unset()...)
		} else {
			write(whole, x.values...)
		}
		if d.spans {
			write(whole, x.spans...)
		}
		if d.matrices {
			write(whole, x.matrices[:]...)
		}
	}
	var n [8]byte
	for _, to := range d.pointers[d.blocks[b].first:d.blocks[b].last] {
		switch {
		case to == nowhere:
			write(both, 0)
		case d.isHead(to):
			binary.LittleEndian.PutUint64(n[:], uint64(d.partOf[d.blocks[to].owner]))
			write(whole, append(n[:], 1)...)
			_, _ = fmt.Fprintf(own, "%q", d.nameOf(d.blocks[to].owner))
		default:
			place := uint64(d.place[to])
			binary.LittleEndian.PutUint64(n[:], place)
			write(whole, append(n[:], 2)...)
			binary.LittleEndian.PutUint64(n[:], place-uint64(first))
			write(own, append(n[:], 2)...)
		}
	}
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
