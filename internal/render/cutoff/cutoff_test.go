package cutoff_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/goregular"

	"svc.example/internal/render/cutoff"
)

func isCut(name string, content []byte) bool {
	through := int64(64 << 20)
	return cutoff.Is(name, int64(len(content)), bytes.NewReader(content), &through)
}

// TestAPictureOfBlenderIsCutOffOnceItsEndIsMissing: with each format of which Blender 3.4.1 and
// 4.3.2 show a half picture in magenta, or in part, and whose end can be told.
func TestAPictureOfBlenderIsCutOffOnceItsEndIsMissing(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../pixels/testdata/blender/*_*.*")
	if err != nil || len(paths) < 60 {
		t.Fatalf("%d pictures, %v", len(paths), err)
	}
	for _, path := range paths {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		format, _, _ := strings.Cut(name, "_")
		if isCut(name, whole) {
			t.Errorf("%s is whole", name)
		}
		for _, more := range []int{40, 100_000} {
			if (format != "jpeg" && format != "jpeg2000" || more == 40) && isCut(name, append(slices.Clone(whole), bytes.Repeat([]byte{'?'}, more)...)) {
				t.Errorf("%s is whole, and %d bytes follow it", name, more)
			}
		}
		for _, size := range []int{len(whole) / 2, len(whole) * 9 / 10, len(whole) - 3} {
			if film := format == "dpx" || format == "cineon"; film && size > len(whole)*7/10 {
				continue // its last bytes may mean nothing
			}
			if strings.HasSuffix(name, "_oiio.tga") && size > len(whole)/2 {
				continue // a text follows the pixels
			}
			if !isCut(name, whole[:size]) {
				t.Errorf("%d of %d bytes of %s are not told as cut", size, len(whole), name)
			}
		}
	}
}

// TestAFileOfAnotherProgramIsCutOffOnceBlenderLacksSomethingOfIt: smaller copies of a picture,
// which Blender does not show, may be missing.
func TestAFileOfAnotherProgramIsCutOffOnceBlenderLacksSomethingOfIt(t *testing.T) {
	t.Parallel()
	enough := map[string]float64{ // of the file, where Blender shows all of it
		"copies_mip.exr": 0.75, "copies_rip.exr": 0.4, "copies.dds": 0.8,
	}
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil || len(paths) < 25 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if name == "README.md" {
			continue
		}
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if isCut(name, whole) {
			t.Errorf("%s is whole", name)
		}
		needed, ok := enough[name]
		if !ok {
			needed = 1
		}
		for _, part := range []float64{0.15, 0.5, 0.75, 0.9} {
			want, got := part < needed, isCut(name, whole[:int(float64(len(whole))*part)])
			if got != want {
				t.Errorf("%.0f %% of %s: cut off is %v, want %v", 100*part, name, got, want)
			}
		}
	}
}

// TestAPictureWhoseTableWasNeverWrittenIsNotCalledCut: OpenEXR finds its rows without the table.
func TestAPictureWhoseTableWasNeverWrittenIsNotCalledCut(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile("testdata/tiles.exr")
	if err != nil {
		t.Fatal(err)
	}
	at := 0 // the first of six offsets, right after the header
	for binary.LittleEndian.Uint64(whole[at:]) != uint64(at+6*8) {
		at++
	}
	clear(whole[at : at+6*8])
	if isCut("a.exr", whole) {
		t.Error("it is called cut")
	}
}

// TestAFileThatIsReadAsAWholeIsJudgedWithinABudget, and one that is larger than what is left of it
// is not judged.
func TestAFileThatIsReadAsAWholeIsJudgedWithinABudget(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile("../pixels/testdata/blender/hdr_rgb.hdr")
	if err != nil {
		t.Fatal(err)
	}
	cut := whole[:len(whole)/2]
	through := int64(2*len(cut) + 10)
	for i, want := range []bool{true, true, false} {
		if got := cutoff.Is("a.hdr", int64(len(cut)), bytes.NewReader(cut), &through); got != want {
			t.Errorf("file %d: %v, want %v", i, got, want)
		}
	}
	if through != 10 {
		t.Errorf("%d bytes are left", through)
	}
}

// TestACutJPEGIsToldFromOneThatMoreFollows: telephones write a film after the picture.
func TestACutJPEGIsToldFromOneWithMoreBehindIt(t *testing.T) {
	t.Parallel()
	header, entropy := "\xff\xd8\xff\xe0\x00\x10JFIF", bytes.Repeat([]byte("pixels\xff\x00and\xff\xd3"), 20_000)
	picture := append([]byte(header), entropy...)
	film := bytes.Repeat([]byte("film\xff\x42"), 20_000)
	for _, c := range []struct {
		name    string
		content []byte
		want    bool
	}{
		{"whole", append(slices.Clone(picture), 0xff, 0xd9), false},
		{"cut", picture, true},
		{"cut in a mark", append(slices.Clone(picture), 0xff), true},
		{"with a film", append(append(slices.Clone(picture), 0xff, 0xd9), film...), false},
	} {
		if got := isCut("", c.content); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFontsFilmsAndCachesEndWhereTheirTablesSay(t *testing.T) {
	t.Parallel()
	ogawa := func(closed byte, root uint64) []byte {
		return append(binary.LittleEndian.AppendUint64([]byte{'O', 'g', 'a', 'w', 'a', closed, 0, 1}, root), "samples"...)
	}
	usd := binary.LittleEndian.AppendUint64([]byte("PXR-USDC\x00\x08\x00\x00\x00\x00\x00\x00"), 24)
	for _, c := range []struct {
		name    string
		content []byte
		want    bool
	}{
		{"a font", goregular.TTF, false},
		{"half a font", goregular.TTF[:len(goregular.TTF)/2], true},
		{"a font's first bytes", goregular.TTF[:60], true},
		{"a cache", ogawa(0xff, 16), false},
		{"a cache that was not closed", ogawa(0, 16), true},
		{"half a cache", ogawa(0xff, 9000), true},
		{"a stage", append(slices.Clone(usd), "contents"...), false},
		{"half a stage", usd, true},
		{"a sound", []byte("RIFF\x05\x00\x00\x00WAVE!"), false},
		{"half a sound", []byte("RIFF\x06\x00\x00\x00WAVE!"), true},
		{"a sound written as a stream", []byte("RIFF\xff\xff\xff\xffWAVE!"), false},
		{"a film", []byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x0cmdatpix.\x00\x00\x00\x08moov"), false},
		{"a film without its table", []byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x0cmdatpix."), true},
		{"half a film", []byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x08moov\x00\x00\x00\x0cmdatpix"), true},
		{"a film in a box of 64 bits", []byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x08moov\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x13pix"), false},
		{"half a film in a box of 64 bits", []byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x08moov\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x14pix"), true},
		{"a film up to the file's end", []byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x08moov\x00\x00\x00\x00mdatpix"), false},
		{"a Matroska film", []byte("\x1a\x45\xdf\xa3\x82hd\x18\x53\x80\x67\x40\x03pix"), false},
		{"half a Matroska film", []byte("\x1a\x45\xdf\xa3\x82hd\x18\x53\x80\x67\x40\x04pix"), true},
		{"a Matroska film that was recorded live", []byte("\x1a\x45\xdf\xa3\x82hd\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xffpix"), false},
		{"a stage as text", []byte("#usda 1.0\n(doc = \"\"\"a (note\"\"\")\ndef Xform \"a{\" # (\n{ asset b = @[c@ string d = '\\'{' }\n"), false},
		{"half a stage as text", []byte("#usda 1.0\n(\n)\ndef Xform \"a\" {\n point3f[] points = [(1, 2, 3)]\n"), true},
		{"a stage as text, cut in a word", []byte("#usda 1.0\n(\n)\ndef Xform \"a"), true},
		{"a stage in an archive", []byte("PK\x03\x04stage PK\x05\x06"), false},
		{"half a stage in an archive", []byte("PK\x03\x04stage"), true},
		{"a PostScript font", []byte("\x80\x01\x03\x00\x00\x00%!P\x80\x02\x02\x00\x00\x00ab\x80\x03"), false},
		{"half a PostScript font", []byte("\x80\x01\x03\x00\x00\x00%!P\x80\x02\x02\x00\x00\x00a"), true},
		{"a web font", []byte("wOFF\x00\x01\x00\x00\x00\x00\x00\x0d!"), false},
		{"half a web font", []byte("wOF2\x00\x01\x00\x00\x00\x00\x00\x0e!"), true},
		{"a film of QuickTime without its table", []byte("\x00\x00\x00\x08wide\x00\x00\x00\x0cmdatpix."), true},
		{"the second part of a large film", []byte("RIFF\x04\x00\x00\x00AVI RIFF\x04\x00\x00\x00AVIX"), false},
		{"half the second part of a large film", []byte("RIFF\x04\x00\x00\x00AVI RIFF\x05\x00\x00\x00AVIX"), true},
		{"a text", []byte("BM is how it begins, which says nothing of it. It is much too long for the header of a picture."), false},
		{"nothing", nil, false},
	} {
		if got := isCut("", c.content); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// counted counts the bytes that are read.
type counted struct {
	*bytes.Reader
	read int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.read += len(p)
	return c.Reader.ReadAt(p, off)
}

// FuzzAHostileFileIsReadWithinBounds: whatever a file says of itself, little of it is read.
func FuzzAHostileFileIsReadWithinBounds(f *testing.F) {
	for _, path := range []string{"png_bw_8.png", "open_exr_rgb_16_piz.exr", "tiff_bw_8_lzw.tif", "bmp_bw.bmp", "dpx_rgb_8.dpx", "cineon_rgb.cin", "jpeg2000_bw_8_jp2.jp2"} {
		content, err := os.ReadFile("../pixels/testdata/blender/" + path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	more, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range more {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add(goregular.TTF)
	f.Add([]byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x0cmdatpix.\x00\x00\x00\x08moov"))
	f.Add([]byte("\x1a\x45\xdf\xa3\x82hd\x18\x53\x80\x67\x40\x03pix"))
	f.Fuzz(func(t *testing.T, content []byte) {
		in := &counted{Reader: bytes.NewReader(content)}
		through := int64(1 << 20)
		cutoff.Is("a.tga", int64(len(content)), in, &through)
		if in.read > 2<<20 {
			t.Errorf("%d bytes are read of %d", in.read, len(content))
		}
	})
}
