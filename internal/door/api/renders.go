package api

import (
	"context"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/webhook"
)

// preflightInput is the preflight request of spec 2.8.
type preflightInput struct {
	Body struct {
		Filename   string `json:"filename" doc:"Ends with .blend."`
		Renderer   string `json:"renderer,omitempty" enum:"blender" default:"blender"`
		FrameStart int    `json:"frame_start,omitempty" minimum:"1" default:"1"`
		FrameEnd   *int   `json:"frame_end,omitempty" minimum:"1"`
		FrameCount *int   `json:"frame_count,omitempty" minimum:"1" maximum:"10000" doc:"Agrees with frame_end; either is enough."`
	}
}

// preflightOutput is the answer of preflight (decisions 6). The price is in
// cents.
type preflightOutput struct {
	Body struct {
		OK             bool   `json:"ok" const:"true"`
		Eligible       bool   `json:"eligible" const:"true" doc:"A plan that is not gets an error."`
		Filename       string `json:"filename" doc:"As the service would store it."`
		Renderer       string `json:"renderer" const:"blender"`
		FrameStart     int    `json:"frame_start" minimum:"1" doc:"First frame."`
		FrameEnd       int    `json:"frame_end" minimum:"1" doc:"Last frame."`
		FrameCount     int    `json:"frame_count" minimum:"1" maximum:"10000" doc:"From the first frame to the last."`
		PriceCents     int    `json:"price_cents" minimum:"1" doc:"For all frames."`
		Currency       string `json:"currency" const:"USD"`
		PricingVersion string `json:"pricing_version" const:"fixed-1c-v1"`
		QuoteRequired  bool   `json:"quote_required" const:"true" doc:"This price is a plan; a quote locks one."`
	}
}

// renders registers the older flow: preflight, upload with reservation, submit
// (spec 4.1 and 4.2), and the upload by id (spec 4.4).
//
// The request bodies are described after registering: huma would otherwise read
// and validate what the handlers read themselves.
func (s *server) renders(api huma.API) {
	op := func(id, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: http.MethodPost, Path: path, Tags: []string{"Renders"}, Summary: summary, MaxBodyBytes: contract.MaxJSONBodyBytes,
			Security: []map[string][]string{{operation.AccountScheme: {}}},
		}
	}
	preflight := op("preflightRender", links.RendersPath+"/preflight", "Check a plan and see its price; locks nothing")
	preflight.Security = nil // the published contract lists none
	preflight.Middlewares = huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKey(), s.idempotent(byBody)}
	huma.Register(api, preflight, s.preflight)

	create := op("createRender", links.RendersPath, "Upload a .blend, or name an upload, and make a render that waits for its submit; reserves the funds")
	create.Description = "As a form with the part `file`, or as JSON with the `upload_id` of an inspected upload, whose frames are then taken. " +
		"Without frame fields a form means frame 1. Repeating it is safe with the nine headers of the group (form) or an Idempotency-Key (JSON)."
	create.Middlewares = huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKey(), s.limitStall, s.idempotent(byUploadHeaders)}
	for _, rule := range uploadHeaderRules() {
		create.Parameters = append(create.Parameters, &huma.Param{
			Name: rule.header, In: "header", Description: "All nine headers of the group, or none.",
			Schema: &huma.Schema{Type: huma.TypeString, Pattern: rule.form.String()},
		})
	}
	huma.Register(api, create, s.create)
	parts := frameParts("frame_start", "frame_end", "frame_step", "frame_count")
	parts["frame_step"].Description, parts["frame_step"].Minimum, parts["frame_step"].Maximum = "Each frame is rendered: 1.", new(1.0), new(1.0)
	maps.Copy(parts, settingParts())
	parts["renderer"], parts[maxPriceField], parts[tagsField] = rendererPart(), maxPricePart(), &huma.Schema{Type: huma.TypeString, Description: "As in JSON, with commas between them."}
	members := settingParts()
	members[maxPriceField], members[tagsField] = maxPricePart(), tagsMember()
	members["upload_id"] = &huma.Schema{Type: huma.TypeString, Description: "From inspect or POST /uploads."}
	api.OpenAPI().Paths[create.Path].Post.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"multipart/form-data": fileForm(parts),
		"application/json": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"upload_id"}, AdditionalProperties: false, Properties: members,
		}},
	}}

	submit := op("submitRender", links.RendersPath+"/{job_id}/submit", "Send an uploaded render to the workers")
	submit.Middlewares = huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKey(), s.idempotent(byBody)}
	huma.Register(api, submit, func(ctx context.Context, in *jobInput) (*objectOutput, error) {
		o, err := effect(ctx, s, func(tx *db.Tx) (job.Object, error) {
			o, err := s.Jobs.Submit(ctx, tx, operation.Caller(ctx).WorkspaceID, in.JobID)
			return o.Through(s.Links, links.RendersPath), err
		})
		return &objectOutput{o}, err
	})

	upload := op("createUpload", "/v1/uploads", "Upload a .blend and get a locked quote; spends nothing")
	upload.Middlewares = huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKey(), s.limitStall, s.idempotent(byHashAndSettings)}
	upload.Description = "With an Idempotency-Key, settings such as camera come before the file."
	upload.Parameters = []*huma.Param{{
		Name: operation.IdempotencyKey, In: "header", Description: "upload- and the file's SHA-256, which is checked.",
		Schema: &huma.Schema{Type: huma.TypeString, Pattern: "^" + uploadKeyPrefix + "[a-f0-9]{64}$"},
	}}
	huma.Register(api, upload, func(ctx context.Context, in *rawInput) (*quoteOutput, error) {
		sum, err := byHash(in.request)
		if err != nil {
			return nil, err
		}
		return s.receive(ctx, in, sum)
	})
	api.OpenAPI().Paths[upload.Path].Post.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": archiveForm()},
	}
}

// preflight checks a plan and says its price. It locks nothing and knows no
// file. Errors: unsupported_file, invalid_frame_range, frame_range_too_large.
func (s *server) preflight(ctx context.Context, in *preflightInput) (*preflightOutput, error) {
	name, err := intake.CleanName(in.Body.Filename)
	if err != nil {
		return nil, err
	}
	f, err := quote.Span(&in.Body.FrameStart, in.Body.FrameEnd, in.Body.FrameCount)
	if err != nil {
		return nil, err
	}
	out := &preflightOutput{}
	b := &out.Body
	b.OK, b.Eligible, b.Filename, b.Renderer, b.QuoteRequired = true, true, name, contract.RendererID, true
	b.FrameStart, b.FrameEnd, b.FrameCount = f.Start, f.End, f.Count()
	terms := contract.Published().Current()
	b.PriceCents, b.Currency, b.PricingVersion = int(terms.Price(int64(f.Count()))), contract.Currency, terms.Version
	return out, s.keepAlone(ctx, out.Body)
}

// create makes a job of the older flow, from a form or from an upload id.
// Upload, quote, reservation, job and the stored answer are one transaction: a
// kill leaves no upload without its job, and no reservation without either. The
// file of a refused form is discarded.
func (s *server) create(ctx context.Context, in *rawInput) (out *objectOutput, err error) {
	out = &objectOutput{}
	var target webhook.Target
	var most *int64
	var tags []string
	// hold reserves the price and makes the job. It runs inside the transaction
	// that locks the quote, which therefore cannot expire in between.
	hold := func(tx *db.Tx, q quote.Quote) (job.Object, error) {
		o, err := s.Jobs.Hold(ctx, tx, job.StartRequest{
			Principal: operation.Caller(ctx), UploadID: q.UploadID, QuoteID: q.QuoteID, Flow: job.FlowPublicV1,
			MaxPriceCents: most, Webhook: target, Tags: tags,
		}, q)
		return o.Through(s.Links, links.RendersPath), err
	}
	group, err := readUploadHeaders(in.request)
	if err != nil {
		return nil, err
	}
	if isJSON(in.request) {
		asked, err := uploadOf(in.request)
		if err != nil {
			return nil, err
		}
		most, tags = asked.MaxPriceCents, asked.Tags
		if target, err = s.target(ctx, asked.OrderSettings); err != nil {
			return nil, err
		}
		out.Body, err = effect(ctx, s, func(tx *db.Tx) (job.Object, error) {
			q, err := s.Intake.OpenQuote(ctx, tx, operation.Caller(ctx).WorkspaceID, asked.UploadID)
			if err != nil {
				return job.Object{}, err
			}
			if err := group.matches(sentFile{q.Filename, q.InputSizeBytes, q.InputSHA256, q.FrameStart, q.FrameEnd, q.FrameCount}); err != nil {
				return job.Object{}, err
			}
			return hold(tx, q)
		})
		return out, err
	}
	f, err := s.readForm(ctx, in, group.sha256(), []string{"frame_start", "frame_end", "frame_step", "frame_count", maxPriceField}, append(settingNames(), "renderer", tagsField))
	if err != nil {
		return nil, err
	}
	defer f.abort()
	if err := f.renderer(); err != nil {
		return nil, err
	}
	settings, err := readSettings(func(name string) *string { return f.texts[name] })
	if err != nil {
		return nil, err
	}
	if target, err = s.target(ctx, settings); err != nil {
		return nil, err
	}
	if tags, err = f.tags(); err != nil {
		return nil, err
	}
	if step := f.numbers["frame_step"]; step != nil && *step != 1 {
		return nil, fault.New(fault.InvalidFrameRange, "frame_step is %d, but this route renders every frame. Upload and quote the frames instead.", *step)
	}
	if cents := f.numbers[maxPriceField]; cents != nil {
		most = new(int64(*cents))
	}
	frames, err := group.frames(f.numbers["frame_start"], f.numbers["frame_end"], f.numbers["frame_count"])
	if err != nil {
		return nil, err
	}
	if err := group.matches(sentFile{f.received.Filename(), f.received.Size(), f.received.SHA256(), frames.Start, frames.End, frames.Count()}); err != nil {
		return nil, err
	}
	asked := quote.RequestedFrames{Start: &frames.Start, End: &frames.End, Step: &frames.Step}
	_, err = f.received.Quote(ctx, asked, func(tx *db.Tx, i intake.Inspection) error {
		o, err := hold(tx, i.Quote)
		if err != nil {
			return err
		}
		out.Body = o
		return s.keep(ctx, tx, o)
	})
	return out, err
}

// renderRequest is the JSON form of POST /renders (spec 4.4).
type renderRequest struct {
	UploadID      string
	MaxPriceCents *int64
	Tags          []string // nil where none came
	OrderSettings
}

// maxPriceField is the most that a job may cost, in cents.
const maxPriceField = "max_price_cents"

// maxPricePart describes it.
func maxPricePart() *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Minimum: new(0.0), Description: "The most that the render may cost. A higher price is refused with price_above_max, and nothing is reserved."}
}

// uploadOf reads the JSON form of POST /renders. It does huma's work by hand,
// because a route of huma takes one kind of body: unknown members are named,
// wrong types refused. Errors: body_too_large, body_truncated, invalid_request, those of
// readSettings and takeTags.
func uploadOf(r *http.Request) (asked renderRequest, err error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, contract.MaxJSONBodyBytes+1))
	if err != nil {
		return asked, operation.Broken(err)
	}
	if len(text) > contract.MaxJSONBodyBytes {
		return asked, fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB.")
	}
	var members map[string]any
	if err := operation.Unmarshal(text, &members); err != nil {
		return asked, fault.Field("body", "is not valid JSON: %v", err)
	}
	if cents, ok := members[maxPriceField]; ok {
		number, is := cents.(float64)
		if !is || number < 0 || number != math.Trunc(number) || number > contract.MaxFrames*1e6 {
			return asked, fault.Field("body."+maxPriceField, "expected a whole number of cents")
		}
		asked.MaxPriceCents = new(int64(number))
		delete(members, maxPriceField)
	}
	if asked.Tags, err = takeTags(members); err != nil {
		return asked, err
	}
	known := append(settingNames(), "upload_id")
	for name, value := range members {
		if !slices.Contains(known, name) {
			return asked, fault.Field("body."+name, "is not a member of this request")
		}
		if _, ok := value.(string); !ok {
			return asked, fault.Field("body."+name, "must be text")
		}
	}
	asked.OrderSettings, err = readSettings(func(name string) *string {
		if text, is := members[name].(string); is {
			return &text
		}
		return nil
	})
	if err != nil {
		return asked, err
	}
	asked.UploadID, _ = members["upload_id"].(string)
	if asked.UploadID == "" {
		return asked, fault.Field("body.upload_id", "is required")
	}
	return asked, nil
}
