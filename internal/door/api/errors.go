package api

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/front"
	"svc.example/internal/ground/fault"
)

// answered is a response that an error may take the place of: once err is set,
// nothing of what huma writes goes out, and the error is answered where all are.
type answered struct {
	http.ResponseWriter
	err error
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answered) WriteHeader(status int) {
	if a.err == nil {
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a *answered) Write(p []byte) (int, error) {
	if a.err != nil {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

// ReadFrom lets files go out without being copied through the process.
func (a *answered) ReadFrom(src io.Reader) (int64, error) {
	if a.err != nil {
		return 0, nil
	}
	return io.Copy(a.ResponseWriter, src)
}

// fail makes err the answer to a request. The first error stays.
func fail(ctx huma.Context, err error) {
	_, w := humago.Unwrap(ctx)
	if a, ok := w.(*answered); ok && a.err == nil {
		a.err = err
	}
}

// adapter brings huma's operations to the mux, as handlers that return their
// errors.
type adapter struct {
	huma.Adapter
	mux    *http.ServeMux
	errors *front.Errors
}

// Handle implements huma.Adapter.
func (a adapter) Handle(op *huma.Operation, handle func(huma.Context)) {
	a.mux.Handle(op.Method+" "+op.Path, a.errors.Handle(func(w http.ResponseWriter, r *http.Request) error {
		out := &answered{ResponseWriter: w}
		handle(humago.NewContext(op, r, out))
		return out.err
	}))
}

// refused stands in for an error where huma wants to write one itself.
type refused struct{ error }

// GetStatus implements huma.StatusError.
func (r refused) GetStatus() int { return fault.Lookup(fault.Of(r.error)).Status }

// Schema lets huma describe errors by their body.
func (refused) Schema(r huma.Registry) *huma.Schema { return envelopeSchema(r) }

// special are bad values with a code of their own instead of invalid_request,
// by operation and location.
var special = map[string]map[string]*fault.Error{
	"preflightRender": {
		"body.renderer": fault.New(fault.UnsupportedRenderer, "There is one renderer: blender."),
	},
	"startUpload": {
		"body.price_cents":      fault.New(fault.PriceNotAccepted, "Start takes no price_cents: the locked quote is the price."),
		"body.legal_acceptance": fault.New(fault.LegalRequired, "legal_acceptance must be SVC_LEGAL_V1."),
		"body.webhook_url":      badWebhookURL,
		"body.webhook_secret":   shortSecret,
	},
	"createWebhookEndpoint": {"body.url": badWebhookURL, "body.secret": shortSecret},
	"changeWebhookEndpoint": {"body.url": badWebhookURL},
	"rotateWebhookSecret":   {"body.secret": shortSecret},
	"createApiKey":          {"body.name": badKeyName},
	"createAgentKey":        {"body.name": badKeyName},
	"revokeApiKey":          {"path.key_id": noSuchKey},
	"revokeAgentKey":        {"path.key_id": noSuchKey},
}

// refuse is huma's constructor for errors: of handlers, and for what it finds
// wrong with a request itself. It makes the error the answer to ctx.
func refuse(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	operation := ""
	if ctx != nil && ctx.Operation() != nil {
		operation = ctx.Operation().OperationID
	}
	err := errorOf(operation, status, message, errs)
	if ctx != nil {
		fail(ctx, err)
	}
	return refused{err}
}

// errorOf says in our vocabulary what huma found.
func errorOf(operation string, status int, message string, errs []error) error {
	for _, err := range errs {
		if fault.Of(err) != fault.Internal {
			return err
		}
	}
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB.")
	case status == http.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedMedia, "This route takes application/json.")
	case status == http.StatusNotAcceptable:
		return fault.New(fault.InvalidRequest, "This route answers with application/json only.")
	case status >= http.StatusInternalServerError:
		return errors.Join(errs...)
	}
	details := details(message, errs)
	for _, d := range details {
		if e := special[operation][d.Location]; e != nil {
			return e
		}
	}
	return fault.New(fault.InvalidRequest, "%s: %s.", details[0].Location, details[0].Message).With(details)
}

// details lists what is wrong, each at its own place.
func details(message string, errs []error) []fault.FieldDetail {
	out := []fault.FieldDetail{}
	for _, err := range errs {
		d, ok := err.(huma.ErrorDetailer)
		if !ok {
			out = append(out, fault.FieldDetail{Location: "body", Message: err.Error()})
			continue
		}
		detail := d.ErrorDetail()
		location, text := detail.Location, detail.Message
		// A missing member is told of the object around it; name the member.
		if name, found := strings.CutPrefix(text, "expected required property "); found {
			name, _, _ = strings.Cut(name, " ")
			location, text = strings.TrimSuffix(location, ".")+"."+name, "is required"
		}
		out = append(out, fault.FieldDetail{Location: location, Message: text})
	}
	if len(out) == 0 {
		out = append(out, fault.FieldDetail{Location: "request", Message: message})
	}
	return out
}

var bodyType = reflect.TypeFor[fault.Body]()

func envelopeSchema(r huma.Registry) *huma.Schema {
	return r.Schema(bodyType, true, "Error")
}
