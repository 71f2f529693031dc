package front

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity/inflight"
)

const (
	// drainTime, drainGrace and drainPace bound how a body is read after its refusal.
	// Most clients send a whole request before they read the answer: if the connection
	// closes while they send, they report a reset and never see why they were refused.
	// A client slower than drainPace, in bytes a second after drainGrace, is cut off.
	drainTime  = 10 * time.Second
	drainGrace = time.Second
	drainPace  = 1 << 20
	// drainedByServer is how many bytes of an unread body net/http reads
	// automatically before it answers. The connection then stays open for more
	// requests.
	drainedByServer = 256 << 10
	// drainChunk is how many bytes are read before the clock is checked again.
	drainChunk = 256 << 10
	// mostDrained bounds the bytes that are read of a refused body, where the route
	// takes no larger ones.
	mostDrained = 8 << 20
)

// drainedOf returns how many bytes of a refused body are read on a path: what the largest
// body of its route has, and as much again where files are uploaded, because a file that
// is too large is the refusal that people meet most.
func drainedOf(path string) int64 {
	for _, prefix := range []string{"/v1/uploads", links.RendersPath, "/node/v1/uploads", links.UploadPath, "/console/new", "/farm/"} {
		if strings.HasPrefix(path, prefix) {
			return 2 * contract.MaxUploadBytes
		}
	}
	if strings.HasPrefix(path, links.PartsPath) {
		return 2 * contract.MaxPartBytes
	}
	return mostDrained
}

// requestBody is a request's body. It knows whether it was read to its end, and breaks
// off when the credential of the request has ended, so that an upload does not outlive it.
type requestBody struct {
	io.ReadCloser
	ctx   context.Context // of the request
	left  int64           // bytes still to come; negative while the length is unknown
	got   int64           // bytes that were read
	begun bool
	most  int64 // bytes to read of it after a refusal
	ended bool  // by its end or by an error
	// expects100 says that the caller waits for a 100 before it sends the body.
	expects100 bool
}

// trackBody replaces the body of r by one that knows what was read of it. It returns
// nil for a request without a body.
func trackBody(r *http.Request) *requestBody {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	b := &requestBody{ReadCloser: r.Body, ctx: r.Context(), left: r.ContentLength, most: drainedOf(r.URL.Path), expects100: strings.EqualFold(r.Header.Get("Expect"), "100-continue")}
	r.Body = b
	return b
}

// Read implements io.Reader. Errors: inflight.ErrEnded, body_truncated, and those of the
// body.
func (b *requestBody) Read(p []byte) (int, error) {
	if cause := context.Cause(b.ctx); errors.Is(cause, inflight.ErrEnded) {
		return 0, cause
	}
	b.begun = true
	began := time.Now()
	var n int
	var err error
	ratelimit.Pause(b.ctx, func() { n, err = b.ReadCloser.Read(p) })
	ratelimit.Idle(b.ctx, began)
	b.got += int64(n)
	b.left -= int64(n)
	b.ended = b.ended || err != nil
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fault.New(fault.BodyTruncated, "The body is shorter than its Content-Length.").Wrap(err)
	}
	return n, err
}

// received is how many bytes of the body were read; 0 of a request without one.
func (b *requestBody) received() int64 {
	if b == nil {
		return 0
	}
	return b.got
}

// Close implements io.Closer and does nothing. The server closes the body after the
// response. If a handler closed it, draining would be impossible, and plain clients would
// see the refusal of a large body as a reset.
func (b *requestBody) Close() error { return nil }

// mustDrain reports whether the caller may still be sending more than net/http reads.
// A caller that waits for a 100 has sent nothing and reads the refusal at once.
func (b *requestBody) mustDrain() bool {
	return b != nil && !b.ended && (b.left < 0 || b.left > drainedByServer) && (b.begun || !b.expects100)
}

// drain keeps reading what a refused caller sends, within the bounds. The answer has
// been sent by then, and the connection closes afterwards: net/http closes its own
// half first.
func (b *requestBody) drain(control *http.ResponseController) {
	began := time.Now()
	for read := int64(0); read < b.most; {
		paced := began.Add(drainGrace + time.Duration(read)*time.Second/drainPace)
		if end := began.Add(drainTime); paced.After(end) {
			paced = end
		}
		// Where deadlines are not supported, the bytes are the bound.
		_ = control.SetReadDeadline(paced)
		n, err := io.CopyN(io.Discard, b.ReadCloser, drainChunk)
		if read += n; err != nil { // how it ends does not matter
			return
		}
	}
}
