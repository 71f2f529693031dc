package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/share"
)

// shareInput says what a job's link should allow (decisions 32).
type shareInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
	Body  struct {
		Download  bool       `json:"download,omitempty" doc:"Let visitors download the frames at full size, and the ZIP."`
		Proof     *bool      `json:"proof,omitempty" doc:"Show the proof of the job, which includes its price. True unless you say otherwise, while the workspace publishes its proof pages."`
		Comments  bool       `json:"comments,omitempty" doc:"Let visitors comment on frames. Everyone with the link sees the comments."`
		ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"When the link ends, at most 365 days from now. 30 days from now unless you say otherwise."`
	}
}

// shareBody is a job's link.
type shareBody struct {
	OK bool `json:"ok" const:"true"`
	share.Share
}

type shareOutput struct{ Body shareBody }

type sharesOutput struct {
	Body struct {
		OK     bool          `json:"ok" const:"true"`
		Shares []share.Share `json:"shares" doc:"The links that work, the newest first."`
	}
}

type shareEndedOutput struct {
	Body struct {
		OK      bool   `json:"ok" const:"true"`
		JobID   string `json:"job_id"`
		Deleted bool   `json:"deleted" const:"true"`
	}
}

// shares registers the routes of a job's public link.
func (s *server) shares(api huma.API, d jobRoutes) {
	create := d.op("shareJob", http.MethodPost, "/share", "Make a public page of a job's frames")
	create.Description = "The link opens a public page with the frames of this job and nothing else of the workspace. Only this answer contains the link. A job has one link; making another one ends the previous link."
	create.MaxBodyBytes = contract.MaxJSONBodyBytes
	create.Middlewares = append(create.Middlewares, s.idempotent(byBody))
	huma.Register(api, create, func(ctx context.Context, in *shareInput) (*shareOutput, error) {
		b, err := effect(ctx, s, func(tx *db.Tx) (shareBody, error) {
			w := share.Wish{Download: in.Body.Download, Proof: in.Body.Proof == nil || *in.Body.Proof, Comments: in.Body.Comments}
			if in.Body.ExpiresAt != nil {
				if w.Life = in.Body.ExpiresAt.Sub(tx.Time()); w.Life <= 0 {
					return shareBody{}, fault.Field("body.expires_at", "must be in the future")
				}
			}
			made, err := s.Shares.Make(ctx, tx, operation.Caller(ctx), in.JobID, w)
			return shareBody{true, made}, err
		})
		return &shareOutput{b}, err
	})
	huma.Register(api, d.op("getJobShare", http.MethodGet, "/share", "A job's public page, and how often it was opened"),
		func(ctx context.Context, in *jobInput) (*shareOutput, error) {
			out := &shareOutput{}
			return out, s.DB.Read(ctx, func(tx *db.Tx) (err error) {
				out.Body.OK = true
				out.Body.Share, err = s.Shares.Of(ctx, tx, operation.Caller(ctx).WorkspaceID, in.JobID)
				return err
			})
		})
	huma.Register(api, d.op("unshareJob", http.MethodDelete, "/share", "End a job's public page at once"),
		func(ctx context.Context, in *jobInput) (*shareEndedOutput, error) {
			out := &shareEndedOutput{}
			out.Body.OK, out.Body.JobID, out.Body.Deleted = true, in.JobID, true
			return out, s.DB.Write(ctx, func(tx *db.Tx) error { return s.Shares.End(ctx, tx, operation.Caller(ctx), in.JobID) })
		})
}

// allowInput says whether a job's link takes comments.
type allowInput struct {
	JobID string `path:"job_id" doc:"Begins with JOB-."`
	Body  struct {
		Allowed bool `json:"allowed" doc:"False closes the comments and hides those that were made. True shows them again."`
	}
}

type commentsOutput struct {
	Body struct {
		OK       bool            `json:"ok" const:"true"`
		Comments []share.Comment `json:"comments" nullable:"false" doc:"The newest first, of all links that the job has had."`
	}
}

// comments registers the routes of what visitors of a job's public page write.
func (s *server) comments(api huma.API, d jobRoutes) {
	allow := d.op("allowJobComments", http.MethodPut, "/share/comments", "Let visitors of a job's public page comment on frames, or stop them")
	allow.MaxBodyBytes = contract.MaxJSONBodyBytes
	huma.Register(api, allow, func(ctx context.Context, in *allowInput) (*shareOutput, error) {
		out := &shareOutput{}
		return out, s.DB.Write(ctx, func(tx *db.Tx) (err error) {
			out.Body.OK = true
			out.Body.Share, err = s.Shares.Allow(ctx, tx, operation.Caller(ctx), in.JobID, in.Body.Allowed)
			return err
		})
	})
	list := d.op("listJobComments", http.MethodGet, "/comments", "What visitors of a job's public page wrote about its frames")
	list.Description = "Texts and names are what strangers typed: show them as plain text. There are at most 1,000, so there are no pages. A comment is kept for a year. Mark comments as done and delete them in the console."
	huma.Register(api, list, func(ctx context.Context, in *jobInput) (*commentsOutput, error) {
		out := &commentsOutput{}
		return out, s.DB.Read(ctx, func(tx *db.Tx) (err error) {
			out.Body.OK = true
			out.Body.Comments, err = share.OfJob(ctx, tx, operation.Caller(ctx).WorkspaceID, in.JobID, "", share.MostComments)
			return err
		})
	})
}

// listShares registers the lists of a workspace's links, one for each kind of key.
func (s *server) listShares(api huma.API) {
	list := func(id, path, tag, scheme string, who operation.Middleware) {
		huma.Register(api, huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{tag}, Summary: "The workspace's shared jobs",
			Security: []map[string][]string{{scheme: {}}}, Middlewares: huma.Middlewares{operation.KeepRequestID, who},
		}, func(ctx context.Context, _ *struct{}) (*sharesOutput, error) {
			out := &sharesOutput{}
			return out, s.DB.Read(ctx, func(tx *db.Tx) (err error) {
				out.Body.OK = true
				out.Body.Shares, err = s.Shares.List(ctx, tx, operation.Caller(ctx).WorkspaceID)
				return err
			})
		})
	}
	list("listRenderShares", "/v1/workspace/shares", "Workspace", operation.AccountScheme, s.Guard.AccountKey())
	list("listJobShares", "/node/v1/shares", "Job API", operation.AgentScheme, s.Guard.AgentKey())
}
