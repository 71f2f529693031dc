package dispatch

// For the tests beside this package.
const (
	FileAffinity     = fileAffinity
	AssumedFrameTime = assumedFrameTime
)
