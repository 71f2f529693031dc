package pixels

import (
	"bufio"
	"fmt"
	"image"
	"io"
)

// exrThumbnail scales an OpenEXR picture while it is read.
func exrThumbnail(in *bufio.Reader, side int) (*image.RGBA, error) {
	f, err := openView(in)
	if err != nil {
		return nil, err
	}
	rgb := f.layers()[0].shown("")
	if f.viewBytes() > thumbnailMost {
		return nil, fmt.Errorf("an OpenEXR chunk has %d bytes: %w", f.chunkBytes(), ErrTooLarge)
	}
	s := newScaler(f.width, f.height, side)
	if err := f.chunks(io.Discard, func(y int, row []byte) {
		r, g, b := rgb[0].of(row, f.width), rgb[1].of(row, f.width), rgb[2].of(row, f.width)
		s.add(y, func(x int) (float64, float64, float64) { return light(r, x, 1), light(g, x, 1), light(b, x, 1) })
	}); err != nil {
		return nil, err
	}
	return s.picture(onScreen), nil
}

// light returns a value, times a gain, as light, 0 to 1: a screen shows no more. What is no
// number is dark.
func light(v exrValues, x int, gain float64) float64 {
	if value := v.at(x); value > 0 { // no number is not
		return min(float64(value)*gain, 1)
	}
	return 0
}
