package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/ground/fault"
)

// wireError is an error as huma writes it: the envelope of spec 7.
type wireError struct {
	fault.Body
	status  int
	headers http.Header
	text    string
}

func (e *wireError) Error() string           { return e.text }
func (e *wireError) GetStatus() int          { return e.status }
func (e *wireError) GetHeaders() http.Header { return e.headers }

// Schema lets huma describe wireError by its body alone.
func (e *wireError) Schema(r huma.Registry) *huma.Schema { return envelopeSchema(r) }

// envelope gives an error its wire form.
func envelope(err error, requestID string) *wireError {
	status, body := fault.Envelope(err, requestID)
	e := &wireError{Body: body, status: status, headers: http.Header{"Cache-Control": {"no-store"}}, text: err.Error()}
	fault.Headers(e.headers, err)
	return e
}

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

// wireErrorOf is huma's constructor for what it finds wrong with a request.
func wireErrorOf(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	requestID, operation := "", ""
	if ctx != nil {
		_, w := humago.Unwrap(ctx)
		requestID = w.Header().Get(fault.RequestIDHeader)
		if op := ctx.Operation(); op != nil {
			operation = op.OperationID
		}
	}
	for _, err := range errs {
		if e, ok := errors.AsType[*wireError](err); ok {
			return e
		}
		if e, ok := errors.AsType[*fault.Error](err); ok {
			return envelope(e, requestID)
		}
	}
	switch status {
	case http.StatusRequestEntityTooLarge:
		return envelope(fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB."), requestID)
	case http.StatusUnsupportedMediaType:
		return envelope(fault.New(fault.UnsupportedMedia, "This route takes application/json."), requestID)
	case http.StatusNotAcceptable:
		return envelope(fault.New(fault.InvalidRequest, "This route answers with application/json only."), requestID)
	}
	if status >= 500 {
		return envelope(errors.Join(append(errs, errors.New(message))...), requestID)
	}
	details := details(message, errs)
	for _, d := range details {
		if e := special[operation][d.Location]; e != nil {
			return envelope(e, requestID)
		}
	}
	return envelope(fault.New(fault.InvalidRequest, "%s: %s.", details[0].Location, details[0].Message).With(details), requestID)
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

func envelopeSchema(r huma.Registry) *huma.Schema {
	return r.Schema(bodyType, true, "Error")
}

// handled gives the errors of a handler their wire form and logs those that
// callers are not told.
func handled[I, O any](s *server, handle func(context.Context, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err == nil {
			return out, nil
		}
		requestID := requestIDOf(ctx)
		if fault.Of(err) == fault.Internal && !errors.Is(err, context.Canceled) {
			s.Log.LogAttrs(ctx, slog.LevelError, "request failed", slog.String("request_id", requestID), slog.Any("error", err))
		}
		return nil, envelope(err, requestID)
	}
}
