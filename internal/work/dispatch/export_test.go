package dispatch

// For the tests beside this package.
const (
	Stay         = stay
	UnknownFrame = unknownFrame
)
