package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/work/job"
	"svc.example/internal/work/watch"
)

// progressStep is how many percent a job must be further before its caller is notified again.
// So a call sends some hundred notifications at most, however fast frames arrive.
const progressStep = 1

// progressKey finds what notify stored in a context.
type progressKey struct{}

// notify stores how the progress of a call is reported: as notifications of the protocol,
// where the client has sent a token for them.
func notify(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	token := req.Params.GetProgressToken()
	if token == nil {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, func(percent float64, message string) {
		// The error is that the call is answered as plain JSON, or that the caller is gone.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: percent, Total: 100, Message: message})
	})
}

// reportProgress returns a receiver of a job's events that reports each step forward; one
// that does nothing where nobody wants to know.
func reportProgress(ctx context.Context) func([]watch.Delivery) error {
	report, wanted := ctx.Value(progressKey{}).(func(float64, string))
	if !wanted {
		return func([]watch.Delivery) error { return nil }
	}
	next := 0.0 // the protocol wants each value above the one before
	return func(events []watch.Delivery) error {
		for _, e := range events {
			if e.Kind != watch.JobEvent {
				continue
			}
			var o job.Object
			if err := json.Unmarshal(e.Data, &o); err != nil {
				return fmt.Errorf("read an event of a job: %w", err)
			}
			if o.ProgressPercent >= next {
				next = o.ProgressPercent + progressStep
				report(o.ProgressPercent, progressLine(o))
			}
		}
		return nil
	}
}

// progressLine is how far a job is, for the person who looks at the client.
func progressLine(o job.Object) string {
	line := fmt.Sprintf("%s: %d of %s done", o.Status, o.FramesCompleted, framesOf(o.FrameCount))
	if o.ETASeconds != nil && !o.Status.Terminal() {
		line += fmt.Sprintf(", about %.0f seconds left", *o.ETASeconds)
	}
	if o.QueuePosition != nil {
		line += fmt.Sprintf(", number %d in the queue", *o.QueuePosition)
	}
	return line
}

// wantsProgress reports whether a body is one call that waits, by a client that gave a token
// for notifications and reads event streams. Only such a call is answered by a stream. A token
// that the library would change, like an id, is left unused.
func wantsProgress(h http.Header, body []byte) bool {
	var call struct {
		Method string `json:"method"`
		Params struct {
			Name      string `json:"name"`
			Arguments struct {
				WaitSeconds json.RawMessage `json:"wait_seconds"`
			} `json:"arguments"`
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &call) != nil || call.Method != "tools/call" || call.Params.Name != string(statusTool) || call.Params.Arguments.WaitSeconds == nil {
		return false
	}
	if _, ids := plainIDs(body); ids != nil { // they are put back into a whole body
		return false
	}
	token := call.Params.Meta.Token
	return (len(token) > 0 && token[0] == '"' || plainNumber.Match(token)) && accepts(h, "text/event-stream")
}

// accepts reports whether a header Accept names a media type.
func accepts(h http.Header, want string) bool {
	for _, part := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == want {
			return true
		}
	}
	return false
}
