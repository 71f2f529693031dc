package front

import (
	"cmp"
	"io"
	"math"
	"net/http"
	"time"
)

const (
	// writeStall is how long a caller may read nothing of an answer before it is cut
	// off, unless the operator sets another time.
	writeStall = time.Minute
	// writeChunk is how many bytes share a deadline. With a stall of a minute the
	// slowest caller reads about 1 KiB a second.
	writeChunk = 64 << 10
)

// response is a ResponseWriter that records status and size and sets a deadline for
// each piece. It passes files on whole, so that the system can send them without
// copying them through the process.
type response struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	status  int // 0 until the answer begins
	bytes   int64
}

func newResponse(w http.ResponseWriter, stall time.Duration) *response {
	return &response{ResponseWriter: w, control: http.NewResponseController(w), stall: cmp.Or(stall, writeStall)}
}

// Unwrap lets http.ResponseController reach the connection.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *response) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

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

// ReadFrom implements io.ReaderFrom.
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

// writerOnly hides ReadFrom from io.Copy.
type writerOnly struct{ io.Writer }

// FlushError sends what is buffered.
func (r *response) FlushError() error {
	r.begin()
	r.moveDeadline()
	return r.control.Flush()
}

// finish gives net/http time to send what is still buffered.
func (r *response) finish() {
	r.begin()
	r.moveDeadline()
}

// begin records the status that net/http writes for a handler that sets none.
func (r *response) begin() { r.status = cmp.Or(r.status, http.StatusOK) }

// moveDeadline sets the deadline of the next piece. Where deadlines are not
// supported, TCP finds that the caller is dead.
func (r *response) moveDeadline() { _ = r.control.SetWriteDeadline(time.Now().Add(r.stall)) }
