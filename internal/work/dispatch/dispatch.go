// Package dispatch decides which worker gets which frame.
//
// Workspaces with waiting frames share the workers' time equally, and the jobs of a
// workspace share its part equally. Each workspace and each job has a turn row, its
// place in the round robin, which adds up the time it received; the least served one
// is next (docs/adr/0017).
//
// A job with a higher priority comes before the others of its workspace, and takes nothing from
// other workspaces. A paused job keeps its place and gets no worker.
//
// What always holds: turn.waiting is the number of the job's leases that wait, a
// workspace's the sum over its jobs that are not paused; a job has a turn while it is queued or rendering; a
// frame that failed on a worker goes to other workers while any are online, those of other
// node keys first; a frame goes only to workers whose Blenders are built with all that its
// scene needs. A
// transaction locks turn rows after the job's row and its leases, a job's turn before
// its workspace's, and workers' rows last, so that transactions never deadlock.
//
// The package owns the tables turn, worker, failed_attempt and key_standing. It changes
// no job's state and moves no money: that is left to job. It leaves leases to lease, and
// the meaning of a failed attempt to framecheck. Start reading at Next in choose.go;
// queue.go maintains the turns, pause.go pauses jobs and orders them, runs.go cuts jobs whose frames depend on those before,
// trust.go decides which workers are suspended, keys.go which node keys are paused.
package dispatch

import (
	"time"

	"svc.example/internal/render/buildoption"
)

// FrameQueue is the lease engine's queue of frames: the subject is the job's id, the
// item the frame's number.
const FrameQueue = "frame"

// ServiceHolder holds frames that no worker may take for now.
const ServiceHolder = "service"

// StripQueue is the queue of strips of frames that several workers render (package split).
// Its frames stay on FrameQueue meanwhile, held by the service.
const StripQueue = "strip"

// Job is the part of a job's row that dispatch needs. It is a type of its own because
// the job package imports this one.
type Job struct {
	JobID           string
	WorkspaceID     string
	FrameCount      int64
	FramesCompleted int64
	RenderUs        int64 // microseconds of its accepted frames
	Pinned          bool  // it has frames of its kind of workers that none of them rendered for it
	// Needs is what a worker's Blender must be built with. Only Enqueue and Reenter need
	// it.
	Needs buildoption.Set
	// PlaysFrom is the first frame that a worker has to play where frames depend on those
	// before; nil where they do not. Only Enqueue and Reenter need it.
	PlaysFrom *int64
}

// OpenJob is the job whose file a worker has open; the zero value is none.
type OpenJob struct {
	JobID string
	// After is the last frame of it that the worker has, where frames depend on those
	// before; nil where it has none.
	After *int64
}

// WorkerOnline is how recently a worker must have reported to count as online: longer
// than a long poll, so that a worker that waits for frames stays online.
const WorkerOnline = 90 * time.Second
