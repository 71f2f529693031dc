package records

import (
	"errors"
	"fmt"
)

// ErrNotBlend reports that the stream is something other than a .blend, plain
// or packed. The error that wraps it names what was seen, if that is known.
var ErrNotBlend = errors.New("not a .blend file")

// ErrBusy reports that other inspections hold the memory of Options.Memory. Nothing is
// wrong with the file.
var ErrBusy = errors.New("too many large files are being read at once")

// TruncatedError reports that the stream ended inside the file: most often a broken
// upload or download.
type TruncatedError struct {
	Offset int64  // bytes of the unpacked stream that were there
	What   string // what was being read
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("the file is incomplete: it ends at byte %d, in %s", e.Offset, e.What)
}

// DamagedError reports that the file contradicts itself or the format.
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

// TooLargeError reports that the file exceeds a limit of the inspection. The file
// may be sound.
type TooLargeError struct {
	What  string // "unpacked bytes", "unpacked to packed ratio", "facts to keep", ...
	Limit int64  // in the unit of What
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the file is too large: more than %d %s", e.Limit, e.What)
}

// UnsupportedError reports a .blend of a form that this package does not know, such
// as one of a later Blender.
type UnsupportedError struct {
	What string
}

func (e *UnsupportedError) Error() string { return "unsupported .blend: " + e.What }
