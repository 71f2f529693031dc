package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
)

// jobInput names a job of the caller's workspace.
type jobInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
}

// priorityInput orders a job.
type priorityInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
	Body  struct {
		Priority int `json:"priority" minimum:"1" maximum:"100" doc:"Jobs of the workspace with a higher priority come first. A new job has 50."`
	}
}

// tagsInput says which tags a job has.
type tagsInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
	Body  struct {
		Tags []string `json:"tags" nullable:"false" doc:"At most 10, each of at most 32 characters without commas; they are kept in lower case. An empty list removes all."`
	}
}

// rerenderInput selects frames of a job.
type rerenderInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
	Body  struct {
		Frames frameChoice `json:"frames" doc:"Frames of the job, such as 3,7-9, or a list of numbers. A finding's frames can be sent as they are."`
	}
}

// downloadOutput is the RenderObject with the artifact's signed link.
type downloadOutput struct {
	Body struct {
		job.Object
		Download artifact.Download `json:"download"`
	}
}

// receiptOutput is the RenderObject with the receipt, readable and as signed.
type receiptOutput struct {
	Body struct {
		job.Object
		Receipt  receipt.Receipt `json:"receipt"`
		Envelope receiptEnvelope `json:"envelope" doc:"The receipt as signed: a DSSE envelope around an in-toto statement."`
		Origins  []receiptOrigin `json:"origins,omitempty" doc:"The earlier jobs from which frames were taken over: what frames[].reused names. Their receipts prove those frames. Absent without such frames."`
	}
}

// receiptOrigin is where a receipt is that another one takes frames over from.
type receiptOrigin struct {
	ReceiptID  string `json:"receipt_id"`
	JobID      string `json:"job_id"`
	ReceiptURL string `json:"receipt_url"`
}

// receiptEnvelope is a DSSE envelope (decisions 8).
type receiptEnvelope struct {
	PayloadType string             `json:"payloadType"`
	Payload     string             `json:"payload" doc:"Base64."`
	Signatures  []receiptSignature `json:"signatures"`
}

// receiptSignature is one signature of an envelope.
type receiptSignature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig" doc:"Base64."`
}

// proofOutput is the Proof of spec 2.9 with the members of decisions 8.
type proofOutput struct {
	Body struct {
		OK             bool   `json:"ok" enum:"true"`
		JobID          string `json:"job_id"`
		Proof          string `json:"proof" enum:"receipt_backed"`
		ReceiptURL     string `json:"receipt_url"`
		ReceiptID      string `json:"receipt_id"`
		ArtifactSHA256 string `json:"artifact_sha256"`
		receipt.Inclusion
		ProofPage    string `json:"proof_page_url" doc:"For anybody, while the workspace shows its proofs."`
		Renderer     string `json:"renderer" doc:"blender; synthetic where a frame was painted for a test and not rendered."`
		Version      string `json:"version" doc:"Of the Blender that really rendered."`
		RenderDevice string `json:"render_device" enum:"GPU,CPU"`
		DeviceName   string `json:"device_name"`
	}
}

// jobRoutes are the routes of a job for one kind of key. Agent keys and account
// keys have the same routes under different paths.
type jobRoutes struct {
	// jobs begins the paths.
	jobs string
	// thing is the word for a job in operation ids: Job or Render.
	thing  string
	tag    string
	scheme string
	who    operation.Middleware
	// reader also admits sessions, for what a job object links to: a browser that starts a
	// job follows its links. nil admits the callers of who.
	reader operation.Middleware
}

// linkedPaths are the paths that a job object links to, after the job's own
// path.
var linkedPaths = []string{"/receipt", "/proof", links.ContactSheet, links.Loop}

// jobs registers the routes of a job for both kinds of keys.
func (s *server) jobs(api huma.API) {
	for _, routes := range []jobRoutes{
		{links.NodeJobsPath, "Job", "Job API", operation.AgentScheme, s.Guard.AgentKey(), s.Guard.AgentKeyOrSession()},
		{links.RendersPath, "Render", "Renders", operation.AccountScheme, s.Guard.AccountKey(), nil},
	} {
		s.registerJob(api, routes)
		s.frames(api, routes)
		s.overviews(api, routes)
		s.movie(api, routes)
		s.shares(api, routes)
		s.comments(api, routes)
	}
}

// op describes a route of a job. verb is the operation id with the word Job
// where thing belongs. Every route gets its credential check here, so none can
// miss it.
func (d jobRoutes) op(verb, method, path, summary string) huma.Operation {
	op := huma.Operation{
		OperationID: strings.Replace(verb, "Job", d.thing, 1), Method: method, Path: d.jobs + "/{job_id}" + path, Tags: []string{d.tag}, Summary: summary,
		Security: []map[string][]string{{d.scheme: {}}}, Middlewares: huma.Middlewares{operation.KeepRequestID, d.who},
	}
	if d.reader != nil && slices.Contains(linkedPaths, path) {
		op.Security = append(op.Security, map[string][]string{operation.SessionScheme: {}})
		op.Middlewares = huma.Middlewares{operation.KeepRequestID, d.reader}
	}
	return op
}

// registerJob registers the routes that read, follow and cancel a job.
func (s *server) registerJob(api huma.API, d jobRoutes) {
	op := d.op
	huma.Register(api, op("getJob", http.MethodGet, "", "Read a job"),
		func(ctx context.Context, in *jobInput) (*objectOutput, error) {
			o, err := s.Jobs.Get(ctx, operation.Caller(ctx).WorkspaceID, in.JobID)
			return &objectOutput{o.Through(s.Links, d.jobs)}, err
		})
	cancel := op("cancelJob", http.MethodPost, "/cancel", "Cancel a job that no worker has claimed")
	cancel.Middlewares = append(cancel.Middlewares, s.idempotent(byBody))
	huma.Register(api, cancel,
		func(ctx context.Context, in *jobInput) (*objectOutput, error) {
			o, err := effect(ctx, s, func(tx *db.Tx) (job.Object, error) {
				o, err := s.Jobs.Cancel(ctx, tx, operation.Caller(ctx).WorkspaceID, in.JobID)
				return o.Through(s.Links, d.jobs), err
			})
			return &objectOutput{o}, err
		})
	s.queue(api, d)
	rerender := op("rerenderJob", http.MethodPost, "/rerender", "Get a locked quote for frames of an ended job once more; spends nothing")
	rerender.Description = "The quote is over the upload that the job rendered, and names the job in `rerender_of`. Nothing changes in that job. The new job begins when the quote is started."
	rerender.MaxBodyBytes = contract.MaxJSONBodyBytes
	rerender.Middlewares = append(rerender.Middlewares, s.idempotent(byBody))
	huma.Register(api, rerender,
		func(ctx context.Context, in *rerenderInput) (*quoteOutput, error) {
			frames, err := quote.ReadList(string(in.Body.Frames))
			if err != nil {
				return nil, err
			}
			lock, err := s.Intake.Rerender(ctx, operation.Caller(ctx).WorkspaceID, in.JobID, frames)
			if err != nil {
				return nil, err
			}
			b, err := effect(ctx, s, func(tx *db.Tx) (quoteBody, error) {
				i, err := lock(ctx, tx)
				return s.quoted(i), err
			})
			return &quoteOutput{b}, err
		})
	huma.Register(api, op("getJobDownload", http.MethodGet, "/download", "Where a completed job's ZIP is"),
		func(ctx context.Context, in *jobInput) (*downloadOutput, error) {
			o, download, err := s.Artifacts.Download(ctx, operation.Caller(ctx).WorkspaceID, in.JobID)
			out := &downloadOutput{}
			out.Body.Object, out.Body.Download = o.Through(s.Links, d.jobs), download
			return out, err
		})
	huma.Register(api, op("getJobReceipt", http.MethodGet, "/receipt", "A completed job's signed receipt"),
		func(ctx context.Context, in *jobInput) (*receiptOutput, error) { return s.receipt(ctx, in, d.jobs) })
	huma.Register(api, op("getJobProof", http.MethodGet, "/proof", "What proves a completed job"),
		func(ctx context.Context, in *jobInput) (*proofOutput, error) { return s.proof(ctx, in, d.jobs) })
	s.events(api, d.jobs, op("watchJob", http.MethodGet, "/events", "Follow a job as server-sent events"))
}

// queue registers the routes that pause a job, resume it, order it among those of its
// workspace and tag it. Each says what holds afterwards, so repeating a request is harmless.
func (s *server) queue(api huma.API, d jobRoutes) {
	change := func(ctx context.Context, jobID string, do func(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Object, error)) (*objectOutput, error) {
		var o job.Object
		err := s.DB.Write(ctx, func(tx *db.Tx) (err error) {
			o, err = do(ctx, tx, operation.Caller(ctx).WorkspaceID, jobID)
			return err
		})
		return &objectOutput{o.Through(s.Links, d.jobs)}, err
	}
	tags := d.op("setJobTags", http.MethodPut, "/tags", "Give a job tags in place of those that it has")
	tags.MaxBodyBytes = contract.MaxJSONBodyBytes
	tags.Description = "A job may be tagged in every state. What it renders, and its receipt, do not change."
	huma.Register(api, tags, func(ctx context.Context, in *tagsInput) (*objectOutput, error) {
		return change(ctx, in.JobID, func(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Object, error) {
			return s.Jobs.SetTags(ctx, tx, workspaceID, jobID, in.Body.Tags)
		})
	})
	pause := d.op("pauseJob", http.MethodPost, "/pause", "Pause a job: no new frame is rendered")
	pause.Description = "Frames that are being rendered are finished. The state of the job stays as it is; `paused_by` and `waiting_reason` say that it is paused. Pausing a paused job changes nothing."
	huma.Register(api, pause, func(ctx context.Context, in *jobInput) (*objectOutput, error) {
		return change(ctx, in.JobID, func(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Object, error) {
			return s.Jobs.Pause(ctx, tx, workspaceID, jobID, dispatch.ByWorkspace)
		})
	})
	resume := d.op("resumeJob", http.MethodPost, "/resume", "Resume a paused job")
	resume.Description = "Resuming a job that is not paused changes nothing. What an operator has paused, only an operator resumes."
	huma.Register(api, resume, func(ctx context.Context, in *jobInput) (*objectOutput, error) {
		return change(ctx, in.JobID, func(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Object, error) {
			return s.Jobs.Resume(ctx, tx, workspaceID, jobID, dispatch.ByWorkspace)
		})
	})
	priority := d.op("setJobPriority", http.MethodPut, "/priority", "Order a job among those of its workspace")
	priority.MaxBodyBytes = contract.MaxJSONBodyBytes
	priority.Description = "It takes nothing from other workspaces: each has its equal share of the workers' time."
	huma.Register(api, priority, func(ctx context.Context, in *priorityInput) (*objectOutput, error) {
		return change(ctx, in.JobID, func(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Object, error) {
			return s.Jobs.SetPriority(ctx, tx, workspaceID, jobID, in.Body.Priority)
		})
	})
}

// proof returns what proves a completed job. Its links lead below jobs. Errors:
// render_not_found, render_not_completed.
func (s *server) proof(ctx context.Context, in *jobInput, jobs string) (*proofOutput, error) {
	o, r, inclusion, err := s.Jobs.Proof(ctx, operation.Caller(ctx).WorkspaceID, in.JobID)
	if err != nil {
		return nil, err
	}
	out := &proofOutput{}
	out.Body.OK, out.Body.JobID, out.Body.Proof = true, o.JobID, contract.ProofKind
	out.Body.ReceiptURL, out.Body.ReceiptID, out.Body.ArtifactSHA256 = s.Links.JobReceipt(jobs, o.JobID), r.ReceiptID, r.Artifact.SHA256
	out.Body.Inclusion, out.Body.ProofPage = inclusion, s.Links.ProofPage(r.ReceiptID)
	out.Body.Renderer, out.Body.Version, out.Body.RenderDevice, out.Body.DeviceName = r.Renderer.ID, r.Renderer.Version, r.RenderDevice, r.DeviceName
	return out, nil
}

// receipt returns a completed job's receipt; the job's links lead below jobs. The envelope is
// passed on as it was signed; decoding and encoding it again keeps its payload, which is base64.
// Errors: render_not_found, render_not_completed.
func (s *server) receipt(ctx context.Context, in *jobInput, jobs string) (*receiptOutput, error) {
	o, r, err := s.Jobs.Receipt(ctx, operation.Caller(ctx).WorkspaceID, in.JobID)
	if err != nil {
		return nil, err
	}
	out := &receiptOutput{}
	out.Body.Object, out.Body.Receipt = o.Through(s.Links, jobs), r.Receipt
	origins, err := s.Jobs.Origins(ctx, r.Receipt)
	if err != nil {
		return nil, err
	}
	for _, origin := range origins {
		out.Body.Origins = append(out.Body.Origins, receiptOrigin{origin.ReceiptID, origin.JobID, s.Links.JobReceipt(jobs, origin.JobID)})
	}
	return out, operation.Unmarshal(r.Envelope, &out.Body.Envelope)
}
