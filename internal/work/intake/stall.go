package intake

import (
	"cmp"
	"io"
	"time"
)

// defaultStall bounds how long an upload may send nothing, unless the operator sets a
// limit. A minute outlasts a change of a mobile network, and a dead sender holds its
// connection no longer.
const defaultStall = 60 * time.Second

// WithStallTimeout reads a request's body at any speed, as long as some bytes arrive
// within stall; 0 means a minute. A total timeout would cut off slow but honest
// uploads. A body that is wrapped already is returned as it is, so that a limit set
// further out is kept. Closing the result closes body.
func WithStallTimeout(body io.ReadCloser, connection interface{ SetReadDeadline(time.Time) error }, stall time.Duration) io.ReadCloser {
	if s, ok := body.(*stallReader); ok {
		return s
	}
	return &stallReader{body, connection, cmp.Or(stall, defaultStall)}
}

// stallReader moves the connection's read deadline before each read. Only the reader of
// the body may use it.
type stallReader struct {
	body       io.ReadCloser
	connection interface{ SetReadDeadline(time.Time) error }
	limit      time.Duration
}

func (s *stallReader) Read(b []byte) (int, error) {
	// Where deadlines are not supported, TCP finds a dead caller.
	_ = s.connection.SetReadDeadline(time.Now().Add(s.limit))
	n, err := s.body.Read(b)
	if err != nil {
		_ = s.connection.SetReadDeadline(time.Time{}) // the connection may serve other requests
	}
	return n, err
}

func (s *stallReader) Close() error { return s.body.Close() }
