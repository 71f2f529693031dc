package intake

import (
	"cmp"
	"io"
	"time"
)

// stallLimit is how long an upload may stand still before it is cut off, unless
// the operator says otherwise.
const stallLimit = 60 * time.Second

// Patient reads a request's body however slow it is, as long as something comes
// within stall; 0 means a minute. A body that is patient stays as it is.
func Patient(body io.ReadCloser, connection interface{ SetReadDeadline(time.Time) error }, stall time.Duration) io.ReadCloser {
	if p, ok := body.(*patient); ok {
		return p
	}
	return &patient{body, connection, cmp.Or(stall, stallLimit)}
}

type patient struct {
	body       io.ReadCloser
	connection interface{ SetReadDeadline(time.Time) error }
	limit      time.Duration
}

func (p *patient) Read(b []byte) (int, error) {
	// Where deadlines are not supported a dead caller is found by TCP.
	_ = p.connection.SetReadDeadline(time.Now().Add(p.limit))
	n, err := p.body.Read(b)
	if err != nil {
		_ = p.connection.SetReadDeadline(time.Time{}) // the connection may serve other requests
	}
	return n, err
}

func (p *patient) Close() error { return p.body.Close() }
