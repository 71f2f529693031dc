package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/fault"
	"svc.example/internal/render"
)

type eventsInput struct {
	JobID       string `path:"job_id"`
	LastEventID string `header:"Last-Event-ID" doc:"The id of the last event that was seen; the stream goes on behind it."`
}

// writeTimeout is how long a watcher may take to receive an event.
const writeTimeout = 30 * time.Second

// events registers a stream of server-sent events: `job` carries the
// RenderObject, `frame` an accepted frame. It ends behind the terminal state.
func (s *server) events(api huma.API, op huma.Operation) {
	op.Description = "`event: job` carries the RenderObject, `event: frame` an accepted frame. " +
		"`id` is a number that grows with every durable change: send it as Last-Event-ID to go on. The stream ends when the job has ended."
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The stream", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	huma.Register(api, op, handled(s, func(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
		seq := int64(0)
		if in.LastEventID != "" {
			var err error
			if seq, err = strconv.ParseInt(in.LastEventID, 10, 64); err != nil || seq < 0 {
				return nil, fault.Field("header.Last-Event-ID", "is not the id of an event of this stream")
			}
		}
		workspace := callerOf(ctx).WorkspaceID
		// Before the status is out, so that a miss is a 404.
		if _, err := s.Jobs.Get(ctx, workspace, in.JobID); err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			if r.Method == http.MethodHead {
				return // there is nothing to wait for
			}
			stream := eventStream{w: w, control: http.NewResponseController(w)}
			// The connection may serve other requests afterwards.
			defer func() { _ = stream.control.SetWriteDeadline(time.Time{}) }()
			err := s.Jobs.Watch(r.Context(), workspace, in.JobID, seq, stream.send, stream.idle)
			if err != nil && r.Context().Err() == nil && !stream.broken {
				s.Log.Error("event stream broke off", "job_id", in.JobID, "request_id", requestIDOf(ctx), "error", err)
			}
		}}, nil
	}))
}

// eventStream writes server-sent events to one watcher.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	broken  bool
}

func (e *eventStream) begin() {
	if e.begun {
		return
	}
	e.begun = true
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies must not hold events back
	e.w.WriteHeader(http.StatusOK)
}

func (e *eventStream) send(ev render.Event) error {
	kind, data := "job", any(ev.Job)
	if ev.Frame != nil {
		kind, data = "frame", ev.Frame
	}
	text := &bytes.Buffer{}
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return e.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n", ev.Seq, kind, text.Bytes()))
}

// idle tells the watcher and the proxies between that the stream lives.
func (e *eventStream) idle() error { return e.write(": alive\n\n") }

func (e *eventStream) write(text string) error {
	e.begin()
	// Where deadlines are not supported a dead watcher is found by TCP.
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := io.WriteString(e.w, text)
	if err == nil {
		err = e.control.Flush()
	}
	if err != nil {
		e.broken = true
	}
	return err
}
