package admin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/operator"
)

// Acting is what every route that acts takes.
type Acting struct {
	DryRun bool `query:"dry_run" doc:"Check the act and say what it would do, without doing it."`
}

func (a *Acting) dry() bool { return a.DryRun }

// acting is an input with Acting.
type acting[I any] interface {
	*I
	dry() bool
}

// acted is an answer with operator.Acted.
type acted[O any] interface {
	*O
	Set(act operator.Act, done bool)
}

// bodyCodes are what a route with a body refuses it with.
func bodyCodes(codes ...fault.Code) []fault.Code {
	return append(codes, fault.BodyTruncated, fault.EncodingNotSupported, fault.UploadTooSlow, fault.BodyTooLarge, fault.UnsupportedMedia)
}

// acts is a route that performs an act and records it, in one transaction with what it answers.
// propose makes the act of what it reads, and show reads the answer.
func acts[I, O any, P acting[I], Q acted[O]](
	s *Server, r route, answer O, propose func(ctx context.Context, tx *db.Tx, in *I) (operator.Act, error), show func(ctx context.Context, tx *db.Tx, in *I) (O, error),
) route {
	return plans[I, O, P, Q](s, r, answer, func(ctx context.Context, tx *db.Tx, in *I) (plan[O], error) {
		act, err := propose(ctx, tx, in)
		return plan[O]{act: act, show: func(ctx context.Context, tx *db.Tx) (O, error) { return show(ctx, tx, in) }}, err
	})
}

// plan is an act of a request.
type plan[O any] struct {
	act operator.Act
	// show reads the answer: after the act, or for a dry run before it.
	show func(ctx context.Context, tx *db.Tx) (O, error)
	// after, unless nil, comes after the commit.
	after func(ctx context.Context) error
}

// errDry undoes the transaction of a dry run.
var errDry = errors.New("a dry run")

// perform performs the act and reads its answer. For a dry run it reads the answer before, and
// ends with errDry.
func (p plan[O]) perform(ctx context.Context, tx *db.Tx, by operator.Actor, dry bool) (out O, err error) {
	if dry {
		if out, err = p.show(ctx, tx); err == nil {
			err = cmp.Or(p.act.Perform(ctx, tx, by), errDry)
		}
		return out, err
	}
	if err = p.act.Perform(ctx, tx, by); err == nil {
		out, err = p.show(ctx, tx)
	}
	return out, err
}

// plans is acts with a plan of each request. A dry run performs the act and undoes it, so that
// it is refused where the act would be.
func plans[I, O any, P acting[I], Q acted[O]](s *Server, r route, answer O, propose func(ctx context.Context, tx *db.Tx, in *I) (plan[O], error)) route {
	r.scope, r.codes = identity.OperatorWrites, append(r.codes, fault.InsufficientScope)
	Q(&answer).Set(operator.Act{What: r.what()}, true)
	r.answer = answer
	r.register = func(api huma.API, op huma.Operation) {
		huma.Register(api, op, func(ctx context.Context, in *I) (*operation.Private[O], error) {
			by, err := operator.Key(caller(ctx))
			if err != nil {
				return nil, err
			}
			dry, out, p := P(in).dry(), *new(O), plan[O]{}
			err = s.DB.Write(ctx, func(tx *db.Tx) (err error) {
				if p, err = propose(ctx, tx, in); err == nil {
					out, err = p.perform(ctx, tx, by, dry)
				}
				return err
			})
			if dry && errors.Is(err, errDry) {
				err = nil
			}
			if err == nil && !dry && p.after != nil {
				err = p.after(ctx)
			}
			Q(&out).Set(p.act, !dry)
			return operation.NoStore(out, err)
		})
	}
	return r
}

// what is an example of what an act of the route does.
func (r route) what() string { return strings.ToLower(r.summary[:1]) + r.summary[1:] }

// Inputs of acts.
type (
	// JobAct names a job. It is exported, because huma reads only such embedded types.
	JobAct struct {
		Acting
		Job string `path:"job_id" maxLength:"100"`
	}
	jobReasonInput struct {
		JobAct
		Body reasonRequest
	}
	reasonRequest struct {
		Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"Kept in the record. The owner of a job that fails, or of a workspace that is frozen, is shown it."`
	}
	priorityInput struct {
		JobAct
		Body priorityRequest
	}
	priorityRequest struct {
		Priority int `json:"priority" minimum:"1" maximum:"100" doc:"A new job has 50. Of a workspace's jobs, those with a higher one come first."`
	}
	workerActInput struct {
		Acting
		Worker string `path:"worker_id" maxLength:"100"`
	}
)

// jobActs are the routes that act on jobs.
func (s *Server) jobActs() []route {
	to := func(id, method, path, summary string, codes ...fault.Code) route {
		return route{id: id, method: method, path: "/admin/v1/jobs/{job_id}" + path, summary: summary, codes: append(codes, fault.RenderNotFound)}
	}
	after := operator.JobActed{JobID: sample.JobID, Status: job.Queued}
	ended := operator.JobActed{JobID: sample.JobID, Status: job.Failed}
	show := func(ctx context.Context, tx *db.Tx, in *JobAct) (operator.JobActed, error) {
		return operator.JobAfter(ctx, tx, s.Jobs, in.Job)
	}
	showReason := func(ctx context.Context, tx *db.Tx, in *jobReasonInput) (operator.JobActed, error) {
		return show(ctx, tx, &in.JobAct)
	}
	because := reasonRequest{"its scene is examined"}
	return []route{
		acts(s, to("pauseJob", http.MethodPost, "/pause", "Give workers no more frames of a job", bodyCodes(fault.RenderNotPausable)...).with(because), after,
			func(ctx context.Context, tx *db.Tx, in *jobReasonInput) (operator.Act, error) {
				return operator.PauseJob(ctx, tx, s.Jobs, in.Job, in.Body.Reason)
			}, showReason),
		acts(s, to("resumeJob", http.MethodPost, "/resume", "Let workers take frames of a paused job again", fault.RenderNotPausable), after,
			func(ctx context.Context, tx *db.Tx, in *JobAct) (operator.Act, error) {
				return operator.ResumeJob(ctx, tx, s.Jobs, in.Job)
			}, show),
		acts(s, to("setJobPriority", http.MethodPut, "/priority", "Put a job ahead of or behind the others of its workspace", bodyCodes(fault.RenderNotPausable)...).with(priorityRequest{80}), after,
			func(ctx context.Context, tx *db.Tx, in *priorityInput) (operator.Act, error) {
				return operator.PrioritizeJob(ctx, tx, s.Jobs, in.Job, in.Body.Priority)
			}, func(ctx context.Context, tx *db.Tx, in *priorityInput) (operator.JobActed, error) {
				return show(ctx, tx, &in.JobAct)
			}),
		acts(s, to("cancelJob", http.MethodPost, "/cancel", "Cancel a job that no worker has claimed, as its owner could", fault.RenderNotCancellable), ended,
			func(ctx context.Context, tx *db.Tx, in *JobAct) (operator.Act, error) {
				return operator.CancelJob(ctx, tx, s.Jobs, in.Job)
			}, show),
		acts(s, to("failJob", http.MethodPost, "/fail", "End a job at any time and return its price", bodyCodes(fault.JobEnded)...).with(because), ended,
			func(ctx context.Context, tx *db.Tx, in *jobReasonInput) (operator.Act, error) {
				return operator.FailJob(ctx, tx, s.Jobs, in.Job, in.Body.Reason)
			}, showReason),
		acts(s, to("allowAnyBlender", http.MethodPost, "/any-blender", "Let workers with any Blender version and denoising render the rest of a job", bodyCodes(fault.JobEnded)...).with(because), after,
			func(ctx context.Context, tx *db.Tx, in *jobReasonInput) (operator.Act, error) {
				return operator.AnyBlender(ctx, tx, in.Job, in.Body.Reason)
			}, showReason),
	}
}

// workerActs are the routes that act on workers.
func (s *Server) workerActs() []route {
	to := func(id, method, path, summary string, codes ...fault.Code) route {
		return route{id: id, method: method, path: "/admin/v1/workers/{worker_id}" + path, summary: summary, codes: append(codes, fault.WorkerNotFound)}
	}
	after := operator.WorkerActed{WorkerID: workerID, State: dispatch.WorkerDraining}
	show := func(ctx context.Context, tx *db.Tx, in *workerActInput) (operator.WorkerActed, error) {
		return operator.WorkerAfter(ctx, tx, in.Worker)
	}
	drain := func(undo bool) func(context.Context, *db.Tx, *workerActInput) (operator.Act, error) {
		return func(ctx context.Context, tx *db.Tx, in *workerActInput) (operator.Act, error) {
			return operator.DrainWorker(ctx, tx, in.Worker, undo)
		}
	}
	return []route{
		acts(s, to("drainWorker", http.MethodPost, "/drain", "Give a worker no more frames"), after, drain(false), show),
		acts(s, to("undrainWorker", http.MethodPost, "/undrain", "Give a drained worker frames again"), after, drain(true), show),
		acts(s, to("forgetWorker", http.MethodDelete, "", "Remove a worker that has left from the list", fault.WorkerInUse), operator.WorkerActed{WorkerID: workerID, State: operator.WorkerForgotten},
			func(ctx context.Context, tx *db.Tx, in *workerActInput) (operator.Act, error) {
				return operator.ForgetWorker(ctx, tx, in.Worker)
			}, func(_ context.Context, _ *db.Tx, in *workerActInput) (operator.WorkerActed, error) {
				return operator.WorkerActed{WorkerID: in.Worker, State: operator.WorkerForgotten}, nil
			}),
	}
}
