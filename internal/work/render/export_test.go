package render

// For the tests beside this package.
const (
	Stay         = stay
	UnknownFrame = unknownFrame
)
