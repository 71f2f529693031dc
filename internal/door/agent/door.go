// Package agent is the door for agents: a Model Context Protocol server at /mcp
// with the six tools of spec 4.5, over the same rooms as the API.
//
// What always holds: a request is let in by an agent key alone, before its body
// is read; only svc_start spends, and only what a locked quote says; a tool that
// cannot do what it was asked answers with a code of fault, what to do about it,
// and which tool to call next; every answer fits the output schema that its tool
// publishes; text that was read from an uploaded file is cut, escaped and marked
// as data, since a language model reads it.
//
// No request depends on an earlier one (the transport is stateless), so any
// server process may answer it. Deciding is left to the rooms, counting requests
// to app. Start reading at Routes, then tools.go.
package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
)

// Rooms are what the door leads to.
type Rooms struct {
	DB        *db.DB
	Jobs      *job.Jobs
	Artifacts *artifact.Artifacts
	Watch     *watch.Reader
	Webhooks  *webhook.Hooks
	Intake    *intake.Intake
	Sealed    *seal.Keys // for secrets that a repeated svc_start tells again
	Links     links.Links
	// UploadStall is how long an upload may stand still; 0 means a minute.
	UploadStall time.Duration
	Errors      *front.Errors
	Log         *slog.Logger
}

type door struct{ Rooms }

// Routes adds the door's routes to mux.
func Routes(mux *http.ServeMux, rooms Rooms) {
	d := &door{rooms}
	server := d.server()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		// It would refuse what a proxy on this machine passes on. A page that a
		// browser was lured to by name has no key, which is what lets a request in.
		DisableLocalhostProtection: true,
	})
	mux.Handle("POST "+links.AgentPath, d.Errors.Handle(d.letIn(d.message(handler))))
	d.discovery(mux)
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		mux.Handle(method+" "+links.UploadPath+"{upload_id}", d.Errors.Handle(d.takeFile))
	}
}

// caller is who a request acts for, and how its answer is found in the log.
type caller struct {
	identity.Principal
	requestID string
}

type callerKey struct{}

func callerOf(ctx context.Context) caller { return ctx.Value(callerKey{}).(caller) }

// letIn lets agent keys in.
func (d *door) letIn(next front.Handler) front.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := identity.Agent(r.Context(), d.DB, r.Header.Get("Authorization"))
		if err == nil {
			err = p.Require(identity.ScopeRead)
		}
		if err != nil {
			return err
		}
		identity.RecordWorkspace(r.Context(), p.WorkspaceID)
		c := caller{p, w.Header().Get(fault.RequestIDHeader)}
		return next(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	}
}

// message hands on what can be a message of the protocol. What the library
// refuses in plain text is an error like any other.
func (d *door) message(next http.Handler) front.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return fault.New(fault.UnsupportedMedia, "%s takes application/json.", links.AgentPath)
		}
		patient := intake.WithStallTimeout(r.Body, http.NewResponseController(w), d.UploadStall)
		body, err := io.ReadAll(http.MaxBytesReader(w, patient, contract.MaxJSONBodyBytes))
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB.")
		}
		if err != nil {
			return fault.New(fault.InvalidRequest, "The body breaks off.").Wrap(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		// The library insists on both, and answers with the first.
		r.Header.Set("Accept", "application/json, text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		out := &refusing{ResponseWriter: w}
		next.ServeHTTP(out, r)
		return out.error()
	}
}

// refusing holds back a refusal in plain text.
type refusing struct {
	http.ResponseWriter
	refused bool
	text    bytes.Buffer
}

func (w *refusing) WriteHeader(status int) {
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if w.refused = status >= http.StatusBadRequest && kind == "text/plain"; !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *refusing) Write(p []byte) (int, error) {
	if w.refused {
		return w.text.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *refusing) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// error is the refusal; nil when there is none.
func (w *refusing) error() error {
	if !w.refused {
		return nil
	}
	text, _ := quoted(string(bytes.TrimSpace(w.text.Bytes())), longMessage)
	return fault.New(fault.InvalidRequest, "The message is not understood: %s.", text)
}
