// Package agent is the Model Context Protocol server at /mcp, with the six tools of
// spec 4.5. It uses the same packages as the HTTP API.
//
// What always holds: a request needs an agent key, which is checked before its body
// is read; only svc_start spends, and only the price of a locked quote; a tool that
// fails answers with a code of package fault, what to do about it and which tool to
// call next; every answer fits the output schema that its tool publishes; text from
// an uploaded file is cut, escaped and marked as data, because a language model
// reads it.
//
// The transport is stateless: any server process may answer any request. The work
// packages decide, package front counts requests. Start reading at Routes, then
// tools.go.
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

// Config is what the tools use.
type Config struct {
	DB        *db.DB
	Jobs      *job.Jobs
	Artifacts *artifact.Artifacts
	Watch     *watch.Reader
	Webhooks  *webhook.Hooks
	Intake    *intake.Intake
	Sealed    *seal.Keys // for secrets that a repeated svc_start tells again
	Links     links.Links
	// UploadStall is how long an upload may send nothing; 0 means a minute.
	UploadStall time.Duration
	Errors      *front.Errors
	Log         *slog.Logger
}

type server struct{ Config }

// Routes adds the routes to mux.
func Routes(mux *http.ServeMux, c Config) {
	s := &server{c}
	tools := s.tools()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
		// The library would refuse what a proxy on this machine forwards. Every request
		// needs a key, so a page that rebinds its name to this address gets nothing.
		DisableLocalhostProtection: true,
	})
	mux.Handle("POST "+links.AgentPath, s.Errors.Handle(s.authenticate(s.message(handler))))
	s.discovery(mux)
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		mux.Handle(method+" "+links.UploadPath+"{upload_id}", s.Errors.Handle(s.takeFile))
	}
}

// caller is who a request acts for, and the id under which the log has it.
type caller struct {
	identity.Principal
	requestID string
}

type callerKey struct{}

func callerOf(ctx context.Context) caller { return ctx.Value(callerKey{}).(caller) }

// authenticate accepts agent keys.
func (s *server) authenticate(next front.Handler) front.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := identity.Agent(r.Context(), s.DB, r.Header.Get("Authorization"))
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

// message checks what the library does not, and turns the library's plain-text
// refusals into errors, so that they have the envelope of all others.
func (s *server) message(next http.Handler) front.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return fault.New(fault.UnsupportedMedia, "%s takes application/json.", links.AgentPath)
		}
		timed := intake.WithStallTimeout(r.Body, http.NewResponseController(w), s.UploadStall)
		body, err := io.ReadAll(http.MaxBytesReader(w, timed, contract.MaxJSONBodyBytes))
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB.")
		}
		if err != nil {
			return fault.New(fault.InvalidRequest, "The body breaks off.").Wrap(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		// The library requires both, and answers with the first.
		r.Header.Set("Accept", "application/json, text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		out := &refusalCatcher{ResponseWriter: w}
		next.ServeHTTP(out, r)
		return out.error()
	}
}

// refusalCatcher is a response that holds back a refusal in plain text.
type refusalCatcher struct {
	http.ResponseWriter
	refused bool
	text    bytes.Buffer
}

func (w *refusalCatcher) WriteHeader(status int) {
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if w.refused = status >= http.StatusBadRequest && kind == "text/plain"; !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *refusalCatcher) Write(p []byte) (int, error) {
	if w.refused {
		return w.text.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *refusalCatcher) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// error is the refusal; nil when there is none.
func (w *refusalCatcher) error() error {
	if !w.refused {
		return nil
	}
	text, _ := quoted(string(bytes.TrimSpace(w.text.Bytes())), longMessage)
	return fault.New(fault.InvalidRequest, "The message is not understood: %s.", text)
}
