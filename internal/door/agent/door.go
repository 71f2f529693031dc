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

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/render"
)

// Rooms are what the door leads to.
type Rooms struct {
	DB     *db.DB
	Jobs   *render.Jobs
	Intake *intake.Intake
	Links  links.Links
	// UploadStall is how long an upload may stand still; 0 means a minute.
	UploadStall time.Duration
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
	mux.Handle("POST "+links.AgentPath, d.letIn(d.message(handler)))
	d.discovery(mux)
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		mux.HandleFunc(method+" "+links.UploadPath+"{upload_id}", d.takeFile)
	}
}

// caller is who a request acts for, and how its answer is found in the log.
type caller struct {
	workspaceID, keyID string
	requestID          string
}

type callerKey struct{}

func callerOf(ctx context.Context) caller { return ctx.Value(callerKey{}).(caller) }

// letIn lets agent keys in.
func (d *door) letIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, err := identity.Agent(r.Context(), d.DB, r.Header.Get("Authorization"))
		if err != nil {
			if fault.Of(err) == fault.Internal {
				d.Log.Error("cannot authenticate", "error", err)
			}
			fault.Respond(w, err)
			return
		}
		identity.Acts(r.Context(), key.WorkspaceID)
		c := caller{key.WorkspaceID, key.KeyID, w.Header().Get(fault.RequestIDHeader)}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// message hands on what can be a message of the protocol. What the library
// refuses in plain text leaves in the envelope, as everywhere.
func (d *door) message(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			fault.Respond(w, fault.New(fault.UnsupportedMedia, "%s takes application/json.", links.AgentPath))
			return
		}
		patient := intake.Patient(r.Body, http.NewResponseController(w), d.UploadStall)
		body, err := io.ReadAll(http.MaxBytesReader(w, patient, contract.MaxJSONBodyBytes))
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			fault.Respond(w, fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB."))
			return
		}
		if err != nil {
			fault.Respond(w, fault.New(fault.InvalidRequest, "The body breaks off.").Wrap(err))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		// The library insists on both, and answers with the first.
		r.Header.Set("Accept", "application/json, text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(&enveloping{ResponseWriter: w}, r)
	})
}

// enveloping turns a refusal in plain text into the envelope.
type enveloping struct {
	http.ResponseWriter
	refused bool
}

func (e *enveloping) WriteHeader(status int) {
	kind, _, _ := mime.ParseMediaType(e.Header().Get("Content-Type"))
	if e.refused = status >= http.StatusBadRequest && kind == "text/plain"; !e.refused {
		e.ResponseWriter.WriteHeader(status)
	}
}

func (e *enveloping) Write(p []byte) (int, error) {
	if e.refused {
		text, _ := quoted(string(bytes.TrimSpace(p)), longMessage)
		fault.Respond(e.ResponseWriter, fault.New(fault.InvalidRequest, "The message is not understood: %s.", text))
		return len(p), nil
	}
	return e.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (e *enveloping) Unwrap() http.ResponseWriter { return e.ResponseWriter }
