package strips

import (
	"errors"
	"fmt"
	"os"

	"svc.example/internal/render/pixels/exr"
)

// MaxMemory bounds what reading one strip may take, in bytes: a row of the widest picture with
// 32 channels takes 2 MiB, and a block of a file has 16 of them.
const MaxMemory = 512 << 20

// Strip is a rendered strip.
type Strip struct {
	Rows Rows   // that it adds to the picture
	Held Rows   // that its file has: Rows, and what reaches into its neighbours
	Path string // an OpenEXR file of raw passes
	GPU  bool   // a GPU rendered it, so the last bits of its values are chance
}

// open opens a strip's file and checks its size. The caller closes the file.
func (s Strip) open() (*os.File, *exr.Reader, error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, nil, err
	}
	e, err := exr.NewReader(f, MaxMemory)
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

// rows reads some rows of a strip, and returns how many those are.
func (s Strip) rows(e *exr.Reader, want Rows, row func(values []byte) error) (n int, err error) {
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
	var first *exr.Reader
	var w *exr.Writer
	for i, p := range parts {
		f, e, err := p.open()
		if err != nil {
			return err
		}
		if i == 0 {
			first = e
			w, err = exr.NewWriter(out, e, parts[len(parts)-1].Rows.To)
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
