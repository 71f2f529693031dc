package exr

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Reader is an OpenEXR picture that is read row by row, from the top, and keeps its remarks for a
// copy.
type Reader struct {
	Width, Height int
	// Kind is the same for pictures whose rows have the same channels of the same types.
	Kind string
	// RowBytes is the size of a row: the values of each channel from left to right, one channel
	// after the other in the order of their names, little-endian.
	RowBytes int

	file    *File
	remarks []headerRemark
}

// headerRemark is an attribute that says nothing of the pixels.
type headerRemark struct {
	name, kind string
	value      []byte
}

// NewReader reads a header. memory bounds what the header and reading rows may take, in bytes.
// Errors: those of a damaged header, of more memory, and of pictures whose rows cannot be read: those
// from the bottom up, and DWA.
func NewReader(in io.Reader, memory int64) (*Reader, error) {
	e, kept, buffered := &Reader{}, int64(0), bufio.NewReaderSize(in, 1<<16)
	f, err := open(buffered, func(name, kind string, value []byte) {
		if kept += int64(len(value)); kept <= memory {
			e.remarks = append(e.remarks, headerRemark{name, kind, value})
		}
	})
	switch {
	case err != nil:
		return nil, err
	case f.Upwards || f.DWA():
		return nil, fmt.Errorf("the OpenEXR picture has its rows from the bottom up, or DWA: %w", ErrUnsupported)
	case kept+f.Memory() > memory:
		return nil, fmt.Errorf("the OpenEXR picture takes %d bytes to read, more than %d", kept+f.Memory(), memory)
	}
	e.file, e.Width, e.Height, e.RowBytes = f, f.Width, f.Height, f.rowBytes
	e.Kind = string(f.attributes["channels"])
	return e, nil
}

// Channels lists the names of the channels, sorted.
func (e *Reader) Channels() []string {
	names := make([]string, len(e.file.Channels))
	for i, c := range e.file.Channels {
		names[i] = c.Name
	}
	return names
}

// Split yields the channels of a row, with their values.
func (e *Reader) Split(row []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, c := range e.file.Channels {
			if !yield(c.Name, c.Of(row).Raw) {
				return
			}
		}
	}
}

// Rows reads the picture, once, and calls row with those from row from up to row to, from the top.
// The bytes are valid during the call. Errors: row's, which ends the reading; those of a file that
// is cut or damaged, or that has bytes after the picture.
func (e *Reader) Rows(from, to int, row func(y int, values []byte) error) error {
	f := e.file
	var failed error
	take := func(y int, values []byte) {
		if y >= from && y < to && failed == nil {
			failed = row(y, values)
		}
	}
	err := f.walk(io.Discard, func(first int) (func(int, []byte), bool) {
		if first >= to || first+f.perChunk <= from {
			return nil, failed == nil
		}
		return take, failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return f.atEnd()
}

// header is that of a picture with the same rows, but so many, packed by ZIP.
func (e *Reader) header(height int) []byte {
	var b bytes.Buffer
	b.WriteString(Magic)
	b.Write([]byte{fileVersion, longNames >> 8, 0, 0})
	attribute := func(name, kind string, value []byte) {
		b.WriteString(name + "\x00" + kind + "\x00")
		b.Write(le32(len(value)))
		b.Write(value)
	}
	window := bytes.Join([][]byte{le32(0), le32(0), le32(e.Width - 1), le32(height - 1)}, nil)
	attribute("channels", "chlist", e.file.attributes["channels"])
	attribute("compression", "compression", []byte{zip})
	attribute("dataWindow", "box2i", window)
	attribute("displayWindow", "box2i", window)
	attribute("lineOrder", "lineOrder", []byte{0})
	for _, r := range e.remarks {
		attribute(r.name, r.kind, r.value)
	}
	b.WriteByte(0)
	return b.Bytes()
}
