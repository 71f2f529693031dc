package pixels

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"image"
	"image/color"
	"io"
)

// MaxPixels bounds a picture: 16384 x 16384, 2 GiB decoded at 16 bits. It is what
// the service can check at all; a caller that knows the scene passes less to
// ReadAtMost.
const MaxPixels = 1 << 28

// ErrUnsupported reports that a file has none of the formats that this package
// reads. Blender, which wrote it, has to hash it then (the float form).
var ErrUnsupported = errors.New("the file has none of the formats of pictures that Blender writes")

// Picture is a picture that was read to its end.
type Picture struct {
	Format string // a name of the table of formats, such as "png"
	Width  int    // pixels
	Height int
	Bits   int // of a channel: 8 or 16; 0 where they differ or are not known
	// Decoded reports that the pixels were decoded. Otherwise only the structure was looked
	// at: the size, the length of all parts, and that nothing follows the picture.
	Decoded bool
	SHA256  string // of the canonical form, lower-case hex; "" where the format has none here
	// FloatSHA256 is the hash of the form svc-pixels-f32-v1, of OpenEXR with one layer;
	// otherwise "".
	FloatSHA256 string
	// Comparable reports that one of the two is the hash that a worker's picture has in a
	// receipt. For other pictures only Blender can compute it.
	Comparable bool
	Defects    Defects
}

// Has reports whether a hash is that of the picture's pixels, in one of its forms.
func (p Picture) Has(sha256 string) bool {
	return sha256 != "" && (sha256 == p.SHA256 || sha256 == p.FloatSHA256)
}

// tooLarge is the refusal of a picture above the bound.
func tooLarge(format string, width, height int, most int64) error {
	return fmt.Errorf("the %s picture is %dx%d: more than %d pixels", format, width, height, most)
}

// noEOF turns an unexpected end of a file into the error for a cut file.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// form hashes rows in the form svc-pixels-v1 and looks for defects in them. Every
// decoder of PNG and JPEG ends here, so one picture has one hash, however it came.
type form struct {
	p     Picture
	sum   hash.Hash
	l     detector
	value int // bytes of a value
}

// newForm writes the first line of the form, so that two pictures with the same
// bytes but another width or depth differ.
func newForm(width, height, bits int) *form {
	f := &form{p: Picture{Width: width, Height: height, Bits: bits}, sum: sha256.New(), value: bits / 8}
	fmt.Fprintf(f.sum, "svc-pixels-v1 %d %d %d\n", width, height, bits)
	return f
}

// row adds the next row, from the top: red, green, blue and alpha of each pixel.
func (f *form) row(row []byte) {
	f.sum.Write(row)
	f.l.row(row, 4*f.value)
	f.l.colours(row, f.value)
}

// picture ends the hash. Format is left empty.
func (f *form) picture() Picture {
	f.p.Decoded, f.p.Comparable = true, true
	f.p.Defects, f.p.SHA256 = f.l.defects(), hex.EncodeToString(f.sum.Sum(nil))
	return f.p
}

// Of hashes a decoded picture in the form svc-pixels-v1. Format is left empty. The
// picture must not be changed meanwhile.
func Of(img image.Image) Picture {
	b, bits := img.Bounds(), bitsOf(img)
	f := newForm(b.Dx(), b.Dy(), bits)
	write := row8
	if bits == 16 {
		write = row16
	}
	row := make([]byte, 4*f.value*b.Dx())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		write(row, img, y)
		f.row(row)
	}
	return f.picture()
}

// bitsOf is the depth of a picture in the form: 16 where the type can hold more
// than 8 bits.
func bitsOf(img image.Image) int {
	switch img.ColorModel() {
	case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model, color.Alpha16Model:
		return 16
	}
	return 8
}

// row8 writes row y of img as red, green, blue and alpha, a byte each and not
// multiplied by alpha. The types that the decoders return are read directly, since
// a call for each pixel would take many times as long.
func row8(row []byte, img image.Image, y int) {
	b := img.Bounds()
	switch m := img.(type) {
	case *image.NRGBA:
		copy(row, m.Pix[m.PixOffset(b.Min.X, y):])
	case *image.Gray:
		for i, v := range m.Pix[m.PixOffset(b.Min.X, y):][:b.Dx()] {
			row[4*i], row[4*i+1], row[4*i+2], row[4*i+3] = v, v, v, 0xff
		}
	case *image.YCbCr:
		for i := range b.Dx() {
			at := m.YCbCrAt(b.Min.X+i, y)
			row[4*i], row[4*i+1], row[4*i+2] = color.YCbCrToRGB(at.Y, at.Cb, at.Cr)
			row[4*i+3] = 0xff
		}
	case *image.RGBA: // where opaque, there is nothing to divide by alpha
		copy(row, m.Pix[m.PixOffset(b.Min.X, y):])
		for i := range b.Dx() {
			if row[4*i+3] != 0xff {
				put8(row[4*i:], m.RGBAAt(b.Min.X+i, y))
			}
		}
	default:
		for i := range b.Dx() {
			put8(row[4*i:], img.At(b.Min.X+i, y))
		}
	}
}

// put8 converts one pixel of any type.
func put8(to []byte, c color.Color) {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	to[0], to[1], to[2], to[3] = n.R, n.G, n.B, n.A
}

// row16 is row8 for two bytes a value, big-endian, which is how Go keeps them.
func row16(row []byte, img image.Image, y int) {
	b := img.Bounds()
	switch m := img.(type) {
	case *image.NRGBA64:
		copy(row, m.Pix[m.PixOffset(b.Min.X, y):])
	case *image.RGBA64:
		copy(row, m.Pix[m.PixOffset(b.Min.X, y):])
		for i := range b.Dx() {
			if row[8*i+6] != 0xff || row[8*i+7] != 0xff {
				put16(row[8*i:], m.RGBA64At(b.Min.X+i, y))
			}
		}
	default:
		for i := range b.Dx() {
			put16(row[8*i:], img.At(b.Min.X+i, y))
		}
	}
}

// put16 converts one pixel of any type.
func put16(to []byte, c color.Color) {
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	for i, v := range [4]uint16{n.R, n.G, n.B, n.A} {
		binary.BigEndian.PutUint16(to[2*i:], v)
	}
}
