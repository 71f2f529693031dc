package api

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"svc.example/internal/contract"
	"svc.example/internal/fault"
	"svc.example/internal/intake"
	"svc.example/internal/quote"
	"svc.example/internal/render"
)

// quoteBody is a locked quote with its members at top level and again inside
// quote, where callers may look for either (spec 2.11).
type quoteBody struct {
	OK bool `json:"ok" enum:"true"`
	quote.Quote
	Inner quote.Quote `json:"quote"`
	Scene quote.Scene `json:"scene"`
}

type quoteOutput struct{ Body quoteBody }

func quoted(i intake.Inspection) *quoteOutput {
	return &quoteOutput{Body: quoteBody{OK: true, Quote: i.Quote, Inner: i.Quote, Scene: i.Scene}}
}

// inspectInput hands the raw request on: the body is streamed, never held.
type inspectInput struct{ request *http.Request }

// Resolve implements huma.Resolver.
func (in *inspectInput) Resolve(ctx huma.Context) []error {
	in.request, _ = humago.Unwrap(ctx)
	return nil
}

type requoteInput struct {
	UploadID string `path:"upload_id" doc:"From inspect."`
	Body     struct {
		FrameStart int `json:"frame_start" doc:"First frame, 1 or above."`
		FrameEnd   int `json:"frame_end" doc:"Last frame."`
		FrameStep  int `json:"frame_step,omitempty" default:"1" doc:"Every how many frames one is rendered."`
	}
}

type startInput struct {
	UploadID string `path:"upload_id" doc:"From inspect."`
	Body     struct {
		QuoteID         string `json:"quote_id" doc:"From inspect or quote."`
		LegalAcceptance string `json:"legal_acceptance" enum:"SVC_LEGAL_V1" doc:"Accepts the terms."`
	}
}

type objectOutput struct{ Body render.Object }

// uploads registers inspect, quote and start.
func (s *server) uploads(api huma.API) {
	security := []map[string][]string{{agentScheme: {}}, {sessionScheme: {}}}
	inspect := huma.Operation{
		OperationID: "inspectUpload", Method: http.MethodPost, Path: "/node/v1/uploads/inspect", Tags: []string{"Job API"},
		Summary:     "Upload a .blend and get a locked quote; spends nothing",
		Description: "Send the part `file`. The parts `frame_start`, `frame_end` and `frame_step` choose frames; without them the scene's own range is priced.",
		Security:    security, Errors: []int{400, 401, 403, 413, 415}, Middlewares: huma.Middlewares{noted, s.agentOrSession(api)},
	}
	huma.Register(api, inspect, handled(s, s.inspect))
	// Described only now: described before, huma would read the body itself.
	api.OpenAPI().Paths[inspect.Path].Post.RequestBody = &huma.RequestBody{
		Required: true,
		Content: map[string]*huma.MediaType{"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"file"},
			Properties: map[string]*huma.Schema{
				"file":        {Type: huma.TypeString, Format: "binary", Description: "The .blend file, at most 104857600 bytes."},
				"frame_start": {Type: huma.TypeInteger}, "frame_end": {Type: huma.TypeInteger}, "frame_step": {Type: huma.TypeInteger},
			},
		}}},
	}
	huma.Register(api, huma.Operation{
		OperationID: "quoteUpload", Method: http.MethodPost, Path: "/node/v1/uploads/{upload_id}/quote", Tags: []string{"Job API"},
		Summary: "Get a locked quote for other frames of an upload; spends nothing", MaxBodyBytes: contract.MaxJSONBodyBytes,
		Security: security, Errors: []int{400, 401, 403, 404, 413, 415}, Middlewares: huma.Middlewares{noted, s.agentOrSession(api)},
	}, handled(s, func(ctx context.Context, in *requoteInput) (*quoteOutput, error) {
		asked := quote.Asked{Start: &in.Body.FrameStart, End: &in.Body.FrameEnd, Step: &in.Body.FrameStep}
		i, err := s.Intake.Requote(ctx, callerOf(ctx).WorkspaceID, in.UploadID, asked)
		if err != nil {
			return nil, err
		}
		return quoted(i), nil
	}))
	huma.Register(api, huma.Operation{
		OperationID: "startUpload", Method: http.MethodPost, Path: "/node/v1/uploads/{upload_id}/start", Tags: []string{"Job API"},
		Summary:      "Start rendering at the locked price; reserves the funds",
		Description:  "The only step that spends. Starting the same quote again returns the same job.",
		MaxBodyBytes: contract.MaxJSONBodyBytes,
		Security:     security, Errors: []int{400, 401, 402, 403, 404, 409, 413, 415, 503}, Middlewares: huma.Middlewares{noted, s.agentOrSession(api)},
	}, handled(s, func(ctx context.Context, in *startInput) (*objectOutput, error) {
		c := callerOf(ctx)
		o, err := s.Jobs.Start(ctx, render.StartRequest{
			WorkspaceID: c.WorkspaceID, KeyID: c.KeyID, UploadID: in.UploadID, QuoteID: in.Body.QuoteID, Flow: render.FlowJobAPI,
		})
		return &objectOutput{o}, err
	}))
}

// inspect reads the parts of the form as they come.
func (s *server) inspect(ctx context.Context, in *inspectInput) (*quoteOutput, error) {
	if in.request.ContentLength > contract.MaxUploadBytes+formSlack {
		return nil, intake.TooLarge() // before a byte of it is read
	}
	parts, err := in.request.MultipartReader()
	if err != nil {
		return nil, fault.New(fault.UnsupportedMedia, "An upload is multipart/form-data with the part file.").Because(err)
	}
	f := &uploadForm{}
	defer f.abort()
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fault.New(fault.InvalidRequest, "The form breaks off or is malformed.").Because(err)
		}
		if err := s.take(ctx, f, part); err != nil {
			return nil, err
		}
	}
	if f.received == nil {
		return nil, fault.Field("body.file", "is required")
	}
	i, err := f.received.Quote(ctx, f.asked)
	if err != nil {
		return nil, err
	}
	return quoted(i), nil
}

// formSlack is what a form may have beside the file: boundaries and fields.
const formSlack = 64 << 10

// uploadForm is what has come of the form so far.
type uploadForm struct {
	received *intake.Received
	asked    quote.Asked
}

func (f *uploadForm) abort() {
	if f.received != nil {
		f.received.Abort()
	}
}

// take reads one part. Unknown parts are ignored.
func (s *server) take(ctx context.Context, f *uploadForm, part *multipart.Part) (err error) {
	switch name := part.FormName(); name {
	case "file":
		if f.received != nil {
			return fault.Field("body.file", "stands twice")
		}
		f.received, err = s.Intake.Receive(ctx, callerOf(ctx).WorkspaceID, part.FileName(), part)
		return err
	case "frame_start":
		f.asked.Start, err = number(name, part)
	case "frame_end":
		f.asked.End, err = number(name, part)
	case "frame_step":
		f.asked.Step, err = number(name, part)
	}
	return err
}

// number reads a form field that is a whole number.
func number(name string, part io.Reader) (*int, error) {
	const longest = 12 // digits of any number that makes sense here
	text, err := io.ReadAll(io.LimitReader(part, longest+1))
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "The form breaks off or is malformed.").Because(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fault.Field("body."+name, "must be a whole number")
	}
	return &n, nil
}
