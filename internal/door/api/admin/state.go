package admin

import (
	"context"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/process"
)

// none is the input of a route that takes nothing.
type none struct{}

// Page selects a page of a list.
type Page struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many to list."`
	Before string `query:"before" maxLength:"100" doc:"Continue after this id, the last one of the previous page."`
}

// Inputs of lists.
type (
	workspacesInput struct {
		Page
		Email string `query:"email" doc:"Only the workspaces of the person with this e-mail address."`
	}
	jobsInput struct {
		Page
		Workspace string `query:"workspace" maxLength:"100" doc:"Only the jobs of this workspace."`
		Status    string `query:"status" enum:"awaiting_submit,queued,rendering,packaging,completed,failed,cancelled" doc:"Only jobs in this state."`
	}
	workersInput struct {
		Hours int `query:"within_hours" minimum:"1" maximum:"8760" default:"24" doc:"Workers that reported within so many hours."`
	}
	usageInput struct {
		Workspace string `query:"workspace" maxLength:"100" doc:"Only this workspace."`
		Months    int    `query:"months" minimum:"1" maximum:"36" default:"12" doc:"How many months, this one included."`
		Tags      bool   `query:"tags" doc:"Split it by the tags of the jobs. A job counts once, with all its tags."`
	}
	lettersInput struct {
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many to list."`
		Queue string `query:"queue" maxLength:"100" doc:"Only this queue."`
	}
	workspaceInput struct {
		Workspace string `path:"workspace_id" maxLength:"100"`
	}
	jobInput struct {
		Job string `path:"job_id" maxLength:"100"`
	}
	workerInput struct {
		Worker string `path:"worker_id" maxLength:"100"`
	}
)

// state are the routes that read.
func (s *Server) state() []route {
	e := exampleState()
	return []route{
		reads(s, route{id: "getStatus", path: "/admin/v1/status", summary: "Show what the service does now"}, e.status,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.Status, error) {
				return operator.StatusOf(ctx, tx)
			}),
		reads(s, route{id: "listWorkspaces", path: "/admin/v1/workspaces", summary: "List workspaces with their balances"}, e.workspaces,
			func(ctx context.Context, tx *db.Tx, in *workspacesInput) (operator.WorkspaceList, error) {
				all, err := identity.Workspaces(ctx, tx, in.Email, in.Before, in.Limit)
				return operator.WorkspaceList{OK: true, Workspaces: all}, err
			}),
		reads(s, route{id: "getWorkspace", path: "/admin/v1/workspaces/{workspace_id}", summary: "Show a workspace", codes: []fault.Code{fault.WorkspaceNotFound}}, e.workspace,
			func(ctx context.Context, tx *db.Tx, in *workspaceInput) (operator.Workspace, error) {
				return operator.WorkspaceOf(ctx, tx, in.Workspace)
			}),
		reads(s, route{id: "listJobs", path: "/admin/v1/jobs", summary: "List the jobs of all workspaces"}, e.jobs,
			func(ctx context.Context, tx *db.Tx, in *jobsInput) (operator.JobList, error) {
				all, err := job.ListAll(ctx, tx, job.ListRequest{WorkspaceID: in.Workspace, Status: job.Status(in.Status), Before: in.Before, Limit: in.Limit})
				return operator.JobList{OK: true, Jobs: all}, err
			}),
		reads(s, route{id: "getJob", path: "/admin/v1/jobs/{job_id}", summary: "Show a job", codes: []fault.Code{fault.RenderNotFound}}, e.job,
			func(ctx context.Context, tx *db.Tx, in *jobInput) (operator.Job, error) {
				return operator.JobOf(ctx, tx, s.Jobs, in.Job)
			}),
		reads(s, route{id: "getJobLog", path: "/admin/v1/jobs/{job_id}/log", summary: "Show what happened to a job", codes: []fault.Code{fault.RenderNotFound}}, e.log,
			func(ctx context.Context, tx *db.Tx, in *jobInput) (operator.JobHistory, error) {
				log, err := operator.JobLog(ctx, tx, in.Job)
				return operator.JobHistory{OK: true, JobID: in.Job, Log: log}, err
			}),
		reads(s, route{id: "listWorkers", path: "/admin/v1/workers", summary: "List workers, and what is wrong with their keys"}, e.workers,
			func(ctx context.Context, tx *db.Tx, in *workersInput) (operator.WorkerList, error) {
				return operator.WorkersOf(ctx, tx, time.Duration(in.Hours)*time.Hour)
			}),
		reads(s, route{id: "getWorker", path: "/admin/v1/workers/{worker_id}", summary: "Show a worker", codes: []fault.Code{fault.WorkerNotFound}}, e.worker,
			func(ctx context.Context, tx *db.Tx, in *workerInput) (operator.Worker, error) {
				return operator.WorkerOf(ctx, tx, in.Worker)
			}),
		reads(s, route{id: "listAlerts", path: "/admin/v1/alerts", summary: "List what is wrong with the service now"}, e.alerts,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.AlertList, error) {
				all, err := operators.Standings(ctx, tx)
				return operator.AlertList{OK: true, Alerts: all}, err
			}),
		reads(s, route{id: "getUsage", path: "/admin/v1/usage", summary: "Show what workspaces used by month"}, e.usage,
			func(ctx context.Context, tx *db.Tx, in *usageInput) (operator.UsageList, error) {
				all, err := operator.UsageOf(ctx, tx, operator.UsageScope{WorkspaceID: in.Workspace, Months: in.Months, ByTags: in.Tags})
				return operator.UsageList{OK: true, Usage: all}, err
			}),
		reads(s, route{id: "listProcesses", path: "/admin/v1/processes", summary: "List the processes that serve"}, e.processes,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.ProcessList, error) {
				all, err := process.List(ctx, tx)
				return operator.ProcessList{OK: true, Processes: all}, err
			}),
		reads(s, route{id: "listDeadLetters", path: "/admin/v1/dead-letters", summary: "List internal tasks that failed too often"}, e.letters,
			func(ctx context.Context, tx *db.Tx, in *lettersInput) (operator.DeadLetterList, error) {
				all, err := lease.DeadLetters(ctx, tx, in.Queue, in.Limit)
				return operator.DeadLetterList{OK: true, DeadLetters: all}, err
			}),
		reads(s, route{id: "listActs", path: "/admin/v1/acts", summary: "List what operators did"}, e.acts,
			func(ctx context.Context, tx *db.Tx, in *Page) (operator.ActList, error) {
				all, err := operator.Acts(ctx, tx, in.Before, in.Limit)
				return operator.ActList{OK: true, Acts: all}, err
			}),
	}
}
