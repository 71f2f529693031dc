// Package dispatch decides which worker gets which frame.
//
// Workers' time is shared equally among the workspaces that have frames waiting, and
// a workspace's share equally among its jobs. Each has a turn row that adds up the
// time it had; the least served is next (docs/adr/0017).
//
// What always holds: turn.waiting is the number of the job's leases that wait, a
// workspace's the sum over its jobs; a job has a turn as long as it is queued or
// rendering; a frame that a worker has failed goes to others as long as any are
// there. In a transaction turn rows come behind a job's and its leases, a job's
// before its workspace's, and workers' rows come last, so that two transactions never
// wait for each other in a circle.
//
// The package owns the tables turn, worker and failed_try. It changes no job's state
// and moves no money: that is left to job. Leases are moved by lease; what a failed
// attempt means is said by framecheck. Start reading at Next in choose.go; queue.go
// keeps the turns, standing.go says which workers are trusted.
package dispatch

import "time"

// FrameQueue is the queue of the lease engine whose pieces are frames: the subject
// is the job's id, the item the frame's number.
const FrameQueue = "frame"

// Job is what dispatch knows of a job, as its row says.
type Job struct {
	JobID           string
	WorkspaceID     string
	FrameCount      int64
	FramesCompleted int64
	RenderUs        int64 // microseconds of its accepted frames
}

// WorkerOnline is how recently a worker must have been heard to count as
// online: longer than a long poll.
const WorkerOnline = 90 * time.Second
