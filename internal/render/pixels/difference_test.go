package pixels_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"svc.example/internal/render/pixels"
)

// Noise as one GPU gave it in two renders of a frame is below the bound. A thing that moved
// by a pixel, and the noise of another seed, are above, also of a large picture made small.
func TestNoiseOfAGPUIsTellableFromAnotherPicture(t *testing.T) {
	t.Parallel()
	paint := func(width, height, edge int, seed uint64, noisy int) *image.RGBA {
		img, random := image.NewRGBA(image.Rect(0, 0, width, height)), rand.New(rand.NewPCG(seed, 1))
		for y := range height {
			for x := range width {
				v := 60 + random.IntN(26)
				if x < edge && y < height/8 {
					v += 100
				}
				img.SetRGBA(x, y, color.RGBA{uint8(v), uint8(v), uint8(v), 255})
			}
		}
		for i := range noisy { // in different rows
			img.Pix[img.PixOffset(7, 11*i)] += 10
		}
		return img
	}
	for name, c := range map[string]struct {
		width, height, edge int
		seed                uint64
		noisy               int
		alike               bool
	}{
		"equal":                {480, 270, 100, 1, 0, true},
		"a GPU's noise":        {480, 270, 100, 1, 9, true},
		"a thing moved":        {480, 270, 101, 1, 0, false},
		"another seed":         {480, 270, 100, 2, 0, false},
		"another seed, large":  {960, 540, 100, 2, 0, false},
		"a GPU's noise, large": {960, 540, 100, 1, 9, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := paint(c.width, c.height, 100, 1, 0), paint(c.width, c.height, c.edge, c.seed, c.noisy)
			var files [2]bytes.Buffer
			for i, img := range []*image.RGBA{one, other} {
				if err := png.Encode(&files[i], img); err != nil {
					t.Fatal(err)
				}
			}
			got, err := pixels.DifferenceOf(&files[0], &files[1])
			if err != nil || (got <= pixels.GPUNoise) != c.alike {
				t.Errorf("the difference is %g, %v; alike: want %t", got, err, c.alike)
			}
			if got := pixels.Difference(pixels.Smaller(one, 64), pixels.Smaller(other, 64)); c.edge == 100 && (got <= pixels.GPUNoise) != c.alike {
				t.Errorf("made small, the difference is %g; alike: want %t", got, c.alike)
			}
		})
	}
}
