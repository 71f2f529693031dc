package operation

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/front"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
)

// response is a ResponseWriter whose content an error can replace: once err is
// set, nothing that huma writes goes out. huma wants to write errors itself;
// this keeps them for package front.
type response struct {
	http.ResponseWriter
	err error
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if w.err == nil {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write pretends to succeed after an error, since huma has nothing to do about
// it.
func (w *response) Write(p []byte) (int, error) {
	if w.err != nil {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom lets files go out without being copied through the process.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	if w.err != nil {
		return 0, nil
	}
	return io.Copy(w.ResponseWriter, src)
}

// Fail makes err the answer to a request. The first error stays, because later
// ones follow from it. Nothing may have been written before.
func Fail(ctx huma.Context, err error) {
	_, w := humago.Unwrap(ctx)
	if r, ok := w.(*response); ok && r.err == nil {
		r.err = err
	}
}

// adapter registers huma's operations on the mux as handlers that return their
// errors.
type adapter struct {
	huma.Adapter
	mux    *http.ServeMux
	errors *front.Errors
}

// NewAdapter makes huma register operations on mux, and errs answer their
// errors. It changes package variables of huma, once per process.
func NewAdapter(mux *http.ServeMux, errs *front.Errors) huma.Adapter {
	configureHuma()
	return adapter{humago.NewAdapter(mux, ""), mux, errs}
}

// configureHuma sets what huma keeps in package variables: the constructor of
// errors, that lists are never null, and that member names match their case. It
// runs once, because huma reads the variables while requests are served.
var configureHuma = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.NewErrorWithContext = newError
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return newError(nil, status, msg, errs...)
	}
})

// Handle implements huma.Adapter.
func (a adapter) Handle(op *huma.Operation, handle func(huma.Context)) {
	a.mux.Handle(op.Method+" "+op.Path, a.errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		out := &response{ResponseWriter: w}
		handle(humago.NewContext(op, r, out))
		return out.err
	}))
}

// refused carries an error through huma, which wants a status and a schema of
// it.
type refused struct{ error }

// GetStatus implements huma.StatusError.
func (r refused) GetStatus() int { return fault.Lookup(fault.Of(r.error)).Status }

// Schema lets huma describe errors by the envelope of spec 7.
func (refused) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[fault.Body](), true, "Error")
}

// specialErrors lists the bad values that have a code of their own instead of
// invalid_request, by operation and location. huma validates them by the schema
// and knows only invalid values.
func specialErrors() map[string]map[string]*fault.Error {
	webhookURL := fault.New(fault.InvalidWebhookURL, "A webhook URL must be an https URL of at most %d characters.", contract.MaxWebhookURL)
	secret := fault.New(fault.WebhookSecretShort, "A webhook secret must have at least %d characters.", contract.MinWebhookSecret)
	keyName := fault.New(fault.InvalidKeyName, "A key's name must have 1 to %d visible characters.", contract.MaxKeyName)
	keyID := fault.New(fault.KeyNotFound, "There is no such key. A key_id is key_ followed by 32 hexadecimal digits.")
	return map[string]map[string]*fault.Error{
		"preflightRender": {"body.renderer": fault.New(fault.UnsupportedRenderer, "The only renderer is blender.")},
		"startUpload": {
			"body.price_cents":      fault.New(fault.PriceNotAccepted, "Start does not accept price_cents: the locked quote is the price."),
			"body.legal_acceptance": fault.New(fault.LegalRequired, "legal_acceptance must be SVC_LEGAL_V1."),
			"body.webhook_url":      webhookURL,
			"body.webhook_secret":   secret,
		},
		"createWebhookEndpoint": {"body.url": webhookURL, "body.secret": secret},
		"changeWebhookEndpoint": {"body.url": webhookURL},
		"rotateWebhookSecret":   {"body.secret": secret},
		"createApiKey":          {"body.name": keyName},
		"createAgentKey":        {"body.name": keyName},
		"revokeApiKey":          {"path.key_id": keyID},
		"revokeAgentKey":        {"path.key_id": keyID},
	}
}

// newError is huma's constructor of errors: for those of handlers, and for what
// huma finds wrong with a request. It makes the error the answer to ctx; ctx is
// nil when huma only describes errors.
func newError(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	op := &huma.Operation{}
	if ctx != nil && ctx.Operation() != nil {
		op = ctx.Operation()
	}
	err := errorOf(op, status, message, errs)
	if ctx != nil {
		Fail(ctx, err)
	}
	return refused{err}
}

// humaReadFailed is huma's message for a body that cannot be read. huma calls it a
// failure of the server; a line that is cut, or a chunk that is none, is the caller's.
const humaReadFailed = "cannot read request body"

// errorOf returns what huma found as a fault error. A handler's own fault error
// goes first; then huma's statuses are mapped; the rest is invalid_request with
// a detail for each member.
func errorOf(op *huma.Operation, status int, message string, errs []error) error {
	for _, err := range errs {
		if fault.Of(err) != fault.Internal {
			return err
		}
	}
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return fault.New(fault.BodyTooLarge, "The body is larger than %d bytes.", op.MaxBodyBytes)
	case status == http.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedMedia, "This route accepts application/json only.")
	case status == http.StatusNotAcceptable:
		return fault.New(fault.InvalidRequest, "This route answers with application/json only.")
	case message == humaReadFailed:
		return Broken(errors.Join(errs...))
	case status >= http.StatusInternalServerError:
		return errors.Join(errs...)
	}
	details, special := details(message, errs), specialErrors()
	for _, d := range details {
		if e := special[op.OperationID][d.Location]; e != nil {
			return e
		}
	}
	return fault.Fields(details)
}

// Broken is the error of a body that cannot be read to its end: the body's own reason,
// such as body_truncated, or invalid_request.
func Broken(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.New(fault.InvalidRequest, "The body is incomplete or malformed.").Wrap(err)
}

// details lists what is wrong, and where. It has at least one entry.
func details(message string, errs []error) []fault.FieldDetail {
	out := []fault.FieldDetail{}
	for _, err := range errs {
		d, ok := err.(huma.ErrorDetailer)
		if !ok {
			out = append(out, fault.FieldDetail{Location: "body", Message: "is not valid JSON: " + err.Error()})
			continue
		}
		detail := d.ErrorDetail()
		location, text := detail.Location, detail.Message
		// huma names the object around a missing member; callers want the member.
		if name, found := strings.CutPrefix(text, "expected required property "); found {
			name, _, _ = strings.Cut(name, " ")
			location, text = strings.TrimSuffix(location, ".")+"."+name, "is required"
		}
		if name, found := strings.CutPrefix(text, unexpectedNull); found {
			location, text = location+"."+name, "must not be null; leave it out instead"
		}
		out = append(out, fault.FieldDetail{Location: location, Message: plain(text)})
	}
	if len(out) == 0 {
		out = append(out, fault.FieldDetail{Location: "body", Message: plain(message)})
	}
	return out
}

// plain is what huma finds wrong with a value, as the end of a sentence about it. huma
// speaks in the terms of JSON Schema.
func plain(found string) string {
	for _, known := range []struct{ begins, says string }{
		{"request body is required", "is missing"},
		{"unexpected property", "is not a member of this request"},
		{"expected number >= ", "must be at least "},
		{"expected number <= ", "must be at most "},
		{"expected string to match pattern ", "must match "},
		{"expected value to be one of ", "must be one of "},
		{"expected value to be ", "must be "},
		{"expected value to match", "must have one of the types that the API reference names"},
		{"expected string to be RFC 5322 email", "must be an e-mail address"},
		{"expected string to be RFC 3339 date-time", "must be a time such as 2026-01-31T12:00:00Z"},
		{"expected string to be RFC 3986 uri", "must be a URL"},
		{"expected length >= ", "must have a length of at least "},
		{"expected length <= ", "must have a length of at most "},
		{"expected array length >= ", "must have a length of at least "},
		{"expected array length <= ", "must have a length of at most "},
		{"expected boolean", "must be true or false"},
		{"expected integer", "must be a whole number"},
		{"expected number", "must be a number"},
		{"expected string", "must be text"},
		{"expected array", "must be a list"},
		{"expected object", "must be a JSON object"},
		{"invalid integer", "must be a whole number"},
		{"invalid float", "must be a number"},
		{"invalid boolean", "must be true or false"},
	} {
		rest, is := strings.CutPrefix(found, known.begins)
		if is && strings.HasSuffix(known.begins, " ") {
			return known.says + strings.ReplaceAll(rest, `"`, "")
		}
		if is {
			return known.says
		}
	}
	return found
}
