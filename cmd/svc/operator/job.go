package operator

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/operator"
)

// jobList is svc admin job list.
type jobList struct {
	viewFlags
	pageFlags
	Workspace string `help:"List only the jobs of this workspace."`
	Status    string `enum:",awaiting_submit,queued,rendering,packaging,completed,failed,cancelled" default:"" help:"List only jobs in this state."`
}

// Run lists jobs.
func (c *jobList) Run(k *kong.Context) error {
	answer, query := operator.JobList{OK: true}, c.query()
	query.Set("workspace", c.Workspace)
	query.Set("status", c.Status)
	err := c.view("/jobs", query, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Jobs, err = job.ListAll(ctx, tx, job.ListRequest{WorkspaceID: c.Workspace, Status: job.Status(c.Status), Before: c.Before, Limit: c.Limit})
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	list := terminal.NewList(terminal.Column{Title: "JOB"}, terminal.Column{Title: "WORKSPACE", Spare: 1}, terminal.Column{Title: "STATUS"},
		terminal.Column{Title: "FRAMES", Spare: 2}, terminal.Column{Title: "PRICE", Spare: 3}, terminal.Column{Title: "CREATED", Spare: 4},
		terminal.Column{Title: "FILE", Cut: true}, terminal.Column{Title: "FAILURE"})
	for _, j := range answer.Jobs {
		list.Row(j.JobID, j.WorkspaceID, string(j.Status), fmt.Sprintf("%d/%d", j.FramesCompleted, j.FrameCount), numbers.Dollars(j.PriceCents),
			j.CreatedAt.Format(time.DateTime), j.Filename, j.FailureCode)
	}
	list.Print(k.Stdout)
	return nil
}

// jobShow is svc admin job show.
type jobShow struct {
	viewFlags
	Job string `arg:"" help:"Job id."`
}

// Run shows one job: what its owner sees, without the link that downloads it, and who
// renders it and what failed. Error: render_not_found.
func (c *jobShow) Run(k *kong.Context) error {
	var shown operator.Job
	err := c.view("/jobs"+part(c.Job), nil, &shown, func(ctx context.Context, tx *db.Tx) (err error) {
		shown, err = operator.JobOf(ctx, tx, jobs(), c.Job)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, shown)
	}
	o := shown.Job
	terminal.Printf(k.Stdout, "%s  %s, %d of %s, %s", o.JobID, o.Status, o.FramesCompleted, terminal.CountOf(o.FrameCount, "frame"), o.Filename)
	terminal.Printf(k.Stdout, "workspace %s, upload %s, created %s", o.WorkspaceID, o.UploadID, o.CreatedAt.Format(time.DateTime))
	terminal.Printf(k.Stdout, "price %s, reserved %s, charged %s", numbers.Dollars(o.PriceCents), numbers.Dollars(o.ReservedCents), numbers.Dollars(o.ChargedCents))
	if o.Priority != nil && *o.Priority != dispatch.DefaultPriority {
		terminal.Printf(k.Stdout, "priority %d", *o.Priority)
	}
	if o.PausedBy != nil {
		terminal.Printf(k.Stdout, "paused by the %s", *o.PausedBy)
	}
	if o.WaitingReason != nil {
		terminal.Printf(k.Stdout, "waits: %s", *o.WaitingReason)
	}
	if o.Failure != nil {
		terminal.Printf(k.Stdout, "failed: %s: %s", o.Failure.Code, o.Failure.Message)
	}
	return printFrames(k.Stdout, shown.Frames, shown.Failures)
}

// jobLog is svc admin job log.
type jobLog struct {
	viewFlags
	Job    string `arg:"" help:"Job id."`
	Output bool   `help:"Also print the end of Blender's output of failed attempts."`
}

// Run prints what happened to a job. Error: render_not_found.
func (c *jobLog) Run(k *kong.Context) error {
	answer := operator.JobHistory{OK: true, JobID: c.Job}
	err := c.view("/jobs"+part(c.Job)+"/log", nil, &answer, func(ctx context.Context, tx *db.Tx) (err error) {
		answer.Log, err = operator.JobLog(ctx, tx, c.Job)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(k.Stdout, answer)
	}
	for _, e := range answer.Log {
		line := e.At.Format(time.DateTime) + "  " + e.Text
		if e.RequestID != "" {
			line += " [" + e.RequestID + "]"
		}
		terminal.Printf(k.Stdout, "%s", line)
		for output := range strings.Lines(e.Output) {
			if c.Output {
				terminal.Printf(k.Stdout, "    %s", strings.TrimRight(output, "\n"))
			}
		}
	}
	return nil
}

// jobs returns what ends and shows jobs here. It makes no links and signs nothing.
func jobs() *job.Jobs { return &job.Jobs{Log: slog.New(slog.DiscardHandler)} }

// jobAnyBlender is svc admin job any-blender.
type jobAnyBlender struct {
	actFlags
	Job    string `arg:"" help:"Job id."`
	Reason string `required:"" help:"Reason for the record, 1 to 500 bytes."`
}

// Run lifts the rule that a job stays with one Blender version and denoising. Errors:
// render_not_found, job_ended, invalid_request for the reason.
func (c *jobAnyBlender) Run(k *kong.Context) error {
	return c.onJob(k, c.Job, call{method: http.MethodPost, path: "/any-blender", body: reasoned{c.Reason}}, statusAlone, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.AnyBlender(ctx, tx, c.Job, c.Reason)
	})
}

// jobPause is svc admin job pause.
type jobPause struct {
	actFlags
	Job    string `arg:"" help:"Job id."`
	Reason string `required:"" help:"Reason for the record, 1 to 500 bytes."`
}

// Run pauses a job. Its workspace cannot resume it. Errors: render_not_found,
// render_not_pausable, invalid_request for the reason.
func (c *jobPause) Run(k *kong.Context) error {
	return c.onJob(k, c.Job, call{method: http.MethodPost, path: "/pause", body: reasoned{c.Reason}}, whoPaused, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.PauseJob(ctx, tx, jobs(), c.Job, c.Reason)
	})
}

// jobResume is svc admin job resume.
type jobResume struct {
	actFlags
	Job string `arg:"" help:"Job id."`
}

// Run resumes a job that an operator or its workspace paused. Errors: render_not_found,
// render_not_pausable.
func (c *jobResume) Run(k *kong.Context) error {
	return c.onJob(k, c.Job, call{method: http.MethodPost, path: "/resume"}, whoPaused, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.ResumeJob(ctx, tx, jobs(), c.Job)
	})
}

// jobPriority is svc admin job priority.
type jobPriority struct {
	actFlags
	Job      string `arg:"" help:"Job id."`
	Priority int    `arg:"" help:"1 to 100. A new job has 50. Of a workspace's jobs, those with a higher one come first."`
}

// Run orders a job among those of its workspace. Errors: render_not_found,
// render_not_pausable, invalid_request.
func (c *jobPriority) Run(k *kong.Context) error {
	return c.onJob(k, c.Job, call{method: http.MethodPut, path: "/priority", body: map[string]int{"priority": c.Priority}}, itsPriority, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.PrioritizeJob(ctx, tx, jobs(), c.Job, c.Priority)
	})
}

// jobCancel is svc admin job cancel.
type jobCancel struct {
	actFlags
	Job string `arg:"" help:"Job id."`
}

// Run cancels a job that no worker has claimed. Cancelling a cancelled job again changes
// nothing. Errors: render_not_found, render_not_cancellable.
func (c *jobCancel) Run(k *kong.Context) error {
	return c.onJob(k, c.Job, call{method: http.MethodPost, path: "/cancel"}, itsCharge, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.CancelJob(ctx, tx, jobs(), c.Job)
	})
}

// jobFail is svc admin job fail.
type jobFail struct {
	actFlags
	Job    string `arg:"" help:"Job id."`
	Reason string `required:"" help:"Reason shown to the job's owner, 1 to 500 bytes."`
}

// Run ends a job that has not ended, in any state (decisions 24). Errors:
// render_not_found, job_ended, invalid_request for the reason.
func (c *jobFail) Run(k *kong.Context) error {
	return c.onJob(k, c.Job, call{method: http.MethodPost, path: "/fail", body: reasoned{c.Reason}}, itsCharge, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
		return operator.FailJob(ctx, tx, jobs(), c.Job, c.Reason)
	})
}

// onJob asks, ends or changes a job and prints it with what the act was about. The path of the
// call is that below the job. The job's owner and its workers learn of it by the transaction's commit.
func (f actFlags) onJob(k *kong.Context, jobID string, c call, about func(operator.JobActed) []field, propose func(ctx context.Context, tx *db.Tx) (operator.Act, error)) error {
	var after operator.JobActed
	c.path = "/jobs" + part(jobID) + c.path
	err := f.act(c, &after, propose, func(ctx context.Context, tx *db.Tx) (err error) {
		after, err = operator.JobAfter(ctx, tx, jobs(), jobID)
		return err
	})
	if err != nil {
		return err
	}
	return f.print(k, append([]field{{"job_id", after.JobID}, {"status", after.Status}}, about(after)...)...)
}

// statusAlone is onJob's about for what changes neither of the others.
func statusAlone(operator.JobActed) []field { return nil }

func itsCharge(j operator.JobActed) []field { return []field{{"charged_cents", j.ChargedCents}} }

func itsPriority(j operator.JobActed) []field {
	if j.Priority == nil {
		return nil
	}
	return []field{{"priority", *j.Priority}}
}

func whoPaused(j operator.JobActed) []field {
	if j.PausedBy == nil {
		return nil
	}
	return []field{{"paused_by", *j.PausedBy}}
}

// sortedKeys returns the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
