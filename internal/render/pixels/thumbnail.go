package pixels

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"path"
	"slices"

	"svc.example/internal/render/pixels/exr"
	"svc.example/internal/render/pixels/pngrows"
)

// ErrTooLarge reports a picture of which no thumbnail can be made within the memory for
// one.
var ErrTooLarge = errors.New("a thumbnail takes too much memory")

// thumbnailMost bounds the rows, the chunk or the whole picture that a thumbnail is made
// from, in bytes. With the sums of a thumbnail and the states of the decoders it stays
// below 32 MiB.
const thumbnailMost = 24 << 20

// thumbnailSide bounds the longer side of a thumbnail, in pixels.
const thumbnailSide = 512

// Thumbnail reads a picture to its end and returns it with a longer side of at most
// side pixels, 512 at most, over black and opaque. It takes less than 32 MiB, whatever
// the picture: PNGs as Blender writes them and OpenEXR are read by rows, and others are
// refused by their header when they need more. OpenEXR is shown as sRGB, without the
// view of its scene. Errors: ErrUnsupported, ErrTooLarge, and those of a file that is damaged.
func Thumbnail(r io.Reader, side int) (*image.RGBA, error) {
	side = min(side, thumbnailSide)
	in := bufio.NewReader(r)
	head, err := in.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("read the picture's first bytes: %w", noEOF(err))
	}
	switch {
	case bytes.Equal(head, []byte("\x89PNG")):
		return pngThumbnail(in, side)
	case bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}):
		return imageThumbnail(in, side, jpegCost, jpeg.Decode)
	case string(head) == exr.Magic:
		return exrThumbnail(in, side)
	}
	return nil, ErrUnsupported
}

// Thumbnails reports whether files of a name's kind can have a thumbnail.
func Thumbnails(name string) bool {
	return slices.Contains([]string{".png", ".jpg", ".exr"}, path.Ext(name))
}

// pngThumbnail scales a PNG while it is read.
func pngThumbnail(in *bufio.Reader, side int) (*image.RGBA, error) {
	var s *scaler
	other, err := pngrows.Read(in, func(k pngrows.Kind) (func([]byte), error) {
		// Three rows are in memory, the widest with four values a pixel.
		if int64(k.Width)*int64(3*4*k.Bits/8) > thumbnailMost {
			return nil, fmt.Errorf("a row has %d pixels: %w", k.Width, ErrTooLarge)
		}
		y := 0
		s = newScaler(k.Width, k.Height, side)
		return func(row []byte) { s.add(y, over(row, k.Bits)); y++ }, nil
	})
	if err != nil {
		return nil, err
	}
	if other != nil {
		return imageThumbnail(other, side, pngCost, png.Decode)
	}
	return s.picture(asItIs), nil
}

// imageThumbnail decodes a picture whole, when its header says that this is cheap
// enough. cost returns the size and the bytes for each pixel.
func imageThumbnail(r io.Reader, side int, cost func(io.Reader) (image.Config, int, error), decode func(io.Reader) (image.Image, error)) (*image.RGBA, error) {
	var seen bytes.Buffer
	size, bytesEach, err := cost(io.TeeReader(r, &seen))
	if err != nil {
		return nil, fmt.Errorf("read the picture's header: %w", noEOF(err))
	}
	if size.Width < 1 || size.Height < 1 || int64(size.Width)*int64(size.Height) > int64(thumbnailMost/bytesEach) {
		return nil, fmt.Errorf("%d x %d pixels: %w", size.Width, size.Height, ErrTooLarge)
	}
	img, err := decode(io.MultiReader(&seen, r))
	if err != nil {
		return nil, fmt.Errorf("decode the picture: %w", noEOF(err))
	}
	b, bits, write := img.Bounds(), bitsOf(img), row8
	if bits == 16 {
		write = row16
	}
	s, row := newScaler(b.Dx(), b.Dy(), side), make([]byte, 4*bits/8*b.Dx())
	for y := range b.Dy() {
		write(row, img, b.Min.Y+y)
		s.add(y, over(row, bits))
	}
	return s.picture(asItIs), nil
}

// maxHeader bounds what is kept of a file while its header is looked for, in bytes.
const maxHeader = 512 << 10

// pngCost returns what a PNG needs that is not read by rows. An interlaced one
// needs memory for its parts in addition to the whole.
func pngCost(r io.Reader) (image.Config, int, error) {
	c, err := png.DecodeConfig(io.LimitReader(r, maxHeader))
	if c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model || c.ColorModel == color.Gray16Model {
		return c, 16, err
	}
	return c, 8, err
}

// jpegCost returns what a JPEG needs: a byte for each value, and for progressive ones
// four bytes more to collect it in.
func jpegCost(r io.Reader) (image.Config, int, error) {
	var head bytes.Buffer
	c, err := jpeg.DecodeConfig(io.TeeReader(io.LimitReader(r, maxHeader), &head))
	if err != nil {
		return c, 1, err
	}
	values := map[color.Model]int{color.GrayModel: 1, color.YCbCrModel: 3}[c.ColorModel]
	if values == 0 {
		values = 4
	}
	if isProgressive(head.Bytes()) {
		return c, 5 * values, nil
	}
	return c, values, nil
}

// isProgressive looks for the frame header of a JPEG among its first segments: FF, a
// type, and a length that includes itself.
func isProgressive(head []byte) bool {
	for at := 2; at+4 <= len(head); {
		kind := head[at+1]
		switch {
		case head[at] != 0xff:
			return true // not understood: the dearer kind
		case kind == 0xff: // fill
			at++
			continue
		case kind == 0xc0 || kind == 0xc1:
			return false
		case kind == 0xc2:
			return true
		}
		at += 2 + int(binary.BigEndian.Uint16(head[at+2:]))
	}
	return true
}
