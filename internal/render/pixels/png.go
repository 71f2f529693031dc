package pixels

import (
	"bufio"
	"bytes"
	"fmt"
	"image/png"
	"io"

	"svc.example/internal/render/pixels/pngrows"
)

// readPNG hashes a PNG. One of another kind than plain is left to image/png, which
// decodes it whole.
func readPNG(in *bufio.Reader, l *Limits) (Picture, error) {
	var f *form
	other, err := pngrows.Read(in, func(k pngrows.Kind) (func([]byte), error) {
		if err := l.claims("png", k.Width, k.Height); err != nil {
			return nil, err
		}
		f = newForm(k.Width, k.Height, k.Bits)
		return f.row, l.takes(3 * 8 * int64(k.Width)) // rows of the deepest kind
	})
	if err != nil {
		return Picture{}, err
	}
	if other != nil {
		return readOtherPNG(other, l)
	}
	return f.picture(), nil
}

// readOtherPNG decodes a PNG whole that Blender does not write: with a palette, interlaced
// or with a colour that counts as transparent. It reads the header twice: first for the size
// alone, because Decode allocates what the header claims.
func readOtherPNG(in io.Reader, l *Limits) (Picture, error) {
	var seen bytes.Buffer
	c, bytesEach, err := pngCost(io.TeeReader(in, &seen))
	if err != nil {
		return Picture{}, fmt.Errorf("read the png picture's header: %w", noEOF(err))
	}
	if err := l.claims("png", c.Width, c.Height); err != nil {
		return Picture{}, err
	}
	cost := int64(c.Width) * int64(c.Height) * int64(bytesEach)
	if !l.fits(cost) {
		return Picture{}, fmt.Errorf("the png picture is of a kind that takes %d bytes to decode, and that Blender does not write", cost)
	}
	if err := l.takes(cost); err != nil {
		return Picture{}, err
	}
	img, err := png.Decode(io.MultiReader(&seen, in))
	if err != nil {
		return Picture{}, fmt.Errorf("decode the png picture: %w", noEOF(err))
	}
	return Of(img), nil
}
