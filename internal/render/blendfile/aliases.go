package blendfile

import "svc.example/internal/render/blendfile/records"

// What [Inspect] takes, and what it can fail with, are those of package records.
type (
	// Options bounds an inspection.
	Options = records.Options
	// Thumbnail is the preview picture that the file carries.
	Thumbnail = records.Thumbnail
	// TruncatedError reports that the stream ended inside the file.
	TruncatedError = records.TruncatedError
	// DamagedError reports that the file contradicts itself or the format.
	DamagedError = records.DamagedError
	// TooLargeError reports that the file exceeds a limit of the inspection.
	TooLargeError = records.TooLargeError
	// UnsupportedError reports a .blend of a form that is not known.
	UnsupportedError = records.UnsupportedError
)

// Errors and limits of package records.
var (
	ErrNotBlend = records.ErrNotBlend
	ErrBusy     = records.ErrBusy
)

// The default limits, in the units of [Options].
const (
	DefaultMaxUnpacked = records.DefaultMaxUnpacked
	DefaultMaxRatio    = records.DefaultMaxRatio
	DefaultMaxWindow   = records.DefaultMaxWindow
	RatioFloor         = records.RatioFloor
)
