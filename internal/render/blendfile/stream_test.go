package blendfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"svc.example/internal/render/blendfile"
)

// pieces hands out a file in the pieces that next says, the last one with the
// end or before it, as networks do.
type pieces struct {
	left    []byte
	next    func() int
	withEnd bool
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.next())], p.left)
	p.left = p.left[n:]
	if p.withEnd && len(p.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// However a file comes over the wire, whole, cut or with a wrong byte, the
// answer is the same.
func TestThePiecesAFileComesInChangeNoAnswer(t *testing.T) {
	t.Parallel()
	files := everyForm(t)
	rapid.Check(t, func(t *rapid.T) {
		file := bytes.Clone(files[rapid.SampledFrom(slices.Sorted(maps.Keys(files))).Draw(t, "form")])
		file = file[:rapid.IntRange(0, len(file)).Draw(t, "cut")]
		if len(file) > 0 && rapid.Bool().Draw(t, "spoil") {
			file[rapid.IntRange(0, len(file)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		wire := &pieces{left: file, withEnd: rapid.Bool().Draw(t, "end with the last")}
		size := rapid.IntRange(1, 1+len(file))
		wire.next = func() int { return size.Draw(t, "piece") }
		o := blendfile.Options{ReadAll: rapid.Bool().Draw(t, "read all")}
		if got, want := answer(wire, o), answer(bytes.NewReader(file), o); got != want {
			t.Errorf("in pieces:\n%s\nat once:\n%s", got, want)
		}
	})
}

// What follows the end mark is not counted against the cap, however much of it
// comes along with the last bytes that are.
func TestTheCapOnUnpackedBytesIsExact(t *testing.T) {
	t.Parallel()
	whole := era279(form{version: 279, bits: 64}).bytes()
	size := int64(len(whole))
	more := append(bytes.Clone(whole), make([]byte, 1000)...)
	for name, file := range map[string][]byte{"plain": more, "gzip": gzipped(t, more), "zstd": framed(t, more, 777, true)} {
		for _, r := range []io.Reader{bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file))} {
			if _, err := blendfile.Inspect(r, blendfile.Options{MaxUnpacked: size}); err != nil {
				t.Errorf("%s, a file of %d bytes where as many may be: %v", name, size, err)
			}
		}
		_, err := blendfile.Inspect(bytes.NewReader(file), blendfile.Options{MaxUnpacked: size - 1})
		var large *blendfile.TooLargeError
		if !errors.As(err, &large) {
			t.Errorf("%s, a file of %d bytes where one less may be: %v, want a TooLargeError", name, size, err)
		}
	}
}

// The two kinds fill the bound in step, so that neither takes more when it is
// reached.
func TestOfTwoKindsThatTakeAsMuchTheSameGoesEachTime(t *testing.T) {
	t.Parallel()
	s := newSynth(form{version: 279, bits: 64}, dna279+`
ChannelDriver: ListBase variables; char expression[256]; int type; int flag
PointCache: ListBase empty; char path[256]; int flag; int pad`)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
	s.block("OB", "Object", 0x1000, values{"id.name": "OBrig"})
	for i := range 10_000 {
		s.block("DATA", "ChannelDriver", addr(0x100_000+i), values{"expression": strings.Repeat("x", 250)})
		s.block("DATA", "PointCache", addr(0x200_000+i), values{"path": strings.Repeat("x", 250)})
	}
	file := s.bytes()
	first := answer(bytes.NewReader(file), blendfile.Options{})
	for range 8 {
		if again := answer(bytes.NewReader(file), blendfile.Options{}); again != first {
			t.Errorf("two answers:\n%.2000s\n%.2000s", first, again)
		}
	}
}

// answer is all that an inspection says.
func answer(r io.Reader, o blendfile.Options) string {
	facts, err := blendfile.Inspect(r, o)
	if err != nil {
		return err.Error()
	}
	told, err := json.Marshal(facts)
	if err != nil {
		return err.Error()
	}
	return string(told)
}
