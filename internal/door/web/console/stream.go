package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/ground/fault"
)

// stream is a stream of server-sent events whose data is HTML: parts of the page that
// opened it. One goroutine uses it.
type stream struct {
	ctx     context.Context // ends with the connection, the session, and a stop of the service
	w       http.ResponseWriter
	control *http.ResponseController
	quiet   time.Time // when something was sent last
}

// errGone says that the reader of the stream is gone.
var errGone = errors.New("the browser is gone")

// aliveEvery is how long a stream sends nothing at most: proxies close what is silent.
const aliveEvery = 15 * time.Second

// stream sends what write sends until it ends or the browser is gone. If the service
// stops, the browser reopens the stream automatically, at another process.
func (s *Site) stream(w http.ResponseWriter, r *http.Request, write func(*stream) error) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	if r.Method == http.MethodHead {
		return nil
	}
	waiting, cancel := front.Waiting(r.Context())
	defer cancel()
	out := &stream{ctx: waiting, w: w, control: http.NewResponseController(w), quiet: time.Now()}
	if err := out.send([]byte(": svc\n\n")); err != nil {
		return nil
	}
	err := write(out)
	// A refusal, such as for too many watchers, is no failure: the browser comes back later.
	if _, refused := errors.AsType[*fault.Error](err); err != nil && !refused && !errors.Is(err, errGone) && waiting.Err() == nil {
		s.Log.Error("a stream of a page failed", "err", err)
	}
	return nil
}

// part sends a part of a page: a template of it, with its content.
func (out *stream) part(of, name string, content any) error {
	text, err := pages.Fragment(of, name, content)
	if err != nil {
		return err
	}
	return out.html("", text)
}

// html sends HTML; id, unless it is "", is where a reconnecting browser resumes.
func (out *stream) html(id string, text []byte) error {
	var event bytes.Buffer
	if id != "" {
		fmt.Fprintf(&event, "id: %s\n", id)
	}
	for line := range bytes.Lines(text) {
		fmt.Fprintf(&event, "data: %s\n", bytes.TrimRight(line, "\r\n"))
	}
	event.WriteByte('\n')
	return out.send(event.Bytes())
}

func (out *stream) send(text []byte) error {
	if _, err := out.w.Write(text); err != nil {
		return errGone
	}
	if err := out.control.Flush(); err != nil {
		return errGone
	}
	out.quiet = time.Now()
	return nil
}

// idle keeps the connection open.
func (out *stream) idle() error { return out.send([]byte(":\n\n")) }

// wait waits, and keeps the connection open meanwhile. Its error means that the stream
// has ended.
func (out *stream) wait(d time.Duration) error {
	if time.Since(out.quiet) > aliveEvery {
		if err := out.idle(); err != nil {
			return err
		}
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-out.ctx.Done():
		return errGone
	}
}
