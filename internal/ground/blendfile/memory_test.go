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
	for name, build := range map[string]func() []byte{
		"a real kind of scene": func() []byte { return scenery(24 << 20) },
		"images":               func() []byte { return crowd(20_000, "IM", "Image", dna249) },
		"scenes":               func() []byte { return crowd(20_000, "SC", "Scene", dna249) },
		"node trees":           func() []byte { return crowd(60_000, "NT", "bNodeTree", dna249) },
		"linked data":          func() []byte { return crowd(25_000, "ID", "ID", dna249) },
		"empty texts":          func() []byte { return crowd(25_000, "TX", "Text", dna249) },
		"small data":           func() []byte { return smallData(150_000) },
		"DNA of many names":    func() []byte { return manyNames(60_000) },
		"DNA of wide structs":  func() []byte { return wideStructs(1000) },
		"kinds without number": func() []byte { return manyKinds(100_000) },
		"one path for many":    func() []byte { return sharedPath(30_000) },
		"one output for many":  func() []byte { return sharedOutput(30_000) },
	} {
		file := build()
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

// wideStructs is a file whose structs that matter have n members more.
func wideStructs(n int) []byte {
	var more strings.Builder
	for i := range n {
		fmt.Fprintf(&more, "; char a%d", i)
	}
	defs := dna249
	for _, name := range []string{"Image", "Text", "VFont"} {
		at := strings.Index(defs, "\n"+name+": ") + 1
		end := at + strings.Index(defs[at:], "\n")
		defs = defs[:end] + more.String() + defs[end:]
	}
	s := newSynth(form{version: 249, bits: 64}, defs)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
	s.block("IM", "Image", 0xB00, values{"id.name": "IMold.png", "name": "//old.png"})
	s.block("TX", "Text", 0xB60, values{"id.name": "TXgui.py"})
	s.block("VF", "VFont", 0xB40, values{"id.name": "VFArial", "name": "//arial.ttf"})
	return s.bytes()
}

// manyKinds is a file in which each block says that it is another struct.
func manyKinds(n int) []byte {
	s := newSynth(form{version: 279, bits: 64}, dna279)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
	for i := range n {
		s.head("DATA", i, 8, 1, addr(0x10000+i))
		s.body.WriteString("whatever")
	}
	return s.bytes()
}

// sharedPath is a file of many strips that all stand for one long path.
func sharedPath(n int) []byte {
	s := newSynth(form{version: 249, bits: 64}, dna249)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
	s.block("DATA", "Strip", 0x910, values{"dir": strings.Repeat("d", 159), "stripdata": addr(0x920)})
	s.block("DATA", "StripElem", 0x920, values{"name": strings.Repeat("n", 79)})
	for i := range n {
		s.block("DATA", "Sequence", addr(0x10000+i), values{"type": 3, "strip": addr(0x910)})
	}
	return s.bytes()
}

// sharedOutput is a file of many File Output nodes that all write to one place.
func sharedOutput(n int) []byte {
	s := newSynth(form{version: 249, bits: 64}, dna249)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "use_nodes": 1, "nodetree": addr(0x910)})
	s.block("DATA", "bNodeTree", 0x910, values{"nodes.first": addr(0x10000)})
	s.block("DATA", "NodeImageFile", 0x920, values{"name": strings.Repeat("p", 255)})
	for i := range n {
		s.block("DATA", "bNode", addr(0x10000+i), values{"type": 223, "storage": addr(0x920), "next": addr(0x10001 + i)})
	}
	return s.bytes()
}
