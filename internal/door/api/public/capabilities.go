package public

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/job"
	"svc.example/internal/work/project"
)

// capabilitiesBody is spec 2.3, with the members of decisions 12.
type capabilitiesBody struct {
	OK           bool             `json:"ok" const:"true"`
	Contract     string           `json:"contract" const:"SVC-PUBLIC-API-V1"`
	Renderers    []rendererBody   `json:"renderers" minItems:"1" maxItems:"1"`
	Availability availabilityBody `json:"availability"`
	Pricing      priceModelBody   `json:"pricing"`
	Limits       limitsBody       `json:"limits"`
	Cancellation cancellationBody `json:"cancellation"`
	Workflow     []string         `json:"workflow" doc:"A caller's steps, in order."`
	Proof        proofFormsBody   `json:"proof"`
	Webhooks     webhooksBody     `json:"webhooks"`

	// text is the encoded body, which callers share: this is the route that
	// clients ask most often.
	text []byte // the encoded body, which callers share
}

// JSON implements operation.Encoded.
func (b *capabilitiesBody) JSON() []byte { return b.text }

// rendererBody is the one renderer (spec 1, item 2).
type rendererBody struct {
	ID           string   `json:"id" const:"blender"`
	Application  string   `json:"application" const:"Blender"`
	Version      string   `json:"version" const:"4.1.1"`
	Engines      []string `json:"engines" enum:"CYCLES" minItems:"1" maxItems:"1"`
	InputFormats []string `json:"input_formats" enum:".blend" minItems:"1" maxItems:"1"`
	OutputFormat string   `json:"output_format" const:".zip"`
	RenderDevice string   `json:"render_device" const:"GPU"`
}

// availabilityBody says whether a start would be accepted and what it would
// wait for.
type availabilityBody struct {
	Classification string         `json:"classification" const:"LIVE_PUBLIC_ALPHA"`
	AcceptingJobs  bool           `json:"accepting_jobs" doc:"False: start answers 503 not_accepting_jobs and spends nothing."`
	QueueState     job.QueueState `json:"queue_state" enum:"idle,busy,no_workers"`
}

// priceModelBody is the price inside capabilities. Amounts are cents.
type priceModelBody struct {
	Contract             string `json:"contract" const:"SVC-PUBLIC-API-V2-FIXED-QUOTE"`
	Currency             string `json:"currency" const:"USD"`
	Model                string `json:"model" const:"fixed_quote"`
	AmountMinor          int    `json:"amount_minor" doc:"Cents for one unit."`
	Unit                 string `json:"unit" const:"completed_frame"`
	QuoteRequired        bool   `json:"quote_required" const:"true"`
	QuoteLifetimeSeconds int    `json:"quote_lifetime_seconds"`
}

// cancellationBody says how long a job can be cancelled, and how.
type cancellationBody struct {
	Supported bool     `json:"supported" const:"true"`
	Until     string   `json:"until" const:"worker_claim"`
	States    []string `json:"states" doc:"States in which cancel succeeds."`
	Method    string   `json:"method" const:"POST"`
	Path      string   `json:"path" doc:"Below the public API's base address."`
}

// proofFormsBody says in which forms receipts and the log come.
type proofFormsBody struct {
	Receipts       string `json:"receipts" const:"dsse-ed25519"`
	Log            string `json:"log" const:"c2sp-tiles"`
	SigningKeysURL string `json:"signing_keys_url" format:"uri"`
	VerifyCommand  string `json:"verify_command" doc:"Checks a receipt without a network."`
}

// webhooksBody is the object webhooks of spec 2.3.
type webhooksBody struct {
	Supported                    bool     `json:"supported" const:"true"`
	Signed                       bool     `json:"signed" const:"true"`
	Transport                    string   `json:"transport" const:"HTTPS"`
	TerminalEvents               []string `json:"terminal_events" enum:"render.completed,render.failed,render.cancelled" minItems:"3" maxItems:"3" uniqueItems:"true"`
	DeliveryModel                string   `json:"delivery_model" const:"durable_queue"`
	RedirectsAllowed             bool     `json:"redirects_allowed" const:"false"`
	PrivateNetworkTargetsAllowed bool     `json:"private_network_targets_allowed" const:"false"`
}

// pricingBody is spec 2.2.
type pricingBody struct {
	OK            bool    `json:"ok" const:"true"`
	Contract      string  `json:"contract" const:"SVC-PUBLIC-API-V2-FIXED-QUOTE"`
	Currency      string  `json:"currency" const:"USD"`
	Model         string  `json:"model" const:"fixed_quote"`
	QuoteRequired bool    `json:"quote_required" const:"true"`
	Amount        *int    `json:"amount" required:"false" doc:"Cents for one completed frame."`
	AmountMinor   *int    `json:"amount_minor" required:"false" doc:"Equal to amount."`
	ExpiresAt     *string `json:"expires_at" required:"false" doc:"Null: the price has no end."`
}

// limitsBody is spec 2.4.
type limitsBody struct {
	OK                 bool     `json:"ok" const:"true"`
	Contract           string   `json:"contract" const:"SVC-PUBLIC-API-V1"`
	FrameCount         spanBody `json:"frame_count"`
	AcceptedExtensions []string `json:"accepted_extensions" enum:".blend" minItems:"1" maxItems:"1"`
	RequiredEngine     string   `json:"required_render_engine" const:"CYCLES"`
	RenderBackend      string   `json:"render_backend" const:"GPU"`
	MaximumUploadBytes int      `json:"maximum_upload_size_bytes" const:"104857600"`
	ProjectBytes       int64    `json:"maximum_project_size_bytes" doc:"Limit for all files of a project together; 8589934592 unless the operator changed it."`
	ProjectFiles       int      `json:"maximum_project_files" const:"10000"`
	PartBytes          int      `json:"maximum_part_size_bytes" const:"33554432"`
	UnstartedStorage   int64    `json:"unstarted_storage_bytes" doc:"Bytes of uploads that no job uses, for each workspace; 5368709120 unless the operator set another figure."`
	FrameSeconds       int      `json:"maximum_frame_seconds" minimum:"1" doc:"How long a worker may render a frame; 7200 unless the operator set another figure. A frame that takes longer fails with frame_time_exceeded, and a job that fails costs nothing."`
	PreviewsOfUpload   int      `json:"free_previews_per_upload" minimum:"0" doc:"3 unless the operator set another figure. 0: none."`
	PreviewsOfDay      int      `json:"free_previews_per_day" minimum:"0" doc:"Of a workspace within 24 hours; 20 unless the operator set another figure. 0: none."`
	BlenderVersions    []string `json:"blender_versions" required:"false" nullable:"false" maxItems:"16" doc:"Of the workers that are online, sorted: what renders. Empty while none is."`
	Availability       struct {
		Classification string `json:"classification" const:"LIVE_PUBLIC_ALPHA"`
	} `json:"availability"`
	RateLimit struct {
		PerMinute int `json:"requests_per_minute_per_client" minimum:"0" doc:"In the long run; 60 unless the operator set another figure. 0: no limit."`
		Burst     int `json:"burst" minimum:"0" doc:"At once; 20 unless the operator set another figure. 0: no limit."`
	} `json:"rate_limit"`
	WorkspaceRateLimit struct {
		PerMinute int `json:"requests_per_minute" minimum:"0" doc:"In the long run; five times a client's. 0: no limit."`
		Burst     int `json:"burst" minimum:"0" doc:"At once; five times a client's. 0: no limit."`
	} `json:"workspace_rate_limit" doc:"Limit for all clients of a workspace together."`
}

// spanBody is an inclusive range.
type spanBody struct {
	Minimum int `json:"minimum" const:"1"`
	Maximum int `json:"maximum" const:"10000"`
}

type (
	capabilitiesOutput struct{ Body *capabilitiesBody }
	limitsOutput       struct{ Body limitsBody }
	pricingOutput      struct{ Body pricingBody }
)

// capabilities registers what programs read before they call (spec 1, item 9).
func (s *Server) capabilities(api huma.API) {
	op := func(id, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{"Discovery"}, Summary: summary, Middlewares: huma.Middlewares{operation.KeepRequestID}}
	}
	now := &cache[*capabilitiesBody]{}
	huma.Register(api, op("getCapabilities", "/v1/capabilities", "What the service renders, and how"),
		func(ctx context.Context, _ *struct{}) (*capabilitiesOutput, error) {
			body, err := now.get(func() (*capabilitiesBody, error) { return s.readCapabilities(ctx) })
			return &capabilitiesOutput{body}, err
		})
	huma.Register(api, op("getPricing", "/v1/pricing", "What a frame costs"),
		func(context.Context, *struct{}) (*pricingOutput, error) {
			return &pricingOutput{pricing()}, nil
		})
	huma.Register(api, op("getLimits", "/v1/limits", "What a request may ask for"),
		func(ctx context.Context, _ *struct{}) (*limitsOutput, error) {
			body, err := now.get(func() (*capabilitiesBody, error) { return s.readCapabilities(ctx) })
			if err != nil {
				return nil, err
			}
			return &limitsOutput{body.Limits}, nil
		})
}

// readCapabilities reads the queue's state and encodes the answer.
func (s *Server) readCapabilities(ctx context.Context) (*capabilitiesBody, error) {
	found, err := s.Jobs.Discover(ctx)
	if err != nil {
		return nil, err
	}
	b := s.capabilitiesOf(found)
	var text bytes.Buffer
	if err := operation.Marshal(&text, b); err != nil {
		return nil, fmt.Errorf("write capabilities: %w", err)
	}
	b.text = text.Bytes()
	return &b, nil
}

// capabilitiesOf returns the answer for what was found of the queue. Everything else
// in it is constant while the process runs.
func (s *Server) capabilitiesOf(found job.Discovered) capabilitiesBody {
	terms := contract.Published().Current()
	return capabilitiesBody{
		OK: true, Contract: contract.APIContract,
		Renderers: []rendererBody{{
			ID: contract.RendererID, Application: contract.Application, Version: contract.BlenderVersion,
			Engines: []string{contract.Engine}, InputFormats: []string{contract.InputExtension},
			OutputFormat: contract.OutputExtension, RenderDevice: contract.RenderDevice,
		}},
		Availability: availabilityBody{Classification: contract.Availability, AcceptingJobs: s.Jobs.Accepts(), QueueState: found.Queue},
		Pricing: priceModelBody{
			Contract: contract.PricingContract, Currency: contract.Currency, Model: contract.PricingModel, AmountMinor: int(terms.CentsPerFrame),
			Unit: contract.PricingUnit, QuoteRequired: true, QuoteLifetimeSeconds: int(terms.QuoteLifetime.Seconds()),
		},
		Limits: s.limits(found.Blenders),
		Cancellation: cancellationBody{
			Supported: true, Until: contract.CancelUntil, States: job.CancellableStates(), Method: http.MethodPost, Path: "/renders/{job_id}/cancel",
		},
		Workflow: contract.Workflow(),
		Proof: proofFormsBody{
			Receipts: contract.ReceiptForm, Log: contract.LogForm, SigningKeysURL: s.Links.To(links.SigningKeysPath), VerifyCommand: contract.VerifyCommand,
		},
		Webhooks: webhooksBody{
			Supported: true, Signed: true, Transport: contract.WebhookTransport,
			TerminalEvents: contract.TerminalEvents(),
			DeliveryModel:  contract.WebhookDeliveryModel,
		},
	}
}

// pricing returns spec 2.2. Both amounts are pointers, because the published
// type allows null.
func pricing() pricingBody {
	cents := int(contract.Published().Current().CentsPerFrame)
	return pricingBody{
		OK: true, Contract: contract.PricingContract, Currency: contract.Currency, Model: contract.PricingModel, QuoteRequired: true,
		Amount: &cents, AmountMinor: &cents,
	}
}

// limits returns spec 2.4, with the limits that the operator has set and the versions of
// the workers' Blenders.
func (s *Server) limits(blenders []string) limitsBody {
	b := limitsBody{
		OK: true, Contract: contract.APIContract, FrameCount: spanBody{contract.MinFrames, contract.MaxFrames},
		AcceptedExtensions: []string{contract.InputExtension}, RequiredEngine: contract.Engine, RenderBackend: contract.RenderDevice,
		ProjectBytes: cmp.Or(s.ProjectSize, contract.ProjectSize), ProjectFiles: project.MaxFiles, PartBytes: contract.MaxPartBytes,
		MaximumUploadBytes: contract.MaxUploadBytes, UnstartedStorage: cmp.Or(s.Unstarted, contract.UnstartedStorage),
		FrameSeconds:     int(cmp.Or(s.FrameTime, contract.FrameTime).Seconds()),
		PreviewsOfUpload: s.Previews.Upload, PreviewsOfDay: s.Previews.Day, BlenderVersions: blenders,
	}
	b.Availability.Classification = contract.Availability
	b.RateLimit.PerMinute, b.RateLimit.Burst = s.Rate.PerMinute, s.Rate.Burst
	workspace := s.Rate.Times(contract.WorkspaceRate)
	b.WorkspaceRateLimit.PerMinute, b.WorkspaceRateLimit.Burst = workspace.PerMinute, workspace.Burst
	return b
}
