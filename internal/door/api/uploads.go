package api

import (
	"context"
	"maps"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/settings"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
)

// quoteBody is a locked quote. Its members are at the top level and again
// inside quote, where a caller may look for either (spec 2.11).
type quoteBody struct {
	OK bool `json:"ok" enum:"true"`
	quote.Quote
	Inner        quote.Quote `json:"quote"`
	Scene        quote.Scene `json:"scene"`
	TermsURL     string      `json:"terms_url" doc:"What legal_acceptance accepts when the quote is started."`
	FrameSeconds int         `json:"maximum_frame_seconds" doc:"How long a worker may render a frame; one that takes longer fails with frame_time_exceeded. As /limits says."`
}

type quoteOutput struct{ Body quoteBody }

// quoted returns an inspection as the answer of inspect.
func (s *server) quoted(i intake.Inspection) quoteBody {
	return quoteBody{OK: true, Quote: i.Quote, Inner: i.Quote, Scene: i.Scene, TermsURL: s.Links.Terms(), FrameSeconds: int(i.FrameTime.Seconds())}
}

// requoteInput selects other frames of an upload, or other settings.
type requoteInput struct {
	UploadID string `path:"upload_id" doc:"From inspect."`
	Body     struct {
		// The numbers are pointers, so that 0 is not taken for a member that was not sent.
		FrameStart *int         `json:"frame_start,omitempty" doc:"First frame, 1 or above; required without frames, unless a setting or reuse is chosen."`
		FrameEnd   *int         `json:"frame_end,omitempty" doc:"Last frame; required with frame_start."`
		FrameStep  *int         `json:"frame_step,omitempty" doc:"Every how many frames one is rendered; 1 or above, and 1 by default."`
		Frames     *frameChoice `json:"frames,omitempty" doc:"Frames to render: numbers, ranges and ranges with a step, separated by commas, such as 3,7-9 or 10-100x5; or a list of numbers. Replaces frame_start, frame_end and frame_step."`
		ReuseChoice
		settings.Settings
	}
}

// ReuseChoice asks for frames of earlier jobs.
type ReuseChoice struct {
	Reuse bool `json:"reuse,omitempty" doc:"True takes over frames that an earlier job of the workspace rendered and whose pictures are the same. They cost nothing. The answer lists them in reused_frames."`
}

// frames returns the frames that are to be priced. Errors: invalid_request where they are
// incomplete, and those of quote.Chosen.
func (in *requoteInput) frames() (quote.RequestedFrames, error) {
	b := in.Body
	if b.Frames == nil && (b.Settings.IsZero() && !b.Reuse || b.FrameStart != nil || b.FrameEnd != nil) {
		switch {
		case b.FrameStart == nil:
			return quote.RequestedFrames{}, fault.Field("body.frame_start", "is required without frames")
		case b.FrameEnd == nil:
			return quote.RequestedFrames{}, fault.Field("body.frame_end", "is required without frames")
		case b.FrameStep == nil:
			every := 1 // of a new range, not the scene's
			b.FrameStep = &every
		}
	}
	return b.Frames.choose(b.FrameStart, b.FrameEnd, b.FrameStep)
}

// startInput is the start request. A price_cents in it is refused as an unknown
// member, which has a code of its own (see specialErrors).
type startInput struct {
	UploadID string `path:"upload_id" doc:"From inspect."`
	Body     struct {
		QuoteID         string   `json:"quote_id" doc:"From inspect or quote."`
		LegalAcceptance string   `json:"legal_acceptance" enum:"SVC_LEGAL_V1" doc:"Accepts the terms."`
		MaxPriceCents   *int64   `json:"max_price_cents,omitempty" minimum:"0" doc:"The most that the quote may cost. A dearer one is refused with price_above_max, and nothing is started."`
		Tags            []string `json:"tags,omitempty" doc:"What the workspace calls the job: at most 10 tags, each of at most 32 characters without commas; they are kept in lower case. Without them, a job that renders frames again has the tags of the earlier one."`
		OrderSettings
	}
}

// objectOutput is the RenderObject of spec 2.6.
type objectOutput struct{ Body job.Object }

// uploads registers inspect, quote and start. Agent keys and browser sessions
// may use them (decisions 6).
func (s *server) uploads(api huma.API) {
	security := []map[string][]string{{operation.AgentScheme: {}}, {operation.SessionScheme: {}}}
	inspect := huma.Operation{
		OperationID: "inspectUpload", Method: http.MethodPost, Path: "/node/v1/uploads/inspect", Tags: []string{"Job API"},
		Summary:     "Upload a .blend and get a locked quote; spends nothing",
		Description: "Send the part `file`. The part `frames`, or `frame_start`, `frame_end` and `frame_step`, chooses frames; without them the scene's own range is priced. `scene`, `camera`, `view_layer`, `resolution_percentage`, `resolution_x`, `resolution_y`, `samples` and `output_name` choose what else differs from the file. Instead of a .blend, `file` may be a .zip with the scene and its files; `main` names the .blend to render where several may be meant. A `frame_count` must be the number of frames that are priced.",
		Security:    security, Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AgentKeyOrSession(), s.limitStall},
	}
	huma.Register(api, inspect, s.inspect)
	// The body is described after registering: else huma would read it.
	api.OpenAPI().Paths[inspect.Path].Post.RequestBody = &huma.RequestBody{
		Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": archiveForm()},
	}
	huma.Register(api, huma.Operation{
		OperationID: "quoteUpload", Method: http.MethodPost, Path: "/node/v1/uploads/{upload_id}/quote", Tags: []string{"Job API"},
		Summary: "Get a locked quote for other frames or settings of an upload; spends nothing", MaxBodyBytes: contract.MaxJSONBodyBytes,
		Security: security, Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AgentKeyOrSession(), s.idempotent(byBody)},
	}, func(ctx context.Context, in *requoteInput) (*quoteOutput, error) {
		asked, err := in.frames()
		if err != nil {
			return nil, err
		}
		if asked.Choice, err = s.Intake.Choose(ctx, operation.Caller(ctx).WorkspaceID, in.UploadID, in.Body.Settings); err != nil {
			return nil, err
		}
		asked.AskReuse = in.Body.Reuse
		if asked, err = s.Intake.Compare(ctx, operation.Caller(ctx).WorkspaceID, in.UploadID, asked); err != nil {
			return nil, err
		}
		b, err := effect(ctx, s, func(tx *db.Tx) (quoteBody, error) {
			i, err := s.Intake.Requote(ctx, tx, operation.Caller(ctx).WorkspaceID, in.UploadID, asked)
			return s.quoted(i), err
		})
		return &quoteOutput{b}, err
	})
	huma.Register(api, huma.Operation{
		OperationID: "startUpload", Method: http.MethodPost, Path: "/node/v1/uploads/{upload_id}/start", Tags: []string{"Job API"},
		Summary:      "Start rendering at the locked price; reserves the funds",
		Description:  "The only step that spends. Starting the same quote again returns the same job.",
		MaxBodyBytes: contract.MaxJSONBodyBytes,
		Security:     security, Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AgentKeyOrSession(), s.idempotent(byBody)},
	}, func(ctx context.Context, in *startInput) (*objectOutput, error) {
		target, err := s.target(ctx, in.Body.OrderSettings)
		if err != nil {
			return nil, err
		}
		var tags []string
		if in.Body.Tags != nil {
			if tags, err = job.ReadTags(in.Body.Tags); err != nil {
				return nil, err
			}
		}
		o, err := effect(ctx, s, func(tx *db.Tx) (job.Object, error) {
			o, err := s.Jobs.Start(ctx, tx, job.StartRequest{
				Principal: operation.Caller(ctx), UploadID: in.UploadID, QuoteID: in.Body.QuoteID, Flow: job.FlowJobAPI,
				MaxPriceCents: in.Body.MaxPriceCents, Webhook: target, Tags: tags,
			})
			return o.Through(s.Links, links.NodeJobsPath), err
		})
		return &objectOutput{o}, err
	})
}

// inspect receives a file and locks its price. It spends nothing. Errors: those
// of readForm and of intake.Received.Quote.
func (s *server) inspect(ctx context.Context, in *rawInput) (*quoteOutput, error) {
	return s.receive(ctx, in, "")
}

// receive is inspect with the hash that the file must have; "" accepts any.
// Errors of its own: content_hash_mismatch.
func (s *server) receive(ctx context.Context, in *rawInput, sha256 string) (*quoteOutput, error) {
	f, err := s.readForm(ctx, in, sha256, append(settingFields(true), "frame_start", "frame_end", "frame_step", "frame_count"), append(settingFields(false), mainField, framesField, reuseField, "renderer"))
	if err != nil {
		return nil, err
	}
	defer f.abort()
	if err := f.renderer(); err != nil {
		return nil, err
	}
	if sent := f.sha256(); sha256 != "" && sent != sha256 {
		return nil, fault.New(fault.ContentHashMismatch, "%s is %s, but the file's SHA-256 is %s.", operation.IdempotencyKey, sha256, sent)
	}
	if chosen, err := f.settings(); err == nil && sha256 != "" && f.late != "" && (!chosen.IsZero() || f.texts[reuseField] != nil) {
		return nil, fault.Field("body."+f.late, "must come before the file, because the request has an %s and settings or reuse", operation.IdempotencyKey)
	}
	asked, err := quote.Chosen(f.texts[framesField], quote.RequestedFrames{Start: f.numbers["frame_start"], End: f.numbers["frame_end"], Step: f.numbers["frame_step"], Count: f.numbers["frame_count"]})
	if err != nil {
		return nil, err
	}
	if asked.AskReuse, err = f.reuse(); err != nil {
		return nil, err
	}
	i, err := f.received.Quote(ctx, asked, func(tx *db.Tx, i intake.Inspection) error { return s.keep(ctx, tx, s.quoted(i)) })
	return &quoteOutput{s.quoted(i)}, err
}

// archiveForm describes a form whose file may also be an archive.
func archiveForm() *huma.MediaType {
	parts := frameParts("frame_start", "frame_end", "frame_step", "frame_count")
	parts[mainField] = &huma.Schema{Type: huma.TypeString, Description: "Path of the .blend to render in an archive that holds several which no other links."}
	parts[framesField] = &huma.Schema{Type: huma.TypeString, Description: "Frames to render, such as 3,7-9 or 10-100x5. Replaces frame_start, frame_end and frame_step."}
	parts["renderer"] = rendererPart()
	parts[reuseField] = &huma.Schema{Type: huma.TypeBoolean, Description: "true takes over frames that an earlier job of the workspace rendered and whose pictures are the same, at no cost."}
	maps.Copy(parts, settingSchemas())
	form := fileForm(parts)
	form.Schema.Properties["file"].Description = "The .blend file, or a .zip with it and its files, at most 104857600 bytes."
	return form
}

// fileForm describes a form with the part "file" and more parts.
func fileForm(more map[string]*huma.Schema) *huma.MediaType {
	parts := map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary", Description: "The .blend file, at most 104857600 bytes."}}
	maps.Copy(parts, more)
	return &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeObject, Required: []string{"file"}, Properties: parts}}
}

// rendererPart describes the part that names the renderer.
func rendererPart() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{contract.RendererID}}
}

// frameParts describes the optional parts that select frames.
func frameParts(names ...string) map[string]*huma.Schema {
	parts := map[string]*huma.Schema{}
	for _, name := range names {
		parts[name] = &huma.Schema{Type: huma.TypeInteger}
	}
	return parts
}
