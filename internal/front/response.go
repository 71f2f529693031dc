package front

import (
	"cmp"
	"io"
	"math"
	"net/http"
	"time"
)

const (
	// writeStall is how long a caller may read nothing of a response before it
	// is cut off, unless the operator sets another time.
	writeStall = time.Minute
	// writeChunk is how many bytes share a deadline. With a stall of a minute
	// the slowest caller reads about 1 KiB a second.
	writeChunk = 64 << 10
)

// response is a ResponseWriter that records status and size and sets a deadline
// for each chunk. A single deadline for the whole response would cut off honest
// callers with large downloads; none at all would let silent ones hold
// connections forever.
//
// It passes files on whole, so that the kernel sends them without copying them
// through the process (sendfile).
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	// status is 0 until the response begins.
	status int
	// bytes counts the body, for the log line.
	bytes int64
	// body is the request's; nil for none.
	body *requestBody
	// refused says that an error went out before the whole body was read.
	refused bool
}

// newResponse wraps w; stall 0 means writeStall.
func newResponse(w http.ResponseWriter, stall time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), stall: cmp.Or(stall, writeStall)}
}

// Unwrap lets http.ResponseController reach the connection.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader records the first final status. Informational ones (1xx) come
// before it.
func (r *response) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
		if status >= http.StatusBadRequest && r.body.mustDrain() {
			r.refused = true
			r.Header().Set("Connection", "close") // net/http then answers before it reads on
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write writes p in chunks, each with a deadline of its own. An empty p is
// passed on as well, since it sends the headers.
func (r *response) Write(p []byte) (n int, err error) {
	r.begin()
	for first := true; first || len(p) > 0; first = false {
		piece := p[:min(len(p), writeChunk)]
		r.moveDeadline()
		m, err := r.ResponseWriter.Write(piece)
		n += m
		r.bytes += int64(m)
		if err != nil {
			return n, err
		}
		p = p[len(piece):]
	}
	return n, nil
}

// ReadFrom implements io.ReaderFrom, which io.Copy and http.ServeContent use
// for files.
func (r *response) ReadFrom(src io.Reader) (n int64, err error) {
	connection, ok := r.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return io.Copy(writerOnly{r}, src)
	}
	r.begin()
	rest, limited := src.(*io.LimitedReader)
	if !limited {
		rest = &io.LimitedReader{R: src, N: math.MaxInt64}
	}
	for rest.N > 0 {
		// net/http uses sendfile for a file in one LimitedReader, not in two.
		piece := io.LimitedReader{R: rest.R, N: min(rest.N, writeChunk)}
		want := piece.N
		r.moveDeadline()
		m, err := connection.ReadFrom(&piece)
		n += m
		r.bytes += m
		rest.N -= m
		if err != nil || m < want {
			return n, err
		}
	}
	return n, nil
}

// writerOnly hides ReadFrom from io.Copy, which would call it again without
// end.
type writerOnly struct{ io.Writer }

// FlushError sends what is buffered. http.ResponseController finds it by its
// name.
func (r *response) FlushError() error {
	r.begin()
	r.moveDeadline()
	return r.control.Flush()
}

// finish gives net/http time to send what is still buffered. Without it the
// last chunk would be written under the deadline of an earlier one.
func (r *response) finish() {
	r.begin()
	r.moveDeadline()
}

// drainRefused sends a refusal and then reads on what the caller still sends of the
// body, so that plain clients can read it.
func (r *response) drainRefused() {
	if r.refused && r.control.Flush() == nil {
		r.body.drain(r.control)
	}
}

// begin records the status that net/http writes for a handler that sets none.
func (r *response) begin() { r.status = cmp.Or(r.status, http.StatusOK) }

// moveDeadline sets the deadline of the next chunk. Where deadlines are not
// supported, TCP alone finds out that the caller is gone.
func (r *response) moveDeadline() { _ = r.control.SetWriteDeadline(time.Now().Add(r.stall)) }
