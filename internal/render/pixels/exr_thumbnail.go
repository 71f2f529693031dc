package pixels

import (
	"bufio"
	"fmt"
	"image"
	"io"

	"svc.example/internal/render/pixels/exr"
)

// exrThumbnail scales an OpenEXR picture while it is read.
func exrThumbnail(in *bufio.Reader, side int) (*image.RGBA, error) {
	f, err := openView(in)
	if err != nil {
		return nil, err
	}
	rgb := layersOf(f)[0].shown("")
	if f.ViewMemory() > thumbnailMost {
		return nil, fmt.Errorf("an OpenEXR chunk has %d bytes: %w", f.ChunkBytes(), ErrTooLarge)
	}
	s := newScaler(f.Width, f.Height, side)
	if err := f.Chunks(io.Discard, func(y int, row []byte) {
		r, g, b := rgb[0].Of(row), rgb[1].Of(row), rgb[2].Of(row)
		s.add(y, func(x int) (float64, float64, float64) { return light(r, x, 1), light(g, x, 1), light(b, x, 1) })
	}); err != nil {
		return nil, err
	}
	return s.picture(onScreen), nil
}

// light returns a value, times a gain, as light, 0 to 1: a screen shows no more. What is no
// number is dark.
func light(v exr.Values, x int, gain float64) float64 {
	if value := v.At(x); value > 0 { // no number is not
		return min(float64(value)*gain, 1)
	}
	return 0
}
