package blendfile_test

import (
	"fmt"
	"strings"
	"testing"
)

// bound is what an inspection may take beside the decoder's window, whatever
// the file.
const bound = 16 << 20

// Not parallel: it looks at the heap of the whole process.
func TestMemoryStaysWithinTheBound(t *testing.T) {
	for name, file := range map[string][]byte{
		"a real kind of scene": scenery(24 << 20),
		"images":               crowd(20_000, "IM", "Image", dna249),
		"scenes":               crowd(20_000, "SC", "Scene", dna249),
		"node trees":           crowd(60_000, "NT", "bNodeTree", dna249),
		"linked data":          crowd(25_000, "ID", "ID", dna249),
		"empty texts":          crowd(25_000, "TX", "Text", dna249),
		"small data":           smallData(150_000),
		"DNA of many names":    manyNames(60_000),
	} {
		peak, _ := watch(t, file)
		t.Logf("%s: %d MiB of file, %.1f MiB of heap", name, len(file)>>20, float64(peak)/(1<<20))
		if peak > bound {
			t.Errorf("%s: %d bytes of heap at once, want at most %d", name, peak, bound)
		}
	}
}

// crowd is a file of many data-blocks of one kind, each with a name of its own.
func crowd(n int, code, as, dna string) []byte {
	s := newSynth(form{version: 249, bits: 64}, dna)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "camera": addr(1)})
	for i := range n {
		path := "id.name"
		if as == "ID" {
			path = "name"
		}
		s.block(code, as, addr(0x10000+i), values{path: fmt.Sprintf("%s%d", code, i)})
	}
	return s.bytes()
}

// smallData is a file of many small blocks of every struct.
func smallData(n int) []byte {
	s := newSynth(form{version: 279, bits: 64}, dna279)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
	for i := range n {
		s.head("DATA", i%60, 24, 1, addr(0x10000+i))
		fmt.Fprintf(&s.body, "%24d", i)
	}
	return s.bytes()
}

func manyNames(n int) []byte {
	var fields strings.Builder
	for i := range n / 100 {
		fmt.Fprintf(&fields, "\nStruct%d: char a%d", i, i)
		for k := range 99 {
			fmt.Fprintf(&fields, "; char a%d_%d", i, k)
		}
	}
	return newSynth(form{version: 279, bits: 64}, dna279+fields.String()).bytes()
}
