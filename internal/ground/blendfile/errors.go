package blendfile

import (
	"errors"
	"fmt"
)

// ErrNotBlend says that the stream is something else than a .blend, plain or
// packed. The error that wraps it names what was seen, if it is known.
var ErrNotBlend = errors.New("not a .blend file")

// TruncatedError says that the stream ended inside the file.
type TruncatedError struct {
	Offset int64  // bytes of the unpacked stream that were there
	What   string // what was being read
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("the file is cut off at byte %d, in %s", e.Offset, e.What)
}

// DamagedError says that the file contradicts itself or the format.
type DamagedError struct {
	Offset int64  // byte of the unpacked stream where it shows
	Block  string // code of the block it shows in, "" outside of one
	What   string // what is wrong
	Err    error  // of the decoder, nil where none was involved
}

func (e *DamagedError) Error() string {
	where := ""
	if e.Block != "" {
		where = fmt.Sprintf(" (block %q)", e.Block)
	}
	return fmt.Sprintf("the file is damaged at byte %d%s: %s", e.Offset, where, e.What)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// TooLargeError says that the file goes beyond a limit of the inspection.
type TooLargeError struct {
	What  string // "unpacked bytes", "unpacked to packed ratio", "facts to keep", ...
	Limit int64  // in the unit of What
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the file is too large: more than %d %s", e.Limit, e.What)
}

// UnsupportedError says that the file is a .blend of a kind that is not read.
type UnsupportedError struct {
	What string
}

func (e *UnsupportedError) Error() string { return "unsupported .blend: " + e.What }
