package blendfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/test/alone"
	"svc.example/internal/test/await"
)

// bound is what the inspection of a file may take in addition to the decoder's window,
// garbage included: 24 MiB, and five bytes for four of the file, up to the largest
// upload.
func bound(unpacked int) uint64 { return 24<<20 + min(uint64(unpacked), 100<<20)/4*5 }

func TestMemoryStaysWithinTheBound(t *testing.T) { alone.Run(t, memoryStaysWithinTheBound) }

func memoryStaysWithinTheBound(t *testing.T) {
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
		"most images":          func() []byte { return manyImages(100 << 20) },
		"most properties":      func() []byte { return manyProperties(100 << 20) },
		"most linked data":     func() []byte { return crowd(700_000, "ID", "ID", dna249) },
	} {
		file := build()
		most := bound(len(file))
		peak, _ := watch(t, file)
		t.Logf("%s: %d MiB of file, %.1f MiB of heap", name, len(file)>>20, float64(peak)/(1<<20))
		if peak > most {
			t.Errorf("%s: %d bytes of heap at once, want at most %d", name, peak, most)
		}
	}
	packed := framed(t, manyProperties(300<<20), 1<<20, true)
	peak, _ := watch(t, packed)
	t.Logf("packed from 300 MiB to %d: %.1f MiB of heap", len(packed)>>20, float64(peak)/(1<<20))
	if most := bound(300<<20) + 2*uint64(blendfile.DefaultMaxWindow); peak > most {
		t.Errorf("packed: %d bytes of heap at once, want at most %d", peak, most)
	}
}

// manyImages is a file of about size bytes with nothing but images, each as long as
// Blender 3.4 writes it.
func manyImages(size int) []byte {
	s := newSynth(form{version: 249, bits: 64}, strings.Replace(dna249, "\nImage: ID id;", "\nImage: ID id; char rest[1400];", 1))
	s.body.Grow(size + size/8)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
	for i := 0; s.body.Len() < size; i++ {
		s.block("IM", "Image", addr(0x7f00_0001_0000+1800*i), values{
			"id.name": fmt.Sprintf("IMpicture_%06d.png", i), "name": fmt.Sprintf("//textures/set_%d/picture_%06d.png", i%100, i), "source": 1,
		})
	}
	return s.bytes()
}

// manyProperties is a file of about size bytes whose scene has nothing but properties of
// its own, each an array of three numbers.
func manyProperties(size int) []byte {
	s := newSynth(form{version: 279, bits: 64}, dna279)
	s.body.Grow(size + size/8)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "id.properties": addr(0x910)})
	s.block("DATA", "IDProperty", 0x910, values{"type": 6, "data.group.first": addr(0x7f00_0001_0000)})
	for i := 0; s.body.Len() < size; i++ {
		at := addr(0x7f00_0001_0000 + 256*i)
		s.block("DATA", "IDProperty", at, values{"type": 5, "name": fmt.Sprintf("p%d", i), "next": at + 256, "prev": at - 256, "data.pointer": at + 192, "len": 3, "totallen": 3})
		s.raw("DATA", at+192, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3})
	}
	return s.bytes()
}

// Good files with more data-blocks and small blocks than a fixed bound let through.
func TestAGoodFileOfManySmallBlocksIsRead(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{
		"images":      manyImages(54_000_000),
		"properties":  manyProperties(54_000_000),
		"linked data": crowd(580_000, "ID", "ID", dna249),
	} {
		if len(file) < 54_000_000 {
			t.Errorf("%s: the file has %d bytes only", name, len(file))
		}
		for packing, content := range map[string][]byte{"plain": file, "zstd": framed(t, file, 1<<20, true)} {
			facts, err := blendfile.Inspect(bytes.NewReader(content), blendfile.Options{ReadAll: true})
			if err != nil || facts.Scene == nil || facts.Scene.Name != "Scene" {
				t.Errorf("%s, %s: %v", name, packing, err)
			}
		}
	}
}

func TestInspectionsShareTheirRoom(t *testing.T) {
	t.Parallel()
	file, room := manyProperties(16<<20), memory.NewBudget(16<<20)
	half, rest := io.Pipe()
	first := make(chan error, 1)
	go func() {
		_, err := blendfile.Inspect(half, blendfile.Options{Memory: room, ReadAll: true})
		first <- err
	}()
	// What the first has read takes more than half of the room, and stays while it waits.
	if _, err := rest.Write(file[:len(file)-1<<20]); err != nil {
		t.Fatal(err)
	}
	if _, err := blendfile.Inspect(bytes.NewReader(file), blendfile.Options{Memory: room}); !errors.Is(err, blendfile.ErrBusy) {
		t.Errorf("next to another: %v, want ErrBusy", err)
	}
	small := crowd(100, "IM", "Image", dna249)
	if _, err := blendfile.Inspect(bytes.NewReader(small), blendfile.Options{Memory: room}); err != nil {
		t.Errorf("a small file next to another: %v", err)
	}
	_, err := rest.Write(file[len(file)-1<<20:])
	if err = errors.Join(err, rest.Close(), await.Next(t, first, "the first inspection")); err != nil {
		t.Error(err)
	}
	if _, err := blendfile.Inspect(bytes.NewReader(file), blendfile.Options{Memory: room}); err != nil {
		t.Errorf("after the other: %v", err)
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

// sharedPath is a file of many strips that all have one long path.
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
