package blendfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"svc.example/internal/render/blendfile"
)

// everyForm is one small file of each form, and each packing of one.
func everyForm(t testing.TB) map[string][]byte {
	plain := era279(form{version: 279, bits: 64}).bytes()
	return map[string][]byte{
		"old, 32 bit, big endian": era249(form{version: 249, bits: 32, big: true}).bytes(),
		"2.79, plain":             plain,
		"2.79, gzip":              gzipped(t, plain),
		"2.79, zstd, one frame":   framed(t, plain, len(plain), false),
		"5.10, zstd, many frames": framed(t, era510(form{version: 510, bits: 64, large: true}).bytes(), 777, true),
	}
}

func TestEveryCutIsAnErrorOrHarmless(t *testing.T) {
	t.Parallel()
	for name, whole := range everyForm(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := encoded(t, wholeFacts(t, whole))
			for n := range len(whole) {
				cutAt(t, whole, n, want)
			}
		})
	}
}

// Real files are long; every 1009th point represents the others.
func TestCutsOfRealFilesAreErrorsOrHarmless(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"settings", "files", "library"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := os.ReadFile("testdata/" + name + ".blend")
			if err != nil {
				t.Fatal(err)
			}
			want := encoded(t, wholeFacts(t, whole))
			for n := 0; n < len(whole); n += 1009 {
				cutAt(t, whole, n, want)
			}
			for n := len(whole) - 64; n < len(whole); n++ {
				cutAt(t, whole, n, want)
			}
		})
	}
}

func wholeFacts(t testing.TB, b []byte) *blendfile.Facts {
	t.Helper()
	facts, err := blendfile.Inspect(bytes.NewReader(b), blendfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	facts.Unpacked = 0 // a cut after the DNA may take some away
	return facts
}

// cutAt demands the whole file's facts of its first n bytes, or the error for a
// cut file.
func cutAt(t *testing.T, whole []byte, n int, want []byte) {
	t.Helper()
	facts, err := blendfile.Inspect(bytes.NewReader(whole[:n]), blendfile.Options{})
	var cut *blendfile.TruncatedError
	switch {
	case n == 0 && errors.Is(err, blendfile.ErrNotBlend):
	case err == nil:
		facts.Unpacked = 0
		if got := encoded(t, facts); !bytes.Equal(got, want) {
			t.Errorf("cut at %d of %d: other facts\n got %s\nwant %s", n, len(whole), got, want)
		}
	case !errors.As(err, &cut):
		t.Errorf("cut at %d of %d: %v, want a TruncatedError", n, len(whole), err)
	}
}

func TestPackingChangesNoFact(t *testing.T) {
	t.Parallel()
	for _, s := range []*synth{era225(form{version: 225, bits: 32}), era249(form{version: 249, bits: 64, big: true}), era510(form{version: 510, bits: 64, large: true})} {
		plain := s.bytes()
		want := wholeFacts(t, plain)
		for packing, packed := range map[string][]byte{
			"gzip": gzipped(t, plain), "zstd": framed(t, plain, 500, true),
		} {
			got := wholeFacts(t, packed)
			if got.Compression != packing {
				t.Errorf("compression %q, want %q", got.Compression, packing)
			}
			got.Compression = want.Compression
			same(t, s.form, packing, got, want)
		}
	}
}

func TestASkippableFrameMayComeFirst(t *testing.T) {
	t.Parallel()
	plain := era279(form{version: 279, bits: 64}).bytes()
	first := append([]byte{0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0}, "abc"...)
	same(t, form{}, "facts", wholeFacts(t, append(first, framed(t, plain, 999, false)...)).Scene, wholeFacts(t, plain).Scene)
}

func TestBytesBehindTheEndAreAccepted(t *testing.T) {
	t.Parallel()
	plain := era279(form{version: 279, bits: 64}).bytes()
	for name, b := range map[string][]byte{
		"plain": append(bytes.Clone(plain), "more"...),
		"gzip":  append(gzipped(t, plain), "more"...),
		"zstd":  append(framed(t, plain, 999, false), "more"...),
	} {
		r := bytes.NewReader(b)
		if _, err := blendfile.Inspect(r, blendfile.Options{ReadAll: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.Len() != 0 {
			t.Errorf("%s: %d bytes were not read", name, r.Len())
		}
	}
}

func TestFactsAreCompleteAtTheEndMark(t *testing.T) {
	t.Parallel()
	plain := era279(form{version: 279, bits: 64}).bytes()
	r := io.MultiReader(bytes.NewReader(plain), iotest.ErrReader(errors.New("read on")))
	if _, err := blendfile.Inspect(iotest.OneByteReader(r), blendfile.Options{}); err != nil {
		t.Errorf("read after the end mark: %v", err)
	}
}

func TestAFailingSourceIsNoDamagedFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for name, whole := range everyForm(t) {
		for _, n := range []int{0, 20, len(whole) / 2} {
			_, err := blendfile.Inspect(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken)), blendfile.Options{})
			if !errors.Is(err, broken) {
				t.Errorf("%s, broken at %d: %v, want the source's error", name, n, err)
			}
		}
	}
}

func TestOtherFilesAreRecognised(t *testing.T) {
	t.Parallel()
	for content, names := range map[string]string{
		"": "empty",
		"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n": "Git LFS",
		"<!DOCTYPE html><html>Not found</html>":                               "HTML",
		"PK\x03\x04....":                                                      "ZIP",
		"\x89PNG\r\n\x1a\n":                                                   "picture",
		"glTF\x02\x00\x00\x00":                                                "3D model",
		`{"asset": {"version": "2.0"}}`:                                       "JSON",
		"BLENDERS are machines":                                               "",
		"hello":                                                               "BLENDER",
		strings.Repeat("\x00", 600):                                           "zeros",
		string(gzipped(t, []byte("a tape archive of some length"))):           "inside gzip",
	} {
		_, err := blendfile.Inspect(strings.NewReader(content), blendfile.Options{})
		if names == "" {
			var damaged *blendfile.DamagedError
			if !errors.As(err, &damaged) {
				t.Errorf("%.20q: %v, want a DamagedError", content, err)
			}
			continue
		}
		if !errors.Is(err, blendfile.ErrNotBlend) || !strings.Contains(err.Error(), names) {
			t.Errorf("%.20q: %v, want ErrNotBlend that names %s", content, err, names)
		}
	}
}

func TestUnknownHeaderFormsAreUnsupported(t *testing.T) {
	t.Parallel()
	for _, h := range []string{"BLENDER17-02v0600", "BLENDER19-01v0502", "BLENDER17_01v0502", "BLENDER17-01V0502"} {
		var unsupported *blendfile.UnsupportedError
		if _, err := blendfile.Inspect(strings.NewReader(h), blendfile.Options{}); !errors.As(err, &unsupported) {
			t.Errorf("%s: %v, want an UnsupportedError", h, err)
		}
	}
}

func TestDamageIsReportedWithItsOffset(t *testing.T) {
	t.Parallel()
	s := era279(form{version: 279, bits: 64})
	noDNA := *s
	noDNA.body = *bytes.NewBuffer(bytes.Clone(s.body.Bytes()))
	noDNA.head("ENDB", 0, 0, 0, 0)
	circle := newSynth(form{version: 279, bits: 64}, dna279)
	circle.block("SC", "Scene", 0x900, values{"id.name": "SCloop", "r.layers.first": addr(0x940)})
	circle.block("DATA", "SceneRenderLayer", 0x940, values{"name": "a", "next": addr(0x940)})
	negative := *s
	negative.body = *bytes.NewBuffer(bytes.Clone(s.body.Bytes()))
	negative.head("SC", 3, -5, 1, 0x10)
	short := newSynth(form{version: 279, bits: 64}, dna279)
	short.head("SC", short.structs["Scene"].index, 16, 1, 0x900)
	short.body.Write(make([]byte, 16))
	for want, b := range map[string][]byte{
		"without DNA1":  noDNA.start(),
		"circle":        circle.bytes(),
		"negative":      negative.bytes(),
		"cannot hold":   short.bytes(),
		"block code":    append(s.start(), bytes.Repeat([]byte{0xFF}, 40)...),
		"50006 members": wideStructs(50_000),
		"unpack":        spoiled(gzipped(t, s.bytes())),
	} {
		_, err := blendfile.Inspect(bytes.NewReader(b), blendfile.Options{})
		var damaged *blendfile.DamagedError
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want a DamagedError that says %q", err, want)
		}
	}
}

// The rest of the file must not be read as if the block was empty, whatever its
// length and its place add up to.
func TestALengthBeyondEveryFileIsACut(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"DATA", "SC", "GLOB", "TEST", "REND", "WM"} {
		s := newSynth(form{version: 510, bits: 64, large: true}, dna510)
		s.head(code, 0, math.MaxInt64, 1, 0x10)
		s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
		_, err := blendfile.Inspect(bytes.NewReader(s.bytes()), blendfile.Options{})
		var cut *blendfile.TruncatedError
		if !errors.As(err, &cut) {
			t.Errorf("a block %s of %d bytes: %v, want a TruncatedError", code, math.MaxInt64, err)
		}
	}
}

// Every layer names the same long list of properties, each of them in a block
// of the most bytes that are kept.
func TestListsThatShareTheirTailsAreGivenUpSoon(t *testing.T) {
	t.Parallel()
	s := newSynth(form{version: 279, bits: 64}, dna279)
	const layers, properties = 2000, 2000
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene", "id.properties": addr(0x910), "r.layers.first": addr(0x10000)})
	s.block("DATA", "IDProperty", 0x910, values{"name": "group", "data.group.first": addr(0x911)})
	s.block("DATA", "IDProperty", 0x911, values{"name": "cycles"})
	s.block("DATA", "IDProperty", 0x912, values{"name": "group", "data.group.first": addr(0x20000)})
	for i := range layers {
		s.block("DATA", "SceneRenderLayer", addr(0x10000+i), values{"prop": addr(0x912), "next": addr(0x10001 + i)})
	}
	property := s.structs["IDProperty"]
	for i := range properties {
		b := make([]byte, 16<<10)
		s.set(b, property, "next", addr(0x20001+i))
		s.head("DATA", property.index, len(b), 1, addr(0x20000+i))
		s.body.Write(b)
	}
	start := time.Now()
	_, err := blendfile.Inspect(bytes.NewReader(s.bytes()), blendfile.Options{})
	var large *blendfile.TooLargeError
	if !errors.As(err, &large) {
		t.Errorf("got %v, want a TooLargeError", err)
	}
	if took := time.Since(start); took > slow {
		t.Errorf("it took %v", took)
	}
}

// spoiled gives the first block of a gzip stream a type that there is not.
func spoiled(b []byte) []byte {
	b[10] |= 6
	return b
}

func TestBombsAreStopped(t *testing.T) {
	t.Parallel()
	head := []byte("BLENDER-v300")
	data := make([]byte, 24)
	copy(data, "DATA")
	binary.LittleEndian.PutUint32(data[4:], 1<<30)
	zeros := func(n int64) io.Reader {
		return io.MultiReader(bytes.NewReader(head), bytes.NewReader(data), io.LimitReader(zeroReader{}, n))
	}
	packed := packedFrom(t, zeros(200<<20))
	for what, o := range map[string]blendfile.Options{
		"packed size":    {},
		"unpacked bytes": {MaxUnpacked: 1 << 20, MaxRatio: 1e9},
	} {
		_, err := blendfile.Inspect(bytes.NewReader(packed), o)
		var large *blendfile.TooLargeError
		if !errors.As(err, &large) || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want a TooLargeError of %s", err, what)
		}
	}
}

func TestHugeWindowsAreRefused(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithWindowSize(64<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, io.LimitReader(zeroReader{}, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = blendfile.Inspect(&out, blendfile.Options{})
	var large *blendfile.TooLargeError
	if !errors.As(err, &large) {
		t.Errorf("%v, want a TooLargeError", err)
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func packedFrom(t testing.TB, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A file of so many objects, layers and properties that not all can be kept
// still yields its scene, or an error: never anything else.
func TestManyBlocksDoNotHideTheScene(t *testing.T) {
	t.Parallel()
	s := newSynth(form{version: 279, bits: 64}, dna279+"\nBase: Base *next; Base *prev; int lay; int sel; Object *object; char noise[96]")
	s.block("GLOB", "FileGlobal", 0, values{"curscene": addr(0x900)})
	s.block("SC", "Scene", 0x900, values{"id.name": "SCcrowd", "camera": addr(0x1_000_777), "r.layers.first": addr(0x940)})
	noise := strings.Repeat("x", 96)
	for i := range 60_000 {
		s.block("DATA", "Base", addr(0x100_000+i), values{"lay": i + 1, "noise": noise})
	}
	s.block("DATA", "SceneRenderLayer", 0x940, values{"name": "Only"})
	for i := range 60_000 {
		s.block("OB", "Object", addr(0x1_000_000+i), values{"id.name": fmt.Sprintf("OBface %d", i)})
	}
	facts := inspectBytes(t, s.bytes())
	same(t, s.form, "camera", facts.Scene.Camera, fmt.Sprintf("face %d", 0x777))
	same(t, s.form, "layers", facts.Scene.ViewLayers, []string{"Only"})
}

func TestASceneBeyondTheBoundIsAnErrorNotAGuess(t *testing.T) {
	t.Parallel()
	s := newSynth(form{version: 279, bits: 64}, dna279)
	s.block("SC", "Scene", 0x900, values{"id.name": "SCendless", "r.layers.first": addr(0x1000)})
	name := strings.Repeat("n", 64)
	for i := range 60_000 {
		s.block("DATA", "SceneRenderLayer", addr(0x1000+i), values{"name": name, "next": addr(0x1001 + i)})
	}
	_, err := blendfile.Inspect(bytes.NewReader(s.bytes()), blendfile.Options{})
	var large *blendfile.TooLargeError
	if !errors.As(err, &large) {
		t.Errorf("%v, want a TooLargeError", err)
	}
}

func TestListsBeyondTheBoundSayThatTheyArePartial(t *testing.T) {
	t.Parallel()
	s := newSynth(form{version: 279, bits: 64}, dna279+"\nChannelDriver: ListBase variables; char expression[256]; int type; int flag")
	s.block("SC", "Scene", 0x900, values{"id.name": "SCScene"})
	var few []byte
	s.block("OB", "Object", 0x1000, values{"id.name": "OBrig"})
	for i := range 20_000 {
		s.block("DATA", "ChannelDriver", addr(0x100_000+i), values{"expression": strings.Repeat("x", 250), "type": i % 2})
		if i == 99 {
			few = bytes.Clone(s.body.Bytes())
		}
	}
	facts := inspectBytes(t, s.bytes())
	same(t, s.form, "partial", facts.Partial, []string{"python_drivers"})
	same(t, s.form, "scene", facts.Scene.Name, "Scene")
	s.body = *bytes.NewBuffer(few)
	facts = inspectBytes(t, s.bytes())
	same(t, s.form, "partial", len(facts.Partial), 0)
	same(t, s.form, "python drivers", facts.PythonDrivers, 50)
}

// Any byte of a file may be wrong: the answer is facts or an error of this
// package, and it comes.
func TestWrongBytesNeverPanic(t *testing.T) {
	t.Parallel()
	whole := [][]byte{
		era225(form{version: 225, bits: 32}).bytes(), era249(form{version: 249, bits: 32, big: true}).bytes(),
		era279(form{version: 279, bits: 64}).bytes(), era510(form{version: 510, bits: 64, large: true}).bytes(),
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(rapid.SampledFrom(whole).Draw(t, "file"))
		for range rapid.IntRange(1, 8).Draw(t, "wrong bytes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		if _, err := blendfile.Inspect(bytes.NewReader(b), blendfile.Options{}); err != nil {
			ours(t, err)
		}
	})
}

// ours demands that err is one of the kinds that the package promises.
func ours(t interface{ Errorf(string, ...any) }, err error) {
	var (
		cut         *blendfile.TruncatedError
		damaged     *blendfile.DamagedError
		large       *blendfile.TooLargeError
		unsupported *blendfile.UnsupportedError
	)
	if !errors.Is(err, blendfile.ErrNotBlend) && !errors.As(err, &cut) && !errors.As(err, &damaged) && !errors.As(err, &large) && !errors.As(err, &unsupported) {
		t.Errorf("error of no promised kind: %v", err)
	}
}
