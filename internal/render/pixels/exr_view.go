package pixels

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
)

// Bounds of views.
const (
	// ViewMost is how many pixels a picture has at most that View shows: those of 5K.
	ViewMost = 5120 * 2880
	// MostExposure is how many stops lighter or darker View shows a picture at most.
	MostExposure = 16
	// viewMost bounds what a view keeps, in bytes.
	viewMost = 56 << 20
)

// View reads an OpenEXR picture to its end and returns it at its full size, with so many
// stops more light, as sRGB and without the view of its scene. It takes less than 64 MiB.
// Errors: ErrUnsupported (also for all other formats, and for OpenEXR without a thumbnail),
// ErrTooLarge, and those of a file that is damaged.
func View(r io.Reader, exposure float64) (*image.YCbCr, error) {
	in := bufio.NewReader(r)
	if head, err := in.Peek(len(exrMagic)); err != nil || [4]byte(head) != exrMagic {
		return nil, ErrUnsupported
	}
	f, rgb, err := openColours(in)
	if err != nil {
		return nil, err
	}
	if size := int64(f.width) * int64(f.height); size > ViewMost || 3*f.chunkBytes()+size*3/2 > viewMost {
		return nil, fmt.Errorf("%d x %d pixels: %w", f.width, f.height, ErrTooLarge)
	}
	to, gain, codes := image.NewYCbCr(image.Rect(0, 0, f.width, f.height), image.YCbCrSubsampleRatio420), math.Exp2(exposure), screenCodes()
	err = f.chunks(io.Discard, func(y int, row []byte) {
		r, g, b := rgb[0].of(row, f.width), rgb[1].of(row, f.width), rgb[2].of(row, f.width)
		code := func(v exrValues, x int) uint8 { return codes[int(light(v, x, gain)*(screenSteps-1)+0.5)] }
		for x := range f.width {
			luma, blue, red := color.RGBToYCbCr(code(r, x), code(g, x), code(b, x))
			to.Y[to.YOffset(x, y)] = luma
			if x%2 == 0 && y%2 == 0 { // a JPEG has one colour for each two by two pixels
				at := to.COffset(x, y)
				to.Cb[at], to.Cr[at] = blue, red
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return to, nil
}

// screenSteps is how finely light is told apart: no step is more than one code of a screen.
const screenSteps = 1 << 12

// screenCodes are the codes of a screen for light in equal steps from 0 to 1.
func screenCodes() (codes [screenSteps]uint8) {
	for i := range codes {
		codes[i] = uint8(math.Round(255 * onScreen(float64(i)/(screenSteps-1))))
	}
	return codes
}
