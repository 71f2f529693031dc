package contentkey

import (
	"iter"
	"math"
	"strings"

	"svc.example/internal/render/blendfile/records"
)

// What is read of the blocks after the scan.

// pointer is the block that a pointer of a block's first struct leads to, given by its path;
// nowhere for none.
func (f *file) pointer(b int32, path string) int32 {
	if b == nowhere {
		return nowhere
	}
	block := &f.blocks[b]
	i, ok := f.byIndex[int(block.index)].pointers[path]
	if !ok || block.first+uint32(i) >= block.last {
		return nowhere
	}
	return f.pointers[block.first+uint32(i)]
}

// mostListed bounds the items of all lists that are walked over: a hostile file may have every
// block lead to one long list.
const mostListed = 1 << 24

// list yields the blocks of a list; too few once mostListed were yielded: see tooLong.
func (f *file) list(first int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := 0; first != nowhere && i < len(f.blocks) && f.listed < mostListed; i++ {
			f.listed++
			if !yield(first) {
				return
			}
			first = f.pointer(first, "next")
		}
	}
}

// tooLong is an error once lists were not walked over to their ends.
func (f *file) tooLong() error {
	if f.listed < mostListed {
		return nil
	}
	return &records.TooLargeError{What: "items of lists", Limit: mostListed}
}

// structOf is the name of a block's struct.
func (f *file) structOf(b int32) string { return f.byIndex[int(f.blocks[b].index)].name }

// number reads a whole number of a block that is kept raw.
func (f *file) number(b int32, path string) int64 {
	x := f.extras[b]
	if x == nil || x.raw == nil {
		return 0
	}
	return f.integer(f.byIndex[int(f.blocks[b].index)], x.raw, path)
}

// float reads a number with a fraction of a block that is kept raw.
func (f *file) float(b int32, path string) float64 {
	x := f.extras[b]
	if x == nil || x.raw == nil {
		return 0
	}
	m, ok := f.byIndex[int(f.blocks[b].index)].fields(path)
	if !ok || m.Size != 4 {
		return 0
	}
	return float64(math.Float32frombits(f.Order.Uint32(x.raw[m.Offset:])))
}

// textIn reads a text of a block that is kept raw.
func (f *file) textIn(b int32, path string) string {
	x := f.extras[b]
	if x == nil || x.raw == nil {
		return ""
	}
	return text(f.byIndex[int(f.blocks[b].index)], x.raw, path)
}

// textAt is the text that a block of raw data is.
func (f *file) textAt(b int32) (t string, ok bool) {
	x := f.extras[b]
	if x == nil || x.raw == nil {
		return "", false
	}
	t, _, _ = strings.Cut(string(x.raw), "\x00")
	return t, true
}
