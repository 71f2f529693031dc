package pixels_test

import (
	"bytes"
	"errors"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/render/pixels"
	"svc.example/internal/test/pixelstest"
)

// passes is a picture with passes as Blender names them.
func passes(width, height int, compression byte, value func(channel, x, y int) float32) exrFile {
	return exrFile{
		width: width, height: height, values: pixelstest.Float, compression: compression, value: value,
		channels: []string{"A.Combined.A", "A.Combined.B", "A.Combined.G", "A.Combined.R", "A.Crypto00.a", "A.Crypto00.b", "A.Crypto00.g", "A.Crypto00.r", "A.Depth.Z", "A.Normal.X", "A.Normal.Y", "A.Normal.Z"},
	}
}

func TestLayersAreThoseOfTheFileThePictureFirst(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	if err := passes(1, 1, 0, func(int, int, int) float32 { return 0 }).write(t, &file); err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(filepath.Join("testdata", "blender", "open_exr_rgba_32_zip.exr"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]pixels.Layer{
		file.String():       {{"A.Combined", []string{"R", "G", "B", "A"}}, {"A.Crypto00", []string{"r", "g", "b", "a"}}, {"A.Depth", []string{"Z"}}, {"A.Normal", []string{"X", "Y", "Z"}}},
		string(plain):       {{"", []string{"R", "G", "B", "A"}}},
		"no picture":        nil,
		"\x89PNG\r\n\x1a\n": nil,
	} {
		got, err := pixels.Layers(bytes.NewReader([]byte(name)))
		if !reflect.DeepEqual(got, want) || (want == nil) != errors.Is(err, pixels.ErrUnsupported) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

// The values of a pixel are read without what follows its chunk.
func TestValuesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		some := []float32{0, 0.001, 0.18, 1, 7, -3, float32(math.Inf(1)), 1e10}
		value := func(channel, x, y int) float32 { return some[(3*channel+5*x+7*y)%len(some)] }
		e := passes(rapid.IntRange(1, 9).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height"), rapid.ByteRange(0, 3).Draw(t, "compression"), value)
		var file bytes.Buffer
		if err := e.write(t, &file); err != nil {
			t.Fatal(err)
		}
		x, y := rapid.IntRange(-1, e.width).Draw(t, "x"), rapid.IntRange(-1, e.height).Draw(t, "y")
		layer := rapid.SampledFrom([]string{"A.Normal", "A.Depth", "A.Combined", "", "unknown"}).Draw(t, "layer")
		channels := map[string][]int{"A.Normal": {9, 10, 11}, "A.Depth": {8}}[layer]
		if channels == nil {
			channels = []int{3, 2, 1, 0} // the picture
		}
		var want []pixels.Value
		for _, c := range channels {
			if x >= 0 && y >= 0 && x < e.width && y < e.height {
				want = append(want, pixels.Value{Channel: e.channels[c][len(e.channels[c])-1:], Value: value(c, x, y)})
			}
		}
		whole := file.Bytes()
		if y < 16 && e.height > 32 { // the last chunk is another one
			whole = whole[:len(whole)-1]
		}
		got, err := pixels.ValuesAt(bytes.NewReader(whole), layer, x, y)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s at %d, %d is %v, %v; want %v", layer, x, y, got, err, want)
		}
	})
}

func TestAViewShowsTheChosenLayerAndChannel(t *testing.T) {
	t.Parallel()
	e := passes(3, 2, 3, func(channel, _, _ int) float32 { return float32(channel) / 16 })
	var file bytes.Buffer
	if err := e.write(t, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		layer, channel string
		shows          [3]int // channels
	}{
		{"", "", [3]int{3, 2, 1}}, {"A.Combined", "A", [3]int{0, 0, 0}}, {"A.Depth", "", [3]int{8, 8, 8}},
		{"A.Normal", "", [3]int{9, 10, 11}}, {"A.Normal", "Y", [3]int{10, 10, 10}}, {"A.Crypto00", "nonsense", [3]int{7, 6, 5}}, {"unknown", "G", [3]int{2, 2, 2}},
	} {
		got, err := pixels.View(bytes.NewReader(file.Bytes()), pixels.Look{Transform: pixels.Raw, Layer: c.layer, Channel: c.channel})
		if err != nil {
			t.Fatal(err)
		}
		var code [3]uint8
		for i, channel := range c.shows {
			code[i] = uint8(math.Round(255 * float64(channel) / 16))
		}
		luma, blue, red := color.RGBToYCbCr(code[0], code[1], code[2])
		shown := got.YCbCrAt(0, 0)
		if want := (color.YCbCr{Y: luma, Cb: blue, Cr: red}); unlike(shown.Y, want.Y) || unlike(shown.Cb, want.Cb) || unlike(shown.Cr, want.Cr) {
			t.Errorf("%s %s is %v, want %v", c.layer, c.channel, shown, want)
		}
	}
}

// unlike reports that two codes are further apart than rounding.
func unlike(a, b uint8) bool { return max(a, b)-min(a, b) > 1 }
