package front

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"svc.example/internal/work/identity"
)

const (
	// drainTime and drainBytes bound what is read of a body after its refusal. Most
	// clients send a whole request before they read the answer: if the connection
	// closes while they send, they report a reset and never see why they were refused.
	drainTime  = time.Second
	drainBytes = 8 << 20
	// drainedByServer is the largest rest of a body that net/http reads by itself
	// before it answers, in bytes. The connection then stays open for more requests.
	drainedByServer = 256 << 10
)

// requestBody is a request's body. It knows whether it was read to its end, and breaks
// off when the credential of the request has ended, so that an upload does not outlive it.
type requestBody struct {
	io.ReadCloser
	ctx   context.Context // of the request
	left  int64           // bytes still to come; negative while the length is unknown
	begun bool
	ended bool // by its end or by an error
	// expects100 says that the caller waits for a 100 before it sends the body.
	expects100 bool
}

// trackBody replaces the body of r by one that knows what was read of it. It returns
// nil for a request without a body.
func trackBody(r *http.Request) *requestBody {
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return nil
	}
	b := &requestBody{ReadCloser: r.Body, ctx: r.Context(), left: r.ContentLength, expects100: strings.EqualFold(r.Header.Get("Expect"), "100-continue")}
	r.Body = b
	return b
}

// Read implements io.Reader. Errors: identity.ErrEnded, and those of the body.
func (b *requestBody) Read(p []byte) (int, error) {
	if cause := context.Cause(b.ctx); errors.Is(cause, identity.ErrEnded) {
		return 0, cause
	}
	b.begun = true
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.ended = b.ended || err != nil
	return n, err
}

// Close implements io.Closer and does nothing. The server closes the body behind the
// response; a handler that closed it would make draining impossible, and the refusal of a
// body that is too large would reach plain clients as a reset.
func (b *requestBody) Close() error { return nil }

// mustDrain reports whether the caller may still be sending more than net/http reads.
// A caller that waits for a 100 has sent nothing and reads the refusal at once.
func (b *requestBody) mustDrain() bool {
	return b != nil && !b.ended && (b.left < 0 || b.left > drainedByServer) && (b.begun || !b.expects100)
}

// drain reads on what a refused caller sends, within the bounds. The answer is out by
// then, and the connection closes behind it: net/http closes its own half first.
func (b *requestBody) drain(control *http.ResponseController) {
	// Where deadlines are not supported, the bytes are the bound.
	_ = control.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, b.ReadCloser, drainBytes) // how it ends does not matter
}
