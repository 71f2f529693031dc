package front

import (
	"cmp"
	"errors"
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"svc.example/internal/ground/ratelimit"
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
	// mu orders cut, which another goroutine calls, and the deadlines.
	mu sync.Mutex
	// ended says that the request has been ended; broken says that nothing more
	// of the response goes out.
	ended, broken bool
	// status is 0 until the response begins.
	status int
	// bytes counts the body, for the log line.
	bytes int64
	// account is told how long the caller took to read.
	account *ratelimit.Account
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
	if status >= http.StatusOK {
		if r.status == 0 && status >= http.StatusBadRequest && r.body.mustDrain() {
			r.refused = true
			r.Header().Set("Connection", "close") // net/http then answers before it reads on
		}
		r.begin(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write writes p in chunks, each with a deadline of its own. An empty p is
// passed on as well, since it sends the headers.
func (r *response) Write(p []byte) (n int, err error) {
	r.begin(http.StatusOK)
	for first := true; first || len(p) > 0; first = false {
		piece := p[:min(len(p), writeChunk)]
		if err := r.moveDeadline(); err != nil {
			return n, err
		}
		began := time.Now()
		m, err := r.ResponseWriter.Write(piece)
		r.account.Idle(began)
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
	r.begin(http.StatusOK)
	rest, limited := src.(*io.LimitedReader)
	if !limited {
		rest = &io.LimitedReader{R: src, N: math.MaxInt64}
	}
	for rest.N > 0 {
		// net/http uses sendfile for a file in one LimitedReader, not in two.
		piece := io.LimitedReader{R: rest.R, N: min(rest.N, writeChunk)}
		want := piece.N
		if err := r.moveDeadline(); err != nil {
			return n, err
		}
		began := time.Now()
		m, err := connection.ReadFrom(&piece)
		r.account.Idle(began)
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
	r.begin(http.StatusOK)
	if err := r.moveDeadline(); err != nil {
		return err
	}
	return r.control.Flush()
}

// finish gives net/http time to send what is still buffered. Without it the
// last chunk would be written under the deadline of an earlier one.
func (r *response) finish() {
	r.begin(http.StatusOK)
	_ = r.moveDeadline() // what was cut off stays so
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true // a cut that comes now would hit the connection's next request
}

// drainRefused sends a refusal and then reads on what the caller still sends of the
// body, so that plain clients can read it.
func (r *response) drainRefused() {
	if r.refused && r.control.Flush() == nil {
		r.body.drain(r.control)
	}
}

// begin records the first status; 200 is what net/http writes for a handler
// that sets none.
func (r *response) begin(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = cmp.Or(r.status, status)
}

// errCut is why nothing more of a response goes out.
var errCut = errors.New("the response was cut off: its request has been ended")

// moveDeadline sets the deadline of the next chunk. Where deadlines are not
// supported, TCP alone finds out that the caller is gone. A response that
// begins after its request has ended may send one chunk, which is enough for
// any error. Errors: errCut.
func (r *response) moveDeadline() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = r.broken || (r.ended && r.bytes >= writeChunk)
	if r.broken {
		return errCut
	}
	_ = r.control.SetWriteDeadline(time.Now().Add(r.stall))
	return nil
}

// cut ends the response where it is, even while it waits for a slow reader. A
// response that has not begun may still give the reason.
func (r *response) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	if r.status != 0 {
		r.broken = true
		_ = r.control.SetWriteDeadline(time.Unix(1, 0)) // a write that waits fails
	}
}
