// Package parts reads the parts of a multipart body that strangers send. Package mime/multipart
// lets each part have headers of 10 MiB, which stay in memory for as long as its content takes to
// arrive.
package parts

import (
	"fmt"
	"io"
	"mime/multipart"
)

// MaxHeaders bounds the headers of one part in bytes, with the boundary before them. What the
// reader has ahead counts too, so it is a few KiB less.
const MaxHeaders = 32 << 10

// ErrHeaders reports a part whose headers are longer than MaxHeaders.
var ErrHeaders = fmt.Errorf("the headers of a part have more than %d bytes", MaxHeaders)

// Reader reads a body part by part. It is not safe for concurrent use.
type Reader struct {
	body  bounded
	parts *multipart.Reader
	last  *multipart.Part
}

// NewReader reads a body whose parts have this boundary between them.
func NewReader(body io.Reader, boundary string) *Reader {
	r := &Reader{body: bounded{from: body}}
	r.parts = multipart.NewReader(&r.body, boundary)
	return r
}

// Next returns the next part, or io.EOF after the last one. What is left of the part before is
// read first. Errors: ErrHeaders, those of mime/multipart and of the body.
func (r *Reader) Next() (*multipart.Part, error) {
	if r.last != nil {
		if _, err := io.Copy(io.Discard, r.last); err != nil {
			return nil, err
		}
	}
	r.body.begin()
	defer r.body.end()
	var err error
	if r.last, err = r.parts.NextPart(); err != nil && r.body.over {
		return nil, ErrHeaders // mime/multipart may name the line that was cut off instead
	}
	return r.last, err
}

// bounded reads so many bytes only between begin and end.
type bounded struct {
	from io.Reader
	on   bool
	left int
	over bool // more was asked for
}

func (b *bounded) begin() { b.on, b.left = true, MaxHeaders }
func (b *bounded) end()   { b.on = false }

func (b *bounded) Read(p []byte) (int, error) {
	if !b.on {
		return b.from.Read(p)
	}
	if b.left == 0 {
		b.over = true
		return 0, ErrHeaders
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
