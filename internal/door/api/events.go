package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/front"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/watch"
)

// eventsInput selects where an event stream begins and what it contains.
type eventsInput struct {
	JobID       string `path:"job_id"`
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that you received. The stream resumes after it."`
	Previews    bool   `query:"previews" default:"true" doc:"Whether previews are wanted; of the frames before this connection, those of the newest 24 come."`
}

// cursor parses an event id: the last event sent, a dot, and the last preview
// sent. Without a dot it comes from a stream without previews; the previews
// then continue from the same position. Errors: invalid_request.
func cursor(id string) (c watch.Cursor, err error) {
	if id == "" {
		return c, nil
	}
	seq, preview, dotted := strings.Cut(id, ".")
	c.Seq, err = strconv.ParseInt(seq, 10, 64)
	c.Preview = c.Seq
	if err == nil && dotted {
		c.Preview, err = strconv.ParseInt(preview, 10, 64)
	}
	if err != nil || c.Seq < 0 || c.Preview < 0 {
		return c, fault.Field("header.Last-Event-ID", "is not the id of an event of this stream")
	}
	return c, nil
}

// reconnectAfter is how long a watcher should wait before it reconnects when
// the service stops. By then another process serves it.
const reconnectAfter = time.Second

// events registers the stream of server-sent events of decisions 5, whose links lead
// below jobs. It ends after the terminal state.
func (s *server) events(api huma.API, jobs string, op huma.Operation) {
	op.Description = "`event: job` carries the RenderObject, `event: frame` an accepted frame, `event: preview` a small JPEG of one, base64 in `data`. " +
		"Send the last `id` as Last-Event-ID to resume after it, on any connection to any server. Its first number grows with every durable change of the job. " +
		"Progress inside frames is told by `job` events that repeat an id. The stream ends when the job has ended."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The stream", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}, "204": {Description: "The job has ended, and Last-Event-ID is its last event: nothing more will come"}}
	huma.Register(api, op, func(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
		from, err := cursor(in.LastEventID)
		if err != nil {
			return nil, err
		}
		workspace := operation.Caller(ctx).WorkspaceID
		// A miss must be a 404, before the status is sent.
		over, err := s.Watch.Over(ctx, workspace, in.JobID, from)
		if err != nil {
			return nil, err
		}
		if over && in.LastEventID != "" {
			// A browser's EventSource opens the stream again for ever, but for this status.
			return &huma.StreamResponse{Body: func(hc huma.Context) { hc.SetStatus(http.StatusNoContent) }}, nil
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			stream := &eventStream{links: s.Links, jobs: jobs, previews: in.Previews, w: w, control: http.NewResponseController(w)}
			s.serve(ctx, stream, r, func(waiting context.Context) error {
				return s.Watch.Watch(waiting, workspace, in.JobID, watch.Watcher{From: from, Previews: in.Previews, Send: stream.send, Idle: stream.idle})
			})
		}}, nil
	})
}

// serve runs a stream until send returns: when the stream is over, its watcher is
// gone, or the service stops. A refusal before the first event is an answer as any.
func (s *server) serve(ctx context.Context, stream *eventStream, r *http.Request, send func(context.Context) error) {
	if r.Method == http.MethodHead {
		stream.begin()
		return
	}
	waiting, cancel := front.Waiting(r.Context())
	defer cancel()
	err := send(waiting)
	switch {
	case errors.Is(context.Cause(waiting), front.ErrStopping):
		_ = stream.reconnect() // a failed write means that the watcher is gone
	case fault.Is(err, fault.RateLimited) && !stream.begun:
		s.Errors.Answer(stream.w, r, err)
	case err != nil && waiting.Err() == nil && !stream.broken:
		s.Log.Error("event stream failed", "path", r.URL.Path, "request_id", operation.RequestID(ctx), "err", err)
	}
}

// eventStream writes server-sent events to one watcher. One goroutine uses it.
type eventStream struct {
	links    links.Links
	jobs     string // where links to jobs lead: events are shared by readers of all kinds
	previews bool
	w        http.ResponseWriter
	control  *http.ResponseController
	// begun says that the status and headers are sent.
	begun bool
	// broken says that a write failed: the watcher is gone, which is no error
	// to log.
	broken bool
}

// begin sends the headers once. Waiting with them until the first event would
// leave a watcher of a quiet job without a response.
func (e *eventStream) begin() {
	if e.begun {
		return
	}
	e.begun = true
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	// nginx would otherwise hold back events until its buffer is full.
	h.Set("X-Accel-Buffering", "no") // proxies must not buffer events
	e.w.WriteHeader(http.StatusOK)
}

// send writes events in one piece, so that a burst of frames costs one flush.
func (e *eventStream) send(events []watch.Delivery) error {
	text := &bytes.Buffer{}
	for _, ev := range events {
		fmt.Fprintf(text, "id: %s\nevent: %s\ndata: %s\n\n", e.id(ev.After), ev.Kind, e.links.JobsIn(ev.Data, e.jobs))
	}
	return e.write(text.Bytes())
}

// id writes a position as an event id: the inverse of cursor.
func (e *eventStream) id(c watch.Cursor) string {
	if !e.previews {
		return strconv.FormatInt(c.Seq, 10)
	}
	return fmt.Sprintf("%d.%d", c.Seq, c.Preview)
}

// reconnect tells the watcher when to open another stream; this one ends.
func (e *eventStream) reconnect() error {
	return e.write(fmt.Appendf(nil, "retry: %d\n\n", reconnectAfter.Milliseconds()))
}

// idle sends a comment line, so that neither the watcher nor a proxy closes a
// quiet stream.
func (e *eventStream) idle() error { return e.write([]byte(": alive\n\n")) }

// write sends text and flushes it.
func (e *eventStream) write(text []byte) error {
	e.begin()
	_, err := e.w.Write(text)
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		e.broken = true
	}
	return err
}
