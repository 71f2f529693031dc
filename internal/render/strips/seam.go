package strips

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"svc.example/internal/render/pixels/exr"
	"svc.example/internal/render/seam"
)

// Seam is the SHA-256 of the rows at a cut as a strip has them: the last one above the row cut, and
// the row itself. It is equal for equal widths, channels and values. Errors: those of the file, and
// of a strip that does not hold both rows.
//
// After a line "svc-seam-v1 WIDTH CHANNELS" follow the header's list of channels and both rows as
// the file has them, but for how many samples pixels took: those are the smallest whole numbers of the
// same proportions, as 64 bits each. Of a strip that a GPU rendered, a blank and a sketch follow
// the hash; package seam compares.
func (s Strip) Seam(cut int) (string, error) {
	f, e, err := s.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return s.seam(e, cut)
}

// SeamIn is Seam of a strip whose file is read from in, and which must be so wide.
func (s Strip) SeamIn(in io.Reader, width, cut int) (string, error) {
	e, err := exr.NewReader(in, MaxMemory)
	if err == nil && (e.Width != width || e.Height != s.Held.Height()) {
		err = fmt.Errorf("it is %dx%d instead of %dx%d", e.Width, e.Height, width, s.Held.Height())
	}
	if err != nil {
		return "", s.failed(err)
	}
	return s.seam(e, cut)
}

func (s Strip) seam(e *exr.Reader, cut int) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "svc-seam-v1 %d %d\n%s", e.Width, len(e.Channels()), e.Kind)
	counts := make(map[string][]float32)
	sketch := seam.NewSketch(e.Width, len(e.Channels()), e.Kind)
	_, err := s.rows(e, Rows{From: cut - 1, To: cut + 1}, func(values []byte) error {
		for name, of := range e.Split(values) {
			if !isSampleCount(name) {
				sum.Write(of)
				if s.GPU {
					sketch.Add(of)
				}
				continue
			}
			for ; len(of) >= 4; of = of[4:] {
				counts[name] = append(counts[name], math.Float32frombits(binary.LittleEndian.Uint32(of)))
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, name := range e.Channels() {
		for _, n := range proportions(counts[name]) {
			sum.Write(binary.LittleEndian.AppendUint64(nil, n))
		}
	}
	text := hex.EncodeToString(sum.Sum(nil))
	if s.GPU {
		text += " " + sketch.String()
	}
	return text, nil
}

// isSampleCount recognises the pass that tells how many samples adaptive sampling took of a pixel.
// Cycles divides it by the most that any pixel of the same rendering took, which differs between
// strips.
func isSampleCount(channel string) bool { return strings.HasSuffix(channel, ".Debug Sample Count.X") }

// proportions returns the smallest whole numbers that are to each other as the values are. They
// are found to a twentieth, which serves for counts up to 100,000: a float has 24 bits. Values of which
// no such numbers exist give their bits.
func proportions(values []float32) []uint64 {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			least = min(least, float64(v))
		}
	}
	numbers := make([]uint64, len(values))
	for scale := 1.0; scale <= 1<<12; scale++ {
		if inProportion(numbers, values, scale/least) {
			return numbers
		}
	}
	for i, v := range values {
		numbers[i] = uint64(math.Float32bits(v))
	}
	return numbers
}

// inProportion fills in numbers that are so many times the values, and reports whether all of those
// are whole.
func inProportion(numbers []uint64, values []float32, scale float64) bool {
	const most, off = 100_000, 0.05
	for i, v := range values {
		n := float64(v) * scale
		whole := math.Round(n)
		if !(math.Abs(n-whole) <= off && whole >= 0 && whole <= most) {
			return false
		}
		numbers[i] = uint64(whole)
	}
	return true
}

// ErrSeam means that two strips disagree on the rows at their cut: they are not of one picture, or
// do not overlap enough.
var ErrSeam = errors.New("the strips differ at their cut")

// Seams compares strip a with strip b right below it, at their cut. Errors: ErrSeam; those of
// Seam; strips that are no neighbours.
func Seams(a, b Strip) error {
	if a.Rows.To != b.Rows.From {
		return fmt.Errorf("the strip below row %d begins at row %d", a.Rows.To, b.Rows.From)
	}
	upper, err1 := a.Seam(a.Rows.To)
	lower, err2 := b.Seam(b.Rows.From)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if !seam.Agree(upper, lower) {
		return fmt.Errorf("%w, row %d", ErrSeam, a.Rows.To)
	}
	return nil
}
