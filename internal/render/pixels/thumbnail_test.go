package pixels_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
	"svc.example/internal/test/alone"
	"svc.example/internal/test/pixelstest"
)

// rgb is red, green and blue, 0 to 1 each.
type rgb [3]float64

// wantThumbnail compares a thumbnail with the means of a picture, of which at returns
// each pixel.
func wantThumbnail(t interface{ Fatalf(string, ...any) }, got *image.RGBA, width, height, side int, at func(x, y int) rgb, shown func(float64) float64) {
	w, h := width, height
	if longer := max(width, height); longer > side {
		w, h = max(1, width*side/longer), max(1, height*side/longer)
	}
	if got.Rect != image.Rect(0, 0, w, h) {
		t.Fatalf("%d x %d became %v, want %d x %d", width, height, got.Rect, w, h)
	}
	for j := range h {
		for i := range w {
			var sum rgb
			n := 0.0
			for y := j * height / h; y < (j+1)*height/h; y++ {
				for x := i * width / w; x < (i+1)*width/w; x++ {
					for c, v := range at(x, y) {
						sum[c] += v
					}
					n++
				}
			}
			pixel := got.RGBAAt(i, j)
			for c, is := range []uint8{pixel.R, pixel.G, pixel.B} {
				if want := 255 * shown(sum[c]/n); math.Abs(float64(is)-want) > 1 {
					t.Fatalf("pixel %d, %d of %v: channel %d is %d, want %.2f", i, j, got.Rect, c, is, want)
				}
			}
			if pixel.A != 0xff {
				t.Fatalf("pixel %d, %d is not opaque", i, j)
			}
		}
	}
}

func asItIs(v float64) float64 { return v }

// overBlack returns the pixels of a picture that was decoded whole.
func overBlack(img image.Image) func(x, y int) rgb {
	b := img.Bounds()
	return func(x, y int) rgb {
		r, g, b, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
		return rgb{float64(r) / 0xffff, float64(g) / 0xffff, float64(b) / 0xffff}
	}
}

func TestAThumbnailIsTheMeanOfWhatItCovers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		img, side := anyImage(t), rapid.IntRange(1, 10).Draw(t, "side")
		got, err := pixels.Thumbnail(bytes.NewReader(encode(t, img, 0)), side)
		if err != nil {
			t.Fatal(err)
		}
		wantThumbnail(t, got, img.Bounds().Dx(), img.Bounds().Dy(), side, overBlack(img), asItIs)
		var file bytes.Buffer
		if err := jpeg.Encode(&file, img, nil); err != nil {
			t.Fatal(err)
		}
		decoded, err := jpeg.Decode(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err = pixels.Thumbnail(&file, side); err != nil {
			t.Fatal(err)
		}
		wantThumbnail(t, got, img.Bounds().Dx(), img.Bounds().Dy(), side, overBlack(toNRGBA(decoded)), asItIs)
	})
}

// exrFile is an OpenEXR picture to write. All its channels have the same values.
type exrFile struct {
	width, height int
	channels      []string
	values        byte // pixelstest.Half or Float
	compression   byte
	value         func(channel, x, y int) float32
}

// write writes it chunk by chunk. A file whose value is nil is all zeros, and its equal
// chunks are packed once.
func (e exrFile) write(t interface{ Fatal(...any) }, w io.Writer) error {
	le := binary.LittleEndian
	rows := map[byte]int{0: 1, 1: 1, 2: 1, 3: 16}[e.compression]
	_, err := w.Write(pixelstest.EXRHeaderOf(e.width, e.height, e.channels, e.values, e.compression))
	_, tableErr := w.Write(make([]byte, 8*((e.height+rows-1)/rows)))
	err = errors.Join(err, tableErr)
	packedOf := map[int][]byte{}
	for y := 0; y < e.height && err == nil; y += rows {
		n := min(rows, e.height-y)
		packed := packedOf[n]
		if packed == nil {
			raw := e.raw(y, n)
			if packed = packEXR(t, raw, e.compression); len(packed) >= len(raw) {
				packed = raw
			}
			if e.value == nil {
				packedOf[n] = packed
			}
		}
		_, err = w.Write(append(le.AppendUint32(le.AppendUint32(nil, uint32(y)), uint32(len(packed))), packed...))
	}
	return err
}

// raw returns n rows from y on, as they are before compression. Values are floats.
func (e exrFile) raw(y, n int) (raw []byte) {
	each := map[byte]int{pixelstest.Half: 2, pixelstest.Float: 4}[e.values]
	if e.value == nil {
		return make([]byte, n*e.width*len(e.channels)*each)
	}
	for row := y; row < y+n; row++ {
		for c := range e.channels {
			for x := range e.width {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(e.value(c, x, row)))
			}
		}
	}
	return raw
}

// srgb codes light for a screen.
func srgb(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// TestAnOpenEXRThumbnailIsTheMeanOfItsLight draws files of any of the compressions that
// this package knows, and values that a screen cannot show.
func TestAnOpenEXRThumbnailIsTheMeanOfItsLight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := exrFile{
			width: rapid.IntRange(1, 9).Draw(t, "width"), height: rapid.IntRange(1, 40).Draw(t, "height"),
			values: pixelstest.Float, compression: rapid.ByteRange(0, 3).Draw(t, "compression"),
			channels: rapid.SampledFrom([][]string{
				{"A", "B", "G", "R"}, {"B", "G", "R"}, {"Y"}, {"Layer.Combined.A", "Layer.Combined.B", "Layer.Combined.G", "Layer.Combined.R", "Layer.Depth.Z"},
			}).Draw(t, "channels"),
		}
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		values := rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 0, 0.001, 0.18, 0.5, 1, 7, -1, nan, inf, -inf}), e.width*e.height*len(e.channels), -1).Draw(t, "values")
		e.value = func(c, x, y int) float32 { return values[(c*e.height+y)*e.width+x] }
		var file bytes.Buffer
		if err := e.write(t, &file); err != nil {
			t.Fatal(err)
		}
		side := rapid.IntRange(1, 12).Draw(t, "side")
		got, err := pixels.Thumbnail(&file, side)
		if err != nil {
			t.Fatal(err)
		}
		place := func(name string) int {
			return max(0, slices.IndexFunc(e.channels, func(c string) bool { return strings.TrimPrefix(c, "Layer.Combined.") == name }))
		}
		at := func(x, y int) (light rgb) {
			for i, c := range []int{place("R"), place("G"), place("B")} {
				if v := e.value(c, x, y); v > 0 {
					light[i] = min(1, float64(v))
				}
			}
			return light
		}
		wantThumbnail(t, got, e.width, e.height, side, at, srgb)
	})
}

// TestAViewOfOpenEXRHasEachPixelAtItsExposure draws files of any of the compressions that this
// package knows.
func TestAViewOfOpenEXRHasEachPixelAtItsExposure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := exrFile{
			width: rapid.IntRange(1, 9).Draw(t, "width"), height: rapid.IntRange(1, 40).Draw(t, "height"),
			values: pixelstest.Float, compression: rapid.ByteRange(0, 3).Draw(t, "compression"), channels: []string{"Y"},
		}
		values := rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0.001, 0.18, 0.5, 1, 7, -1, float32(math.NaN()), float32(math.Inf(1))}), e.width*e.height, -1).Draw(t, "values")
		e.value = func(_, x, y int) float32 { return values[y*e.width+x] }
		var file bytes.Buffer
		if err := e.write(t, &file); err != nil {
			t.Fatal(err)
		}
		exposure := rapid.SampledFrom([]float64{-3, 0, 0.5, 4}).Draw(t, "exposure")
		by := rapid.SampledFrom(pixels.Transforms()).Draw(t, "transform")
		got, err := pixels.View(&file, pixels.Look{Exposure: exposure, Transform: by})
		if err != nil || got.Bounds() != image.Rect(0, 0, e.width, e.height) {
			t.Fatalf("%v, %v", got, err)
		}
		for y := range e.height {
			for x := range e.width {
				light := 0.0
				if v := float64(e.value(0, x, y)); v > 0 {
					light = v * math.Exp2(exposure)
				}
				want := 255 * screenOf(by, light)
				if code := float64(got.Y[got.YOffset(x, y)]); math.Abs(code-want) > 1.5 {
					t.Fatalf("%v at %v stops is %v by %s, want %v", e.value(0, x, y), exposure, code, by, want)
				}
			}
		}
	})
}

// screenOf is what a screen shows of light.
func screenOf(by pixels.Transform, light float64) float64 {
	switch by {
	case pixels.Filmic:
		if math.IsInf(light, 1) {
			return 1
		}
		x := 0.6 * light
		return srgb(min(1, x*(2.51*x+0.03)/(x*(2.43*x+0.59)+0.14)))
	case pixels.Raw:
		return min(1, light)
	}
	return srgb(min(1, light))
}

func TestOnlyOpenEXRHasAView(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{
		"PNG": pngOf(t, 4, 4), "nothing": nil, "wide": pixelstest.EXRHeader(1<<14, 1<<13, "Y", pixelstest.Float, 0),
	} {
		if _, err := pixels.View(bytes.NewReader(file), pixels.Look{Transform: pixels.Standard}); !errors.Is(err, pixels.ErrUnsupported) && !errors.Is(err, pixels.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHalvesAreReadAsTheyAre(t *testing.T) {
	t.Parallel()
	values := map[uint16]float64{
		0: 0, 0x3c00: 1, 0x3800: 0.5, 0x3400: 0.25, 0x0400: math.Ldexp(1, -14), 0x2e66: 0.0999755859375, 0x7bff: 1, 0x7c00: 1, 0x7e00: 0, 0xbc00: 0, 0x8000: 0, 0xfc00: 0, 0x03ff: math.Ldexp(1023, -24),
	}
	for bits, want := range values {
		var file bytes.Buffer
		file.Write(pixelstest.EXRHeader(1, 1, "Y", pixelstest.Half, 0))
		file.Write(append(make([]byte, 8), 0, 0, 0, 0, 2, 0, 0, 0, byte(bits), byte(bits>>8)))
		got, err := pixels.Thumbnail(&file, 1)
		if err != nil {
			t.Fatal(err)
		}
		wantThumbnail(t, got, 1, 1, 1, func(int, int) rgb { return rgb{want, want, want} }, srgb)
	}
}

// allocated returns how many bytes this process has ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// pngOf writes a 16-bit PNG of colours and alpha, all zeros.
func pngOf(t *testing.T, width, height int) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = append(binary.BigEndian.AppendUint32(head, uint32(height)), 16, 6, 0, 0, 0)
	var rows bytes.Buffer
	packed := zlib.NewWriter(&rows)
	if _, err := io.CopyN(packed, zeros{}, int64(height)*int64(1+8*width)); err != nil {
		t.Fatal(err)
	}
	_ = packed.Close()
	file := append([]byte("\x89PNG\r\n\x1a\n"), pixelstest.Chunk("IHDR", head)...)
	return append(append(file, pixelstest.Chunk("IDAT", rows.Bytes())...), pixelstest.Chunk("IEND", nil)...)
}

// TestAThumbnailTakes32MiBAtMost makes those of 8K pictures, which decoded take up to
// 1.6 GB. All that is allocated is counted, whether it is free again or not.
func TestAThumbnailTakes32MiBAtMost(t *testing.T) { alone.Run(t, aThumbnailTakes32MiBAtMost) }

func aThumbnailTakes32MiBAtMost(t *testing.T) {
	// Rows of 8K, so many that the pixels take more than the bound, and no more than that: each
	// row costs the race detector time.
	const width, height, fewer = 7680, 1440, 600
	half, float := byte(pixelstest.Half), byte(pixelstest.Float)
	passes := []string{"A.Combined.A", "A.Combined.B", "A.Combined.G", "A.Combined.R"}
	for i := range 8 {
		passes = append(passes, "B."+string(rune('a'+i)))
	}
	jpg := func() []byte {
		var out bytes.Buffer
		if err := jpeg.Encode(&out, image.NewYCbCr(image.Rect(0, 0, 3840, 2160), image.YCbCrSubsampleRatio444), nil); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	exr := func(channels []string, height int, values, compression byte) func() []byte {
		return func() []byte {
			var out bytes.Buffer
			if err := (exrFile{width: width, height: height, channels: channels, values: values, compression: compression}).write(t, &out); err != nil {
				t.Fatal(err)
			}
			return out.Bytes()
		}
	}
	for name, file := range map[string]func() []byte{
		"png":                   func() []byte { return pngOf(t, width, height) },
		"a row of 1 million":    func() []byte { return pngOf(t, 1<<20, 1) },
		"exr, zip":              exr([]string{"A", "B", "G", "R"}, height, half, 3),
		"exr, zip, 12 channels": exr(passes, fewer, float, 3),
		"exr, zips":             exr([]string{"A", "B", "G", "R"}, fewer, float, 2),
		"exr, runs":             exr([]string{"A", "B", "G", "R"}, fewer, half, 1),
		"jpeg":                  jpg,
	} {
		content := file()
		before := allocated()
		got, err := pixels.Thumbnail(bytes.NewReader(content), 480)
		used := allocated() - before
		if err != nil || max(got.Rect.Dx(), got.Rect.Dy()) != 480 {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %.1f MiB", name, float64(used)/(1<<20))
		if used > 32<<20 {
			t.Errorf("%s: %d bytes were allocated", name, used)
		}
	}
}

// TestWhatNeedsMoreMemoryHasNoThumbnail: each is refused by its header.
func TestWhatNeedsMoreMemoryHasNoThumbnail(t *testing.T) {
	t.Parallel()
	resized := func(kind byte, interlaced byte, side uint32) []byte {
		file := encode(t, image.NewGray(image.Rect(0, 0, 1, 1)), 0)
		binary.BigEndian.PutUint32(file[16:], side)
		binary.BigEndian.PutUint32(file[20:], side)
		file[25], file[28] = kind, interlaced
		return fixCRC(file)
	}
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio420), nil); err != nil {
		t.Fatal(err)
	}
	jpegOf := func(frame byte, side uint16) []byte {
		file := bytes.Clone(jpg.Bytes())
		at := bytes.Index(file, []byte{0xff, 0xc0})
		file[at+1] = frame
		binary.BigEndian.PutUint16(file[at+5:], side)
		binary.BigEndian.PutUint16(file[at+7:], side)
		return file
	}
	wide := append(pixelstest.EXRHeaderOf(1<<20, 1, []string{"B", "G", "R"}, pixelstest.Float, 1), make([]byte, 8)...)
	tiled := pixelstest.EXRHeader(9, 9, "Y", pixelstest.Half, 3)
	tiled[5] = 2
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"an interlaced PNG":  {resized(2, 1, 4096), pixels.ErrTooLarge},
		"a PNG of one row":   {resized(6, 0, 1<<28), pixels.ErrTooLarge},
		"an 8K JPEG":         {jpegOf(0xc0, 7680), pixels.ErrTooLarge},
		"a progressive JPEG": {jpegOf(0xc2, 3000), pixels.ErrTooLarge},
		"OpenEXR of runs":    {wide, pixels.ErrTooLarge},
		"OpenEXR in tiles":   {tiled, pixels.ErrUnsupported},
		"a GIF":              {[]byte("GIF89a and so on, for a while longer"), pixels.ErrUnsupported},
	} {
		if _, err := pixels.Thumbnail(bytes.NewReader(c.file), 480); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// A pass of distances is grey.
func TestOpenEXRWithoutColoursHasAThumbnail(t *testing.T) {
	t.Parallel()
	e := exrFile{width: 4, height: 3, values: pixelstest.Float, channels: []string{"Z"}, value: func(_, x, _ int) float32 { return float32(x) / 4 }}
	var file bytes.Buffer
	if err := e.write(t, &file); err != nil {
		t.Fatal(err)
	}
	got, err := pixels.Thumbnail(&file, 4)
	if err != nil {
		t.Fatal(err)
	}
	grey := func(x, _ int) rgb { return rgb{float64(x) / 4, float64(x) / 4, float64(x) / 4} }
	wantThumbnail(t, got, 4, 3, 4, grey, srgb)
}

// FuzzThumbnail holds any bytes to a picture or an error.
func FuzzThumbnail(f *testing.F) {
	img := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	img.Set(1, 1, color.White)
	var jpg, exr bytes.Buffer
	if err := jpeg.Encode(&jpg, img, nil); err != nil {
		f.Fatal(err)
	}
	if err := (exrFile{width: 3, height: 20, channels: []string{"B", "G", "R"}, values: pixelstest.Float, compression: 3}).write(f, &exr); err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{encode(f, img, 0), jpg.Bytes(), exr.Bytes(), tinyEXR(3, 2, 7)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if got, err := pixels.Thumbnail(bytes.NewReader(file), 4); err == nil && (got.Rect.Dx() < 1 || got.Rect.Dy() < 1 || max(got.Rect.Dx(), got.Rect.Dy()) > 4) {
			t.Fatalf("made %v", got.Rect)
		}
	})
}
