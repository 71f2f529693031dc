package pixels_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
	"svc.example/internal/test/pixelstest"
)

// painted is a picture of 10 rows, each of one colour.
func painted(rows ...color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 5, len(rows)))
	for y, c := range rows {
		draw.Draw(img, image.Rect(0, y, 5, y+1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	return img
}

func TestDefectsNameWhatIsBlankAndWhatIsPink(t *testing.T) {
	t.Parallel()
	black, red, mixed := color.NRGBA{A: 255}, color.NRGBA{R: 200, A: 255}, color.NRGBA{R: 9, G: 99, B: 50, A: 255}
	pink, dim := color.NRGBA{R: 255, B: 255, A: 255}, color.NRGBA{R: 100, G: 3, B: 102, A: 255}
	speckled := func(img *image.NRGBA, rows ...int) *image.NRGBA {
		for _, y := range rows {
			img.Set(2, y, color.NRGBA{R: 1, G: 2, B: 3, A: 255})
		}
		return img
	}
	glass, shadow := color.NRGBA{}, color.NRGBA{A: 120}
	dithered := painted(black, black, black)
	dithered.Set(1, 1, color.NRGBA{R: 1, G: 2, B: 1, A: 255})
	almost := painted(black, black, black)
	almost.Set(4, 2, color.NRGBA{B: 3, A: 255})
	black16, dim16 := image.NewNRGBA64(image.Rect(0, 0, 2, 2)), image.NewNRGBA64(image.Rect(0, 0, 2, 2))
	draw.Draw(black16, black16.Rect, image.NewUniform(color.NRGBA64{R: 0x02ff, A: 0xffff}), image.Point{}, draw.Src)
	draw.Draw(dim16, dim16.Rect, image.NewUniform(color.NRGBA64{R: 0x0300, A: 0xffff}), image.Point{}, draw.Src)
	for name, c := range map[string]struct {
		img         image.Image
		blank, pink float64
		black       bool
	}{
		"black":                   {painted(black, black, black, black), 1, 0, true},
		"black with dither":       {dithered, 1.0 / 3, 0, true},
		"black but for a pixel":   {almost, 2.0 / 3, 0, false},
		"grey black":              {image.NewGray(image.Rect(0, 0, 3, 3)), 1, 0, true},
		"black in 16 bits":        {black16, 1, 0, true},
		"dark in 16 bits":         {dim16, 1, 0, false},
		"transparent":             {painted(glass, glass), 1, 0, false},
		"a shadow alone":          {painted(shadow, glass, shadow), 1.0 / 3, 0, false},
		"lower half":              {speckled(painted(mixed, mixed, black, black), 0, 1), 0.5, 0, false},
		"upper quarter":           {speckled(painted(black, mixed, mixed, mixed), 1, 2, 3), 0.25, 0, false},
		"in the middle":           {speckled(painted(mixed, black, black, mixed), 0, 3), 0, 0, false},
		"two colours":             {painted(black, red, red, red), 0.75, 0, false},
		"no row of one":           {speckled(painted(mixed, mixed), 0, 1), 0, 0, false},
		"half pink":               {speckled(painted(pink, pink, red, red), 2, 3), 0.5, 0.5, false},
		"dim pink":                {painted(dim, dim), 1, 1, false},
		"purple is not pink":      {painted(color.NRGBA{R: 200, G: 60, B: 200, A: 255}), 1, 0, false},
		"magenta is not pink":     {painted(color.NRGBA{R: 255, B: 200, A: 255}), 1, 0, false},
		"transparent, in 16 bits": {image.NewRGBA64(image.Rect(0, 0, 3, 3)), 1, 0, false},
	} {
		if got := pixels.Of(c.img).Defects; got != (pixels.Defects{Blank: c.blank, Pink: c.pink, Black: c.black}) {
			t.Errorf("%s: %+v, want %g blank, %g pink, black %t", name, got, c.blank, c.pink, c.black)
		}
	}
}

// colourEXR writes rows of pixels, each red, green, blue and alpha, as half or float.
func colourEXR(kind byte, pixels ...[4]float32) []byte {
	const width = 2
	var out bytes.Buffer
	le := binary.LittleEndian
	height := len(pixels) / width
	out.Write(pixelstest.EXRHeaderOf(width, height, []string{"A", "B", "G", "R"}, kind, 0))
	out.Write(make([]byte, 8*height))
	for y := range height {
		var raw []byte
		for _, channel := range []int{3, 2, 1, 0} {
			for x := range width {
				v := pixels[y*width+x][channel]
				if kind == pixelstest.Half {
					raw = le.AppendUint16(raw, halfOf(v))
				} else {
					raw = le.AppendUint32(raw, math.Float32bits(v))
				}
			}
		}
		out.Write(le.AppendUint32(le.AppendUint32(nil, uint32(y)), uint32(len(raw))))
		out.Write(raw)
	}
	return out.Bytes()
}

// halfOf writes a value as a half, cut off and not rounded; 0 for what is too small.
func halfOf(v float32) uint16 {
	bits := math.Float32bits(v)
	exponent := int(bits>>23&0xff) - 127 + 15
	if exponent <= 0 {
		return 0
	}
	return uint16(bits>>16&0x8000) | uint16(exponent<<10) | uint16(bits>>13&0x3ff)
}

func TestOpenEXRIsBlackAndPinkInItsLight(t *testing.T) {
	t.Parallel()
	black, dark, bright := [4]float32{0, 0, 0, 1}, [4]float32{0.0005, 0, 0, 1}, [4]float32{0.2, 0.3, 4, 1}
	pink, dim, purple := [4]float32{1, 0, 1, 1}, [4]float32{0.06, 0.001, 0.0605, 1}, [4]float32{1, 0, 0.8, 1}
	for name, c := range map[string]struct {
		pixels [][4]float32
		pink   float64
		black  bool
	}{
		"black":              {[][4]float32{black, black, black, black}, 0, true},
		"below black":        {[][4]float32{black, {-0.1, 0, 0, 1}}, 0, true},
		"as good as black":   {[][4]float32{black, dark}, 0, true},
		"a light":            {[][4]float32{black, black, black, bright}, 0, false},
		"transparent":        {[][4]float32{{}, {}}, 0, false},
		"a shadow":           {[][4]float32{black, {0, 0, 0, 0.5}}, 0, false},
		"pink":               {[][4]float32{pink, pink, black, bright}, 0.5, false},
		"dim pink":           {[][4]float32{dim, black}, 0.5, false},
		"purple is not pink": {[][4]float32{purple, purple}, 0, false},
	} {
		for _, kind := range []byte{pixelstest.Half, pixelstest.Float} {
			got := read(t, colourEXR(kind, c.pixels...)).Defects
			if got.Pink != c.pink || got.Black != c.black || got.NotFinite {
				t.Errorf("%s of kind %d: %+v, want %g pink, black %t", name, kind, got, c.pink, c.black)
			}
		}
	}
}

func TestEncodingKeepsTheDefects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		img := anyImage(t)
		if got, want := read(t, encode(t, img, png.BestSpeed)).Defects, pixels.Of(img).Defects; got != want {
			t.Fatalf("%+v, want %+v", got, want)
		}
	})
}

// The values of an OpenEXR picture are checked for every compression.
func TestAnOpenEXRPictureWithValuesThatAreNoNumbersIsNotFinite(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		values := make([]float32, width*height)
		for i := range values {
			values[i] = rapid.Float32Range(-10, 10).Draw(t, "value")
		}
		kind := rapid.SampledFrom([]byte{0, 1, 2, 3}).Draw(t, "compression")
		if got := read(t, floatEXR(t, width, height, values, kind)).Defects; got.NotFinite {
			t.Fatalf("%+v of %v", got, values)
		}
		at := rapid.IntRange(0, len(values)-1).Draw(t, "at")
		values[at] = rapid.SampledFrom([]float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}).Draw(t, "bad")
		if got := read(t, floatEXR(t, width, height, values, kind)).Defects; !got.NotFinite {
			t.Fatalf("%+v with %g at %d", got, values[at], at)
		}
	})
}

func TestADepthPassMayBeInfinite(t *testing.T) {
	t.Parallel()
	file := floatEXR(t, 2, 1, []float32{1, float32(math.Inf(1))}, 0)
	renamed := bytes.Replace(file, []byte("R\x00\x02\x00\x00\x00"), []byte("Z\x00\x02\x00\x00\x00"), 1)
	if got := read(t, renamed).Defects; got != (pixels.Defects{}) {
		t.Errorf("%+v, want nothing: it has no colours", got)
	}
}

// floatEXR writes a picture of one red channel of floats.
func floatEXR(t interface{ Fatal(...any) }, width, height int, values []float32, compression byte) []byte {
	var out bytes.Buffer
	le := binary.LittleEndian
	out.Write(pixelstest.EXRHeader(width, height, "R", pixelstest.Float, compression))
	rows := map[byte]int{0: 1, 1: 1, 2: 1, 3: 16}[compression]
	out.Write(make([]byte, 8*((height+rows-1)/rows)))
	for y := 0; y < height; y += rows {
		var raw []byte
		for _, v := range values[y*width : min(y+rows, height)*width] {
			raw = le.AppendUint32(raw, math.Float32bits(v))
		}
		packed := packEXR(t, raw, compression)
		if len(packed) >= len(raw) {
			packed = raw
		}
		out.Write(le.AppendUint32(le.AppendUint32(nil, uint32(y)), uint32(len(packed))))
		out.Write(packed)
	}
	return out.Bytes()
}

// packEXR compresses a chunk as OpenEXR does.
func packEXR(t interface{ Fatal(...any) }, raw []byte, compression byte) []byte {
	if compression == 0 {
		return raw
	}
	half := (len(raw) + 1) / 2
	apart := make([]byte, len(raw))
	for i, b := range raw {
		if i%2 == 0 {
			apart[i/2] = b
		} else {
			apart[half+i/2] = b
		}
	}
	for i := len(apart) - 1; i > 0; i-- {
		apart[i] = apart[i] - apart[i-1] + 128
	}
	if compression == 1 {
		return packRuns(apart)
	}
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	if _, err := z.Write(apart); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// packRuns writes runs of three and more as such, and the rest byte for byte.
func packRuns(in []byte) (out []byte) {
	for len(in) > 0 {
		n := 1
		for n < len(in) && n < 128 && in[n] == in[0] {
			n++
		}
		if n >= 3 {
			out, in = append(out, byte(n-1), in[0]), in[n:]
			continue
		}
		out, in = append(out, 0xff, in[0]), in[1:]
	}
	return out
}
