package pixels_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
	"svc.example/internal/test/pixelstest"
)

// blenders are the pictures that Blender wrote (scripts/scenes/pictures.py), by the names of
// their files, and the hashes of the float form that it read back. Those of oiio are of Blender
// 4.3.2, which writes their formats by OpenImageIO; all others of 3.4.1.
func blenders(t *testing.T) (files map[string][]byte, hashes map[string]string) {
	t.Helper()
	paths, err := filepath.Glob("testdata/blender/*.*")
	if err != nil || len(paths) < 60 {
		t.Fatalf("%d pictures: %v", len(paths), err)
	}
	files = map[string][]byte{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = content
	}
	if err := json.Unmarshal(files["pictures.json"], &hashes); err != nil {
		t.Fatal(err)
	}
	delete(files, "pictures.json")
	return files, hashes
}

// formatOf is the format that a test picture must be taken for, by its name.
func formatOf(t *testing.T, name string) pixels.Format {
	t.Helper()
	all := pixels.Formats()
	at := slices.IndexFunc(all, func(f pixels.Format) bool { return slices.Contains(f.Extensions, filepath.Ext(name)) })
	if at < 0 {
		t.Fatalf("%s has the extension of no format", name)
	}
	return all[at]
}

func TestEveryPictureOfBlenderIsReadAndHashedAsBlenderReadsIt(t *testing.T) {
	t.Parallel()
	files, hashes := blenders(t)
	for name, file := range files {
		p, err := pixels.Read(bytes.NewReader(file))
		if err != nil || p.Format != formatOf(t, name).Name || p.Width != 33 || p.Height != 35 {
			t.Errorf("%s: %+v, %v", name, p, err)
			continue
		}
		lossy := strings.Contains(name, "dwa")
		if p.Decoded != (slices.Contains([]string{"png", "jpeg", "exr", "iris"}, p.Format) && !lossy) {
			t.Errorf("%s: decoded %t", name, p.Decoded)
		}
		if want := hashes[name]; p.Format == "exr" && !lossy && p.FloatSHA256 != want {
			t.Errorf("%s has the hash %s, and Blender reads %s", name, p.FloatSHA256, want)
		}
		if p.Defects.Pink > 0.2 || p.Defects.Black || p.Defects.NotFinite {
			t.Errorf("%s: %+v", name, p.Defects)
		}
	}
}

// A picture that is cut, or followed by anything, is refused in every format, and so is one
// whose header or coded part is not what was written.
func TestNoFormatTakesACutOrLongerFile(t *testing.T) {
	t.Parallel()
	files, _ := blenders(t)
	for name, file := range files {
		for n := 0; n < len(file); n += 1 + len(file)/97 {
			if p, err := pixels.Read(bytes.NewReader(file[:n])); err == nil {
				t.Errorf("%s cut to %d of %d bytes is %+v", name, n, len(file), p)
			}
		}
		for _, behind := range []string{"\x00\x00", "\xff\xd9", "GIF89a", strings.Repeat("evil", 3000)} {
			if p, err := pixels.Read(strings.NewReader(string(file) + behind)); err == nil {
				t.Errorf("%s and %d bytes more is %+v", name, len(behind), p)
			}
		}
	}
}

// Whatever a file claims, reading it takes no more than its limits, and it reports that
// before.
func TestReadingAsksForItsMemoryBeforeItTakesAny(t *testing.T) {
	t.Parallel()
	files, _ := blenders(t)
	full := errors.New("no memory is left")
	for name, file := range files {
		limits := pixels.Limits{Memory: pixels.DecodingMemory(int64(len(file))), Size: int64(len(file))}
		limits.Takes = func(bytes int64) error {
			if bytes > limits.Memory {
				t.Errorf("%s takes %d bytes", name, bytes)
			}
			return full
		}
		_, err := pixels.ReadWithin(bytes.NewReader(file), limits)
		streamed := slices.Contains([]string{"bmp", "targa", "hdr", "dpx", "cineon", "jp2"}, formatOf(t, name).Name)
		if errors.Is(err, full) == streamed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAClaimThatIsNotWantedEndsTheReading(t *testing.T) {
	t.Parallel()
	files, _ := blenders(t)
	for name, file := range files {
		unwanted, asked := errors.New("unwanted"), 0
		_, err := pixels.ReadWithin(bytes.NewReader(file), pixels.Limits{Claims: func(format string, width, height int) error {
			asked++
			if format != formatOf(t, name).Name || width != 33 || height != 35 {
				t.Errorf("%s claims to be %s of %dx%d", name, format, width, height)
			}
			return unwanted
		}})
		if !errors.Is(err, unwanted) || asked != 1 {
			t.Errorf("%s: asked %d times, %v", name, asked, err)
		}
	}
}

// A file in which bytes have changed is read or refused within its limits; in no format does
// it become a picture of another size that its bytes cannot hold.
func TestDamagedFilesAreRefusedOrRead(t *testing.T) {
	t.Parallel()
	files, _ := blenders(t)
	names := slices.Sorted(maps.Keys(files))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "name")
		file := bytes.Clone(files[name])
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(file)-1).Draw(t, "at")
			if rapid.Bool().Draw(t, "in the header") {
				at = min(at, rapid.IntRange(0, 2100).Draw(t, "header"), len(file)-1)
			}
			file[at] = rapid.Byte().Draw(t, "byte")
		}
		_, _ = pixels.ReadWithin(bytes.NewReader(file), pixels.Limits{Memory: pixels.DecodingMemory(int64(len(file))), Size: int64(len(file)), Pixels: 33 * 35})
	})
}

// exrOf is a small OpenEXR file of halfs, uncompressed, whose parts a test may spoil.
func exrOf(channels []string, order byte, firstRow func(y int) int, behind string) []byte {
	const width, height = 4, 3
	file := pixelstest.EXRHeaderOf(width, height, channels, pixelstest.Half, 0)
	at := bytes.Index(file, []byte("lineOrder\x00lineOrder\x00")) + len("lineOrder\x00lineOrder\x00") + 4
	file[at] = order
	file = append(file, make([]byte, 8*height)...)
	for i := range height {
		y := i
		if order == 1 {
			y = height - 1 - i
		}
		file = binary.LittleEndian.AppendUint32(file, uint32(firstRow(y)))
		file = binary.LittleEndian.AppendUint32(file, uint32(2*width*len(channels)))
		for range width * len(channels) {
			file = binary.LittleEndian.AppendUint16(file, 0x3c00+uint16(y))
		}
	}
	return append(file, behind...)
}

func TestOpenEXRRowsHaveTheirNumbersInEitherOrder(t *testing.T) {
	t.Parallel()
	rgb, right := []string{"B", "G", "R"}, func(y int) int { return y }
	down, up := read(t, exrOf(rgb, 0, right, "")), read(t, exrOf(rgb, 1, right, ""))
	if down.FloatSHA256 != up.FloatSHA256 || down.FloatSHA256 == "" || !up.Decoded {
		t.Errorf("from the top %+v, from the bottom %+v", down, up)
	}
	if grey := read(t, exrOf([]string{"Y"}, 0, right, "")); grey.FloatSHA256 != down.FloatSHA256 {
		t.Errorf("grey %+v is not the same as its colours", grey)
	}
	many := make([]string, 30_000)
	for i := range many {
		many[i] = fmt.Sprintf("%06d.Combined.R", i)
	}
	for name, file := range map[string][]byte{
		"rows of nowhere":     exrOf(rgb, 0, func(y int) int { return y - 77777 }, ""),
		"one row twice":       exrOf(rgb, 0, func(int) int { return 0 }, ""),
		"an unknown order":    exrOf(rgb, 2, right, ""),
		"bytes after the end": exrOf(rgb, 0, right, "MZ"),
		"a channel twice":     exrOf([]string{"R", "R"}, 0, right, ""),
		"30,000 channels":     exrOf(many, 0, right, ""),
		"eight bytes":         exrOf(rgb, 0, right, "")[:8],
		"rows up, from down":  exrOf(rgb, 1, func(y int) int { return 2 - y }, ""),
	} {
		if p, err := pixels.Read(bytes.NewReader(file)); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// Each compression is distinguished from any number of random bytes. Only B44 is not: any
// bytes of the right number are pixels there.
func TestOpenEXROfRandomBytesIsRefused(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 1))
	for _, compression := range []byte{1, 2, 3, 4, 5, 8, 9} {
		for size := range 300 {
			file := pixelstest.EXRHeaderOf(64, 1, []string{"B", "G", "R"}, pixelstest.Half, compression)
			file = append(file, make([]byte, 12)...)
			file = binary.LittleEndian.AppendUint32(file, uint32(size))
			for range size {
				file = append(file, byte(random.Uint32()))
			}
			if p, err := pixels.Read(bytes.NewReader(file)); err == nil {
				t.Errorf("%d random bytes in compression %d are %+v", size, compression, p)
			}
		}
	}
}

// What OpenImageIO writes after a Targa picture is taken only where the mark at the end points to it.
func TestOnlyTheAreaThatItsMarkPointsToFollowsATargaPicture(t *testing.T) {
	t.Parallel()
	files, _ := blenders(t)
	const extensions, mark = 495, 26
	for _, name := range []string{"targa_rgb_oiio.tga", "targa_raw_rgba_oiio.tga"} {
		for _, at := range []int{mark, mark - 1, extensions + mark, extensions + mark - 1} { // its place and its length
			file := slices.Clone(files[name])
			file[len(file)-at]++
			if p, err := pixels.Read(bytes.NewReader(file)); err == nil {
				t.Errorf("%s with another byte, %d before the end, is %+v", name, at, p)
			}
		}
	}
}
