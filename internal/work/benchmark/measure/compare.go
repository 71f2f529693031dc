package measure

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"

	"svc.example/internal/render/pixels"
	"svc.example/internal/work/benchmark"
)

// block is the side, in pixels, of the squares over which a picture is averaged
// before the comparison. The noise of a few samples differs between devices and
// versions of Blender; the averaged scene does not.
const block = 30

// comparison is the result for one scene's picture.
type comparison struct {
	pixels, reference string // SHA-256 of the decoded pixels
	difference        float64
}

// matches is the worker's own verdict. The service judges the difference again.
func (c comparison) matches() bool { return c.difference <= benchmark.Tolerance }

// compare compares a picture with the scene's reference. The reference is kept reduced, so
// only the found picture is averaged. Errors are those of the file and of PNG; a wrong
// picture is no error but a large difference.
func compare(scene, path string) (comparison, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return comparison{}, fmt.Errorf("read the picture: %w", err)
	}
	found, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return comparison{}, fmt.Errorf("the picture: %w", err)
	}
	kept, err := scenes.ReadFile("scenes/" + scene + ".png")
	if err != nil {
		return comparison{}, fmt.Errorf("take the reference: %w", err)
	}
	wanted, err := png.Decode(bytes.NewReader(kept))
	if err != nil {
		return comparison{}, fmt.Errorf("the reference: %w", err)
	}
	return comparison{pixels: pixels.Of(found).SHA256, reference: pixels.Of(wanted).SHA256, difference: pixels.Difference(reduce(found), wanted)}, nil
}

// reduce averages over squares of block pixels. It drops incomplete squares at the
// edges.
func reduce(img image.Image) image.Image {
	size := img.Bounds().Size().Div(block)
	small := image.NewRGBA64(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			small.SetRGBA64(x, y, average(img, img.Bounds().Min.Add(image.Pt(x, y).Mul(block))))
		}
	}
	return small
}

// average returns the mean colour of the block whose upper left corner is at, without
// alpha.
func average(img image.Image, at image.Point) color.RGBA64 {
	var sum [3]uint64
	for y := range block {
		for x := range block {
			r, g, b, _ := img.At(at.X+x, at.Y+y).RGBA()
			sum[0], sum[1], sum[2] = sum[0]+uint64(r), sum[1]+uint64(g), sum[2]+uint64(b)
		}
	}
	for i := range sum {
		sum[i] /= block * block
	}
	return color.RGBA64{R: uint16(sum[0]), G: uint16(sum[1]), B: uint16(sum[2]), A: math.MaxUint16}
}
