package intake

import (
	"cmp"
	"errors"
	"io"
	"time"

	"svc.example/internal/ground/fault"
)

// The lowest speed of an upload: 1 KiB/s, measured over a minute. A sender that is
// slower holds its connection for days; a minute outlasts a change of a mobile
// network.
const (
	paceTime  = 60 * time.Second
	paceBytes = 60 << 10
)

// Deadline is the part of a connection that WithPace needs: it breaks off reads at t,
// or never when t is zero.
type Deadline interface{ SetReadDeadline(t time.Time) error }

// WithPace reads a request's body as long as each 60 KiB of it arrive within a minute,
// and some bytes within stall; 0 sets no limit of its own, and more than a minute widens both. A total timeout would cut
// off slow but honest uploads. A body that is wrapped already is returned as it is, so
// that a limit set further out is kept. Closing the result closes body. Error of a
// read: upload_too_slow.
func WithPace(body io.ReadCloser, connection Deadline, stall time.Duration) io.ReadCloser {
	if s, ok := body.(*paced); ok {
		return s
	}
	return &paced{body: body, connection: connection, stall: cmp.Or(stall, paceTime)}
}

// paced moves the connection's read deadline before each read. Only the reader of the
// body may use it.
type paced struct {
	body       io.ReadCloser
	connection Deadline
	stall      time.Duration
	since      time.Time // when the bytes that are counted in got began
	got        int       // fewer than paceBytes
}

func (p *paced) Read(b []byte) (int, error) {
	now := time.Now()
	if p.since.IsZero() {
		p.since = now
	}
	end := p.since.Add(max(paceTime, p.stall))
	if stalled := now.Add(p.stall); stalled.Before(end) {
		end = stalled
	}
	// Where deadlines are not supported, TCP finds a dead caller.
	_ = p.connection.SetReadDeadline(end)
	n, err := p.body.Read(b)
	if p.got += n; p.got >= paceBytes {
		p.since, p.got = time.Now(), 0
	}
	switch {
	case errors.Is(err, io.EOF):
		_ = p.connection.SetReadDeadline(time.Time{}) // the connection may serve other requests
	case err != nil && !time.Now().Before(end):
		// The deadline stays: the rest of this body is not read.
		err = fault.New(fault.UploadTooSlow, "The upload was too slow: less than 1 KiB/s over a minute, or nothing arrived for %s.", p.stall).Wrap(err)
	}
	return n, err
}

func (p *paced) Close() error { return p.body.Close() }
