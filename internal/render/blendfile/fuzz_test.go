package blendfile_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/iotest"
	"time"

	"svc.example/internal/render/blendfile"
)

// fuzzLimits keep one run short; what is beyond them is an error as any other.
var fuzzLimits = blendfile.Options{MaxUnpacked: 32 << 20, MaxWindow: 1 << 20, ReadAll: true}

// slow is far beyond what any input of the fuzzer's length takes.
const slow = 30 * time.Second

// inspectAny demands an answer of the package's own, in time, and the same one
// each time, however the file is split.
func inspectAny(t *testing.T, file []byte) {
	t.Helper()
	start := time.Now()
	facts, err := blendfile.Inspect(bytes.NewReader(file), fuzzLimits)
	if took := time.Since(start); took > slow {
		t.Errorf("%d bytes took %v", len(file), took)
	}
	pieces := iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(file)))
	again, errAgain := blendfile.Inspect(pieces, fuzzLimits)
	if fmt.Sprint(err) != fmt.Sprint(errAgain) {
		t.Fatalf("two answers:\n%v\n%v", err, errAgain)
	}
	if err != nil {
		ours(t, err)
		return
	}
	if facts.Thumbnail != nil {
		if _, err := facts.Thumbnail.PNG(); err != nil {
			t.Errorf("the preview does not encode: %v", err)
		}
	}
	if a, b := encoded(t, facts), encoded(t, again); !bytes.Equal(a, b) {
		t.Errorf("two answers:\n%s\n%s", a, b)
	}
}

func FuzzInspect(f *testing.F) {
	for _, file := range everyForm(f) {
		f.Add(file)
	}
	f.Fuzz(inspectAny)
}

// FuzzBlocks has a sound header, DNA and end around any blocks, of a file of
// the form that the number picks.
func FuzzBlocks(f *testing.F) {
	eras := func(n uint8) *synth {
		switch n % 4 {
		case 0:
			return era225(form{version: 225, bits: 32})
		case 1:
			return era249(form{version: 249, bits: 32, big: true})
		case 2:
			return era279(form{version: 279, bits: 64})
		}
		return era510(form{version: 510, bits: 64, large: true})
	}
	for n := range uint8(4) {
		f.Add(n, eras(n).body.Bytes())
	}
	f.Fuzz(func(t *testing.T, n uint8, blocks []byte) {
		s := eras(n)
		s.body.Reset()
		s.body.Write(blocks)
		inspectAny(t, s.bytes())
	})
}

// FuzzDNA has any DNA after sound blocks.
func FuzzDNA(f *testing.F) {
	s := era279(form{version: 279, bits: 64})
	start := len(s.start()) + 24
	f.Add(s.bytes()[start : len(s.bytes())-24])
	f.Fuzz(func(t *testing.T, dna []byte) {
		s := era279(form{version: 279, bits: 64})
		s.raw("DNA1", 0, dna)
		s.head("ENDB", 0, 0, 0, 0)
		inspectAny(t, s.start())
	})
}

func FuzzNormalisePath(f *testing.F) {
	for _, p := range []string{"//a/../b.png", `C:\x\y.png`, `\\host\share\z.png`, "/abs//p.png", "//..\\up.png", ".", ""} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		once := blendfile.NormalisePath(p)
		if twice := blendfile.NormalisePath(once); twice != once {
			t.Errorf("%q becomes %q and then %q", p, once, twice)
		}
	})
}
