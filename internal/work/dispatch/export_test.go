package dispatch

// For the external tests of this package.
const (
	FileAffinity     = fileAffinity
	AssumedFrameTime = assumedFrameTime
)
