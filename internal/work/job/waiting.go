package job

import (
	"context"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/work/dispatch"
)

// WaitingReason explains why no frame of a queued or rendering job is being rendered.
type WaitingReason string

// Reasons to wait. There is none while a worker is about to take a frame.
const (
	NoWorkerOnline  WaitingReason = "no_worker_online"  // suspended ones do not count
	NoCapableWorker WaitingReason = "no_capable_worker" // those online cannot render its scene, failed its frames, or await another key's result
	// NoMatchingBlender: those online could, but have another Blender version or other
	// denoising than the job's frames so far.
	NoMatchingBlender WaitingReason = "no_matching_blender"
	WorkersUnable     WaitingReason = "workers_unable" // those online say that they cannot work
	WorkersBusy       WaitingReason = "workers_busy"   // all that may take one render others
	// NoTaggedWorker: those online could, but lack a tag that the workspace requires of its
	// workers, or are reserved for workspaces that require one.
	NoTaggedWorker WaitingReason = "no_tagged_worker"
	// WorkspaceLimit: the workspace has as many frames in workers' hands as it may have.
	WorkspaceLimit WaitingReason = "workspace_limit"
	Paused         WaitingReason = "paused" // see Object.PausedBy
)

// farthestPosition is the highest queue_position: it means itself or more.
const farthestPosition = 1000

// surroundings are what the view of some jobs needs beyond their own rows.
type surroundings struct {
	forecast *dispatch.Forecast             // nil if none of the jobs is live
	capable  map[string]dispatch.Capable    // of the jobs of which frames failed or await another's word, by id
	accepted map[string][]acceptedFrame     // the last frames of foreseeable jobs, newest first, by id
	similar  map[string]foreseen            // how long frames took in previews and similar jobs, by id
	rests    map[string]*dispatch.Remaining // of the live jobs whose frames depend on those before, by id
}

// surround reads the surroundings of jobs of one workspace, newest first, but for the
// times of frames. The number of statements does not depend on the number of jobs.
func (j *Jobs) surround(ctx context.Context, tx *db.Tx, views []query.JobViewsRow) (around surroundings, err error) {
	around.accepted = map[string][]acceptedFrame{}
	if !slices.ContainsFunc(views, isLive) {
		return around, nil
	}
	if around.forecast, err = j.Queue.Now(ctx, tx); err != nil {
		return around, err
	}
	if around.similar, err = j.similar.of(ctx, tx, around.forecast, views); err != nil {
		return around, err
	}
	if around.rests, err = findRemaining(ctx, tx, views); err != nil {
		return around, err
	}
	if slices.ContainsFunc(views, func(v query.JobViewsRow) bool { return waits(v) && v.Choosy }) {
		newest, oldest := views[0].Job, views[len(views)-1].Job
		around.capable, err = dispatch.FindCapable(ctx, tx, newest.WorkspaceID, oldest.JobID, newest.JobID)
	}
	return around, err
}

// isLive reports whether frames of a job wait or are rendered.
func isLive(view query.JobViewsRow) bool {
	status := Status(view.Job.Status)
	return status == Queued || status == Rendering
}

// waits reports whether a live job has no frame in a worker's hands.
func waits(view query.JobViewsRow) bool {
	return isLive(view) && view.Held == 0
}

// position is the queue_position of a job.
func (s surroundings) position(view query.JobViewsRow) *int {
	if Status(view.Job.Status) != Queued || view.Paused != "" {
		return nil
	}
	return positionOf(s.forecast.Position(view.Job.JobID, view.Job.WorkspaceID, view.Priority, view.ServedUs, view.WorkspaceServedUs))
}

// positionOf is a place in the queue as callers see it.
func positionOf(place int) *int { return new(min(place, farthestPosition)) }

// asksOf is what a live job asks of workers.
func asksOf(view query.JobViewsRow) dispatch.Asks {
	return dispatch.Asks{Needs: buildoption.Set(view.Needs), Kind: view.Kind, Pools: view.Pools}
}

// missing says what no online worker has of what a job asks.
func (s surroundings) missing(asks dispatch.Asks) WaitingReason {
	anyKind, anyPool := asks, asks
	anyKind.Kind, anyPool.Pools = "", dispatch.AnyPool
	switch {
	case s.forecast.Able(anyKind).Workers > 0:
		return NoMatchingBlender
	case s.forecast.Able(anyPool).Workers > 0:
		return NoTaggedWorker
	}
	return NoCapableWorker
}

// reason is the waiting_reason of a live job.
func (s surroundings) reason(view query.JobViewsRow) *WaitingReason {
	if !waits(view) {
		return nil
	}
	if view.Paused != "" {
		return new(Paused)
	}
	asks := asksOf(view)
	capable := s.forecast.Able(asks)
	if view.Choosy {
		capable = s.capable[view.Job.JobID]
	}
	var reason WaitingReason
	switch s.forecast.WaitOf(view.Job.WorkspaceID, capable) {
	case dispatch.WaitForAny:
		reason = NoWorkerOnline
	case dispatch.WaitForAble:
		reason = WorkersUnable
	case dispatch.WaitForCapable:
		reason = NoCapableWorker
		if s.forecast.Able(asks).Workers == 0 {
			reason = s.missing(asks)
		}
	case dispatch.WaitForIdle:
		reason = WorkersBusy
	case dispatch.WaitForLimit:
		reason = WorkspaceLimit
	case dispatch.WaitIsOver:
		return nil
	}
	return &reason
}
