package pixels

import (
	"encoding/binary"
	"image"
	"math"
)

// scaler makes a picture smaller while its rows are read, in any order. Each pixel of
// the small one is the mean of the area that it covers. Its memory does not depend on
// the picture's size.
type scaler struct {
	width, height int       // of the picture
	w, h          int       // of the small one
	sums          []float32 // red, green and blue of each small pixel
}

// newScaler makes a picture's longer side at most side pixels. A smaller picture keeps
// its size. The aspect stays, and no side becomes 0.
func newScaler(width, height, side int) *scaler {
	s := &scaler{width: width, height: height, w: width, h: height}
	if longer := max(width, height); longer > side {
		s.w, s.h = max(1, width*side/longer), max(1, height*side/longer)
	}
	s.sums = make([]float32, 3*s.w*s.h)
	return s
}

// Smaller returns a picture with a longer side of at most side pixels, over black and
// opaque.
func Smaller(from *image.RGBA, side int) *image.RGBA {
	b := from.Bounds()
	s := newScaler(b.Dx(), b.Dy(), side)
	for y := range b.Dy() {
		s.add(y, over(from.Pix[y*from.Stride:], 8))
	}
	return s.picture(asItIs)
}

// add adds row y, 0 at the top. at returns red, green and blue of a pixel, 0 to 1 each.
func (s *scaler) add(y int, at func(x int) (r, g, b float64)) {
	sums := s.sums[3*s.w*(((y+1)*s.h-1)/s.height):]
	for i := range s.w {
		var r, g, b float64
		for x := i * s.width / s.w; x < (i+1)*s.width/s.w; x++ {
			pr, pg, pb := at(x)
			r, g, b = r+pr, g+pg, b+pb
		}
		sums[3*i], sums[3*i+1], sums[3*i+2] = sums[3*i]+float32(r), sums[3*i+1]+float32(g), sums[3*i+2]+float32(b)
	}
}

// picture returns the small picture, opaque. shown turns a mean into what is shown, 0 to
// 1 too.
func (s *scaler) picture(shown func(float64) float64) *image.RGBA {
	to := image.NewRGBA(image.Rect(0, 0, s.w, s.h))
	for y := range s.h {
		rows := (y+1)*s.height/s.h - y*s.height/s.h
		for x := range s.w {
			area := float64(rows * ((x+1)*s.width/s.w - x*s.width/s.w))
			at := y*s.w + x
			for c := range 3 {
				to.Pix[4*at+c] = uint8(math.Round(255 * shown(min(1, float64(s.sums[3*at+c])/area))))
			}
			to.Pix[4*at+3] = 0xff
		}
	}
	return to
}

// over returns the pixels of a row of red, green, blue and alpha, of 8 or 16 bits, over
// black: a JPEG has no alpha.
func over(row []byte, bits int) func(x int) (r, g, b float64) {
	if bits == 16 {
		return func(x int) (r, g, b float64) {
			p := row[8*x : 8*x+8]
			value := func(i int) float64 { return float64(binary.BigEndian.Uint16(p[i:])) }
			alpha := value(6) / (0xffff * 0xffff)
			return value(0) * alpha, value(2) * alpha, value(4) * alpha
		}
	}
	return func(x int) (r, g, b float64) {
		p := row[4*x : 4*x+4]
		alpha := float64(p[3]) / (0xff * 0xff)
		return float64(p[0]) * alpha, float64(p[1]) * alpha, float64(p[2]) * alpha
	}
}

// asItIs shows colours that are coded for a screen already.
func asItIs(v float64) float64 { return v }

// onScreen codes linear light for a screen, as sRGB does.
func onScreen(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}
