package terminal

import (
	"io"
	"os"
	"sync/atomic"
)

// Output is a stream that remembers that something could not be written to it, so that a
// command whose result went to a full disk does not end as if it were done.
type Output struct {
	file   *os.File
	failed atomic.Pointer[error]
}

// NewOutput returns an Output that writes to file.
func NewOutput(file *os.File) *Output { return &Output{file: file} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if err != nil {
		o.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// Err returns the first error of a Write, nil for none.
func (o *Output) Err() error {
	if err := o.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// fileOf is the file that a stream writes to, nil where it is none.
func fileOf(stream any) *os.File {
	switch s := stream.(type) {
	case *os.File:
		return s
	case *Output:
		return s.file
	}
	return nil
}

// drawnOn is where a library draws that has to see the terminal itself.
func drawnOn(w io.Writer) io.Writer {
	if file := fileOf(w); file != nil {
		return file
	}
	return w
}
