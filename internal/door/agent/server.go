// Package agent is the Model Context Protocol (MCP) server at /mcp, with the
// six tools of spec 4.5 and some more. It calls the same work packages as the HTTP API.
//
// What always holds: a request needs an agent key, which is checked before the
// body is read. Only svc_start spends, and only the price of a locked quote. A
// tool that fails returns a code of package fault, what to do about it, and
// which tool to call next. Every result fits the output schema that its tool
// publishes. Text from an uploaded file is shortened, escaped and marked as
// data, because a language model reads it.
//
// The transport is stateless: any server process can answer any request. The
// work packages decide, and package front counts requests. Start reading at
// Routes, then tools.go.
package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/inflight"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
)

// Config holds what the tools use. Every field is required except UploadStall.
// The package closes none of them.
type Config struct {
	DB        *db.DB
	Jobs      *job.Jobs
	Artifacts *artifact.Artifacts
	Watch     *watch.Reader
	Previews  *preview.Previews
	Overviews *overview.Overviews
	Webhooks  *webhook.Hooks
	Intake    *intake.Intake
	// Sealed encrypts the webhook secret that a repeated svc_start returns
	// again.
	Sealed *seal.Keys // for secrets that a repeated svc_start returns again
	Links  links.Links
	// UploadStall is how long an upload, or the body of a message, may go
	// without a new byte; 0 means one minute.
	UploadStall time.Duration
	Errors      *front.Errors
	Log         *slog.Logger
}

// server has no state of its own, so that all requests share it without a lock.
type server struct{ Config }

// Routes adds three kinds of routes to mux: the MCP endpoint, the public
// discovery documents, and the one-time upload links.
//
// The upload links accept PUT and POST, because curl sends a plain file by PUT
// and a form by POST.
func Routes(mux *http.ServeMux, c Config) {
	s := &server{c}
	tools := s.tools()
	options := mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true,
		// The library would refuse what a proxy on this machine forwards. Every request
		// needs a key, so a page that rebinds its name to this address gets nothing.
		DisableLocalhostProtection: true,
	}
	streaming := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &options)
	options.JSONResponse = true // the library has copied the options
	plain := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &options)
	endpoint := s.Errors.Handle(s.authenticate(s.message(plain, streaming)))
	mux.Handle("POST "+links.AgentPath, endpoint)
	mux.Handle("POST "+links.AgentPath+"/{$}", endpoint) // as people type it
	s.discovery(mux)
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		mux.Handle(method+" "+links.UploadPath+"{upload_id}", s.Errors.Handle(s.takeFile))
	}
}

// caller is the authenticated principal of a request, with the request id for
// log lines.
type caller struct {
	identity.Principal
	requestID string
}

type callerKey struct{}

// callerOf returns the caller that authenticate stored. It panics outside a
// request that authenticate has passed; every tool runs inside one.
func callerOf(ctx context.Context) caller { return ctx.Value(callerKey{}).(caller) }

// authenticate admits only agent keys (spec 5). It runs before the body is
// read, so that a stranger cannot make the server buffer 1 MiB. Errors:
// unauthenticated, insufficient_scope.
func (s *server) authenticate(next front.Handler) front.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		p, err := identity.Agent(r.Context(), s.DB, r.Header.Get("Authorization"), s.Links.To(links.AgentPath))
		if err == nil {
			err = p.Require(identity.ScopeRead)
		}
		if err != nil {
			return s.challenge(err)
		}
		inflight.RecordWorkspace(r.Context(), p.WorkspaceID)
		c := caller{p, w.Header().Get(fault.RequestIDHeader)}
		return next(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	}
}

// challenge tells a caller without a key that is good here where to get one (RFC 9728 5.1).
func (s *server) challenge(err error) error {
	refused, is := errors.AsType[*fault.Error](err)
	if !is || (refused.Code != fault.Unauthenticated && refused.Code != fault.InsufficientScope) {
		return err
	}
	told := *refused
	told.Challenge = ""
	told = *told.Challenged("resource_metadata", s.Links.To(links.ResourcePath+links.AgentPath))
	if refused.Code == fault.Unauthenticated {
		told = *told.Challenged("scope", identity.AllScopes().String())
	}
	if refused.Challenge != "" {
		told.Challenge += ", " + refused.Challenge
	}
	return &told
}

// message checks what the MCP library does not check, and turns the plain-text
// errors of the library into fault errors, so that they have the envelope of
// spec 7 like all others.
//
// It reads the whole body, because the library would otherwise read without a
// limit and without a stall timeout. A call whose client wants progress while it waits is
// answered by the stream of streaming, any other by plain. Errors: unsupported_media_type,
// body_too_large, invalid_request, rate_limited.
func (s *server) message(plain, streaming http.Handler) front.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return fault.New(fault.UnsupportedMedia, "%s accepts application/json only.", links.AgentPath)
		}
		timed := intake.WithPace(r.Body, http.NewResponseController(w), s.UploadStall)
		body, err := io.ReadAll(http.MaxBytesReader(w, timed, contract.MaxJSONBodyBytes))
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB.")
		}
		if err != nil {
			if own, is := errors.AsType[*fault.Error](err); is {
				return own
			}
			return fault.New(fault.InvalidRequest, "The body is incomplete.").Wrap(err)
		}
		n, err := messages(body)
		if err == nil {
			err = spoken(r.Header.Get("Mcp-Protocol-Version"), body)
		}
		if err == nil {
			err = front.Charge(r.Context(), n-1) // front has counted the request as one
		}
		if err != nil {
			return err
		}
		next := plain
		if wantsProgress(r.Header, body) {
			next = streaming
			w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
		}
		// The library demands both media types, and sends the one that its handler is for.
		// Callers that ask for only one of them would be refused for no reason.
		r.Header.Set("Accept", "application/json, text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		return serve(next, w, r, body)
	}
}

// serve has the library answer a body. The library refuses a whole array for one unknown
// method, before it calls any: then each message is answered alone.
func serve(next http.Handler, w http.ResponseWriter, r *http.Request, body []byte) error {
	body, ids := plainIDs(body)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out := &refusalCatcher{ResponseWriter: w, ids: ids}
	next.ServeHTTP(out, r)
	var array []json.RawMessage
	if !out.refused || json.Unmarshal(body, &array) != nil {
		return out.end(body)
	}
	answers := []json.RawMessage{}
	for _, message := range array {
		alone := &refusalCatcher{ResponseWriter: &kept{header: http.Header{}}, ids: ids}
		one := r.Clone(r.Context())
		one.Body, one.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
		next.ServeHTTP(alone, one)
		if err := alone.end(message); err != nil {
			return err
		}
		if text := alone.ResponseWriter.(*kept).Bytes(); len(text) > 0 {
			answers = append(answers, text)
		}
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(unescaped(answers)) // a failed write means the caller is gone
	return nil
}

// kept is a ResponseWriter that keeps the body.
type kept struct {
	bytes.Buffer
	header http.Header
}

func (k *kept) Header() http.Header { return k.header }
func (k *kept) WriteHeader(int)     {}

// messages returns how many JSON-RPC messages a body contains. The library accepts
// more than JSON, such as an array followed by text. Anything that is not JSON is
// refused here, because its messages would not be counted. Error: invalid_request.
func messages(body []byte) (int, error) {
	if !json.Valid(body) {
		return 0, unreadable("The body is not JSON.")
	}
	var all []json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		all = []json.RawMessage{body}
	} else if json.Unmarshal(body, &all) != nil || len(all) == 0 {
		return 0, unreadable("The array has no message.")
	}
	for _, message := range all {
		if !bytes.HasPrefix(bytes.TrimSpace(message), []byte("{")) {
			return 0, unreadable("A message is not a JSON object.")
		}
	}
	return len(all), nil
}

// spoken refuses a revision of MCP that the library does not know. Messages of revisions that name
// theirs in themselves are left to it: it answers with those that it has. Error: invalid_request.
func spoken(version string, body []byte) error {
	known := mcp.SupportedProtocolVersions()
	if version == "" || slices.Contains(known, version) || bytes.Contains(body, []byte("io.modelcontextprotocol/protocolVersion")) {
		return nil
	}
	return fault.New(fault.InvalidRequest, "There is no revision %q of MCP here.", shortened(version)).
		WithAction("Send the protocolVersion that initialize answered in the header MCP-Protocol-Version, or leave the header out. Known are " + strings.Join(known, ", ") + ".")
}

// unreadable is the error for a body that is no message.
func unreadable(format string, args ...any) error {
	return fault.New(fault.InvalidRequest, format, args...).
		WithAction(`Send a JSON-RPC 2.0 message: {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}. An id is a text or a number.`)
}

// refusalCatcher is a ResponseWriter that holds back an error in plain text, and a response
// in which ids have to be put back. It passes everything else through unchanged.
type refusalCatcher struct {
	http.ResponseWriter
	ids givenIDs
	// refused is set by WriteHeader when the library answers with an error as
	// plain text; from then on text collects the body, as it does where there are ids.
	refused bool
	text    bytes.Buffer
}

// WriteHeader decides, by status and media type, whether the response passes
// through. The library sends JSON-RPC errors as JSON; those pass.
func (w *refusalCatcher) WriteHeader(status int) {
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if w.refused = status >= http.StatusBadRequest && kind == "text/plain"; !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *refusalCatcher) Write(p []byte) (int, error) {
	if w.refused || w.ids != nil {
		return w.text.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *refusalCatcher) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// end writes what was held back, or returns it as a fault error. A request with an id gets a
// JSON-RPC error, which its client can match to it; a notification that the library does not
// know is ignored, as JSON-RPC says.
func (w *refusalCatcher) end(body []byte) error {
	if !w.refused {
		if w.ids != nil {
			_, _ = w.ResponseWriter.Write(w.ids.back(w.text.Bytes())) // a failed write means the caller is gone
		}
		return nil
	}
	text := string(bytes.TrimSpace(w.text.Bytes()))
	unknown := strings.HasPrefix(text, notHandled)
	if id := requestID(body); id != nil && (unknown || strings.HasPrefix(text, notValid)) {
		told := map[string]any{"code": jsonrpc.CodeMethodNotFound, "message": "There is no such method."}
		if !unknown {
			told = map[string]any{"code": jsonrpc.CodeInvalidRequest, "message": shortened(text)}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.ResponseWriter.Write(w.ids.back(unescaped(map[string]any{"jsonrpc": "2.0", "id": id, "error": told})))
		return nil
	}
	if unknown {
		w.ResponseWriter.WriteHeader(http.StatusAccepted)
		return nil
	}
	return unreadable("The message could not be read: %s.", shortened(text))
}

// How the library begins what it says of a method that it does not know, and of a message
// that is none.
const (
	notHandled = "JSON RPC not handled"
	notValid   = "invalid request"
)

// shortened is what the library says, which may quote the message: the caller's own text.
func shortened(text string) string {
	text = plaintext.Line(text)
	if len(text) > longMessage {
		text = strings.ToValidUTF8(text[:longMessage], "") + "…"
	}
	return text
}
