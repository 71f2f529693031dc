package records

import (
	"cmp"

	"svc.example/internal/render/blendfile/memory"
)

// Options bounds an inspection. The zero value is safe for untrusted files.
type Options struct {
	// MaxUnpacked caps the unpacked stream, in bytes; 0 means DefaultMaxUnpacked.
	MaxUnpacked int64
	// MaxRatio caps unpacked over packed bytes; 0 means DefaultMaxRatio. It is
	// checked once RatioFloor bytes are unpacked: small files of zeros are real.
	MaxRatio float64
	// MaxWindow caps the window a zstd frame may ask for, in bytes; 0 means
	// DefaultMaxWindow. It is the one memory that the file decides.
	MaxWindow int64
	// Memory is the memory that this inspection shares with others; nil means that it
	// has none to share.
	Memory *memory.Budget
	// ReadAll reads the source to its end even when the facts are complete, so
	// that code that hashes or stores it alongside has seen every byte, and
	// Facts.Unpacked is the whole size. What follows the end mark is counted
	// and not judged.
	ReadAll bool
}

// Defaults and fixed limits.
const (
	DefaultMaxUnpacked int64   = 4 << 30  // 40 times the largest upload
	DefaultMaxRatio    float64 = 200      // real files reach 63
	DefaultMaxWindow   int64   = 8 << 20  // what RFC 8878 asks every decoder to take
	RatioFloor         int64   = 64 << 20 // unpacked bytes below which the ratio says nothing
)

// withDefaults replaces each limit that is 0.
func (o Options) withDefaults() Options {
	o.MaxUnpacked = cmp.Or(o.MaxUnpacked, DefaultMaxUnpacked)
	o.MaxRatio = cmp.Or(o.MaxRatio, DefaultMaxRatio)
	o.MaxWindow = cmp.Or(o.MaxWindow, DefaultMaxWindow)
	return o
}
