package strips

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"svc.example/internal/render/pixels"
)

// MaxMemory bounds what reading one strip may take, in bytes: a row of the widest picture with
// 32 channels takes 2 MiB, and a block of a file has 16 of them.
const MaxMemory = 512 << 20

// Strip is a rendered strip.
type Strip struct {
	Rows Rows   // that it adds to the picture
	Held Rows   // that its file has: Rows, and what reaches into its neighbours
	Path string // an OpenEXR file of raw passes
}

// open opens a strip's file and checks its size. The caller closes the file.
func (s Strip) open() (*os.File, *pixels.EXR, error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, nil, err
	}
	e, err := pixels.OpenEXR(f, MaxMemory)
	switch {
	case err != nil:
	case e.Height != s.Held.Height():
		err = fmt.Errorf("it has %d rows instead of %d", e.Height, s.Held.Height())
	case s.Rows.Height() < 1 || s.Rows.From < s.Held.From || s.Rows.To > s.Held.To:
		err = errors.New("it does not hold its rows")
	}
	if err != nil {
		f.Close()
		return nil, nil, s.failed(err)
	}
	return f, e, nil
}

func (s Strip) failed(err error) error {
	return fmt.Errorf("read the strip of rows %d to %d: %w", s.Rows.From, s.Rows.To-1, err)
}

// SeamRows is how many rows are compared at a cut: one on each side.
const SeamRows = 2

// Seam is the SHA-256 of the rows at a cut as a strip has them: the last one above the row cut, and
// the row itself. It is equal for equal widths, channels and values. Errors: those of the file, and
// of a strip that does not hold both rows.
func (s Strip) Seam(cut int) (string, error) {
	f, e, err := s.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	fmt.Fprintf(sum, "svc-seam-v1 %d %d\n%s", e.Width, len(e.Kind), e.Kind)
	_, err = s.rows(e, Rows{From: cut - 1, To: cut + 1}, func(values []byte) error {
		sum.Write(values)
		return nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// rows reads some rows of a strip, and returns how many those are.
func (s Strip) rows(e *pixels.EXR, want Rows, row func(values []byte) error) (n int, err error) {
	if want.From < s.Held.From || want.To > s.Held.To {
		return 0, s.failed(fmt.Errorf("it does not hold the rows %d to %d", want.From, want.To-1))
	}
	err = e.Rows(want.From-s.Held.From, want.To-s.Held.From, func(_ int, values []byte) error {
		n++
		return row(values)
	})
	if err != nil {
		return n, s.failed(err)
	}
	return n, nil
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
	if upper != lower {
		return fmt.Errorf("%w, row %d", ErrSeam, a.Rows.To)
	}
	return nil
}

// Join writes the picture that strips are parts of, from top to bottom, to a new OpenEXR file. What
// the first strip's header says of cryptomattes and the like is the picture's. Errors: strips that
// differ in width or channels, or do not cover each row once; those of the files. Then there is no
// file.
func Join(out string, parts []Strip) error {
	if len(parts) == 0 || parts[0].Rows.From != 0 {
		return errors.New("the strips do not begin at the picture's first row")
	}
	for i, p := range parts[1:] {
		if p.Rows.From != parts[i].Rows.To {
			return fmt.Errorf("the strip below row %d begins at row %d", parts[i].Rows.To, p.Rows.From)
		}
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(join(f, parts), f.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	return nil
}

func join(out *os.File, parts []Strip) error {
	var first *pixels.EXR
	var w *pixels.EXRWriter
	for i, p := range parts {
		f, e, err := p.open()
		if err != nil {
			return err
		}
		if i == 0 {
			first = e
			w, err = pixels.WriteEXR(out, e, parts[len(parts)-1].Rows.To)
		}
		if err == nil && (e.Width != first.Width || e.Kind != first.Kind) {
			err = p.failed(errors.New("its width or its passes are not those of the first strip"))
		}
		if err == nil {
			_, err = p.rows(e, p.Rows, w.Row)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return w.Close()
}
