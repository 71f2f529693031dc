package dispatch

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
)

// fileAffinity is how much more time than the next job a job may receive before the
// worker that has its file open changes to the next one. Opening a file is expensive: a
// worker opens at most one file in this time, and no job waits longer than this for it.
const fileAffinity = 15 * time.Second

// Choice is the work that Next chose for a worker.
type Choice struct {
	JobID string // "" for nothing
	// LeaseID is one frame that failed on this worker before, or that awaits the word of
	// its key; "" for any frame of the job that did not fail here.
	LeaseID string
	Open    bool // the worker has the job's file open
	// FailedBefore says that frames of the job failed on the worker's key, or that the
	// pictures of some await another worker's: this worker gets other frames.
	FailedBefore bool

	// Run is the frames of a job that depend on those before which the worker takes, in
	// this order; nil where frames are independent.
	Run   []int64
	Plays bool // frames depend on those before

	keyID, class string // the worker's node key and what it renders on
	kind         string // of the worker
	pools        int64  // of the worker
	room         int64  // how many frames the worker may take, for its key and for the job's workspace
	mostHeld     int64  // how many frames of the job's workspace may be rendered at once; 0 for any number
}

// Next chooses what holder renders next: the job with the next turn, or the one whose
// file holder has open, while that has not exceeded its share by fileAffinity and no job of
// its workspace with a higher priority waits. If no
// job has a frame for holder, it chooses a frame that failed on holder before and that
// no other online worker can take. A frame that failed on a key goes to workers of other
// keys while any are online. A suspended worker gets nothing. It writes nothing, so it may
// run in a read transaction.
func Next(ctx context.Context, tx *db.Tx, holder string, open OpenJob) (Choice, error) {
	// Idle workers poll all the time: one indexed read ends most calls here.
	waits, err := tx.TurnAnyWaiting(ctx)
	if err != nil {
		return Choice{}, fmt.Errorf("find work: %w", err)
	}
	if waits == 0 {
		return Choice{}, nil
	}
	worker, err := tx.WorkerGet(ctx, holder)
	if err != nil && !db.IsNotFound(err) {
		return Choice{}, fmt.Errorf("read worker: %w", err)
	}
	if err != nil { // it is gone
		worker.Pools = openPool
	}
	if worker.SuspendedUntil > tx.Now {
		return Choice{}, nil
	}
	worker.WorkerID = holder
	room, err := roomOf(ctx, tx, worker.KeyID, mostClaimed)
	if err != nil || room == 0 {
		return Choice{}, err
	}
	c, err := nextJob(ctx, tx, worker, open)
	if err == nil && c.JobID == "" {
		c, err = nextFailedBefore(ctx, tx, worker)
	} else {
		c.Open = c.JobID == open.JobID
	}
	c.room, c.kind, c.pools = min(c.room, room), worker.Kind, worker.Pools
	return c, err
}

// mostClaimed bounds the frames of one claim.
const mostClaimed = 64

// ClaimFrames leases the frames of a choice to holder, at most limit, the lowest
// numbers first, or those of its run. So a failed frame is retried before later ones, and a
// file that no worker can render fails early. The caller calls RecordChoice next.
func ClaimFrames(ctx context.Context, tx *db.Tx, holder string, c Choice, limit int, life time.Duration) ([]lease.Lease, error) {
	if c.LeaseID != "" {
		return lease.ClaimIDs(ctx, tx, []string{c.LeaseID}, holder, life)
	}
	limit = min(limit, int(c.room))
	claimed, err := claimAny(ctx, tx, holder, c, limit, life)
	if err != nil {
		return nil, err
	}
	return releaseFailed(ctx, tx, holder, c, claimed)
}

// claimAny leases frames of a run, or those of a job that holder may have.
func claimAny(ctx context.Context, tx *db.Tx, holder string, c Choice, limit int, life time.Duration) ([]lease.Lease, error) {
	if c.Run != nil {
		var ids []string
		for _, item := range c.Run[:min(len(c.Run), limit)] {
			ids = append(ids, lease.ID(FrameQueue, c.JobID, item))
		}
		return lease.ClaimIDs(ctx, tx, ids, holder, life)
	}
	var failed []int64
	if c.FailedBefore {
		var err error
		if failed, err = failedItems(ctx, tx, holder, c); err != nil {
			return nil, err
		}
	}
	return lease.ClaimOf(ctx, tx, FrameQueue, c.JobID, failed, holder, limit, life)
}

// releaseFailed returns the frames that holder failed or painted after the choice was
// made: a claim on PostgreSQL can wait for that very delivery. Only a frame that was
// claimed before can be one, so most claims read nothing here.
func releaseFailed(ctx context.Context, tx *db.Tx, holder string, c Choice, claimed []lease.Lease) (kept []lease.Lease, err error) {
	if !slices.ContainsFunc(claimed, func(l lease.Lease) bool { return l.Attempt > 1 }) {
		return claimed, nil
	}
	failed, err := failedItems(ctx, tx, holder, c)
	if err != nil {
		return nil, err
	}
	for _, l := range claimed {
		if !slices.Contains(failed, l.Item) {
			kept = append(kept, l)
		} else if err := lease.Release(ctx, tx, l.Ref(), FrameQueue); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// failedItems lists the frames of a choice that holder does not get for now.
func failedItems(ctx context.Context, tx *db.Tx, holder string, c Choice) ([]int64, error) {
	failed, err := tx.FailedItems(ctx, query.FailedItemsParams{KeyID: c.keyID, JobID: c.JobID, Holder: holder, Since: onlineSince(tx), Now: tx.Now, Class: c.class})
	if err != nil {
		return nil, fmt.Errorf("find frames of %s that failed: %w", c.JobID, err)
	}
	return failed, nil
}

// nextFailedBefore finds a frame, or otherwise a job, that failed on holder before and
// that no other online worker can take. Without it a single worker would never retry
// anything.
func nextFailedBefore(ctx context.Context, tx *db.Tx, holder query.Worker) (Choice, error) {
	since := onlineSince(tx)
	frame, err := tx.FrameFailedBefore(ctx, query.FrameFailedBeforeParams{KeyID: holder.KeyID, Holder: holder.WorkerID, Kind: holder.Kind, Pools: holder.Pools, Now: tx.Now, Since: since})
	if err == nil {
		return withinLimit(ctx, tx, Choice{JobID: frame.Subject, LeaseID: frame.LeaseID})
	}
	if !db.IsNotFound(err) {
		return Choice{}, fmt.Errorf("find frames that failed before: %w", err)
	}
	jobID, err := tx.JobFailedBefore(ctx, query.JobFailedBeforeParams{KeyID: holder.KeyID, Holder: holder.WorkerID, Kind: holder.Kind, Pools: holder.Pools, Now: tx.Now, Since: since})
	if err != nil && !db.IsNotFound(err) {
		return Choice{}, fmt.Errorf("find jobs that failed before: %w", err)
	}
	return withinLimit(ctx, tx, Choice{JobID: jobID, FailedBefore: true, keyID: holder.KeyID, class: ClassOf(holder)})
}

// nextJob is the open job while affinity has not taken it beyond its share, otherwise the
// job that is next in the queue; "" when no job has a frame for holder.
func nextJob(ctx context.Context, tx *db.Tx, holder query.Worker, open OpenJob) (Choice, error) {
	first, served, err := leastServed(ctx, tx, holder, open)
	if err != nil || open.JobID == "" || first.JobID == "" || open.JobID == first.JobID {
		return first, err
	}
	turn, err := tx.TurnOfJob(ctx, open.JobID)
	if db.IsNotFound(err) {
		return first, nil
	}
	if err != nil {
		return Choice{}, fmt.Errorf("read the turn of %s: %w", open.JobID, err)
	}
	// Both shares count: that of the workspace, and that of the job inside it.
	if max(turn.WorkspaceServedUs-served, turn.AheadUs) > affinity(turn, open).Microseconds() {
		return first, nil
	}
	room, err := workspaceRoom(ctx, tx, turn.WorkspaceID, turn.MostHeld)
	if err != nil || room == 0 {
		return first, err
	}
	preferred, err := choiceOf(ctx, tx, holder, open, open.JobID)
	if err != nil || preferred.JobID == "" {
		return first, err
	}
	preferred.room, preferred.mostHeld = room, turn.MostHeld
	return preferred, nil
}

// leastServed is the job with the next turn: the least served job of the highest priority of
// the least served workspace, among those with a frame for holder and with fewer frames in workers'
// hands than they may have. served is what the workspace
// received, in microseconds.
func leastServed(ctx context.Context, tx *db.Tx, holder query.Worker, open OpenJob) (c Choice, served int64, err error) {
	err = eachWaitingTurn(ctx, tx, "", func(workspace query.TurnsOfRow) (bool, error) {
		served = workspace.ServedUs
		room, err := workspaceRoom(ctx, tx, workspace.Party, workspace.MostHeld)
		if err != nil || room == 0 {
			return false, err
		}
		err = eachWaitingTurn(ctx, tx, workspace.Party, func(job query.TurnsOfRow) (_ bool, err error) {
			c, err = choiceOf(ctx, tx, holder, open, job.Party)
			return c.JobID != "", err
		})
		c.room, c.mostHeld = room, workspace.MostHeld
		return c.JobID != "", err
	})
	return c, served, err
}

// turnBatch is the number of turns per read: nearly always the first one has a frame.
const turnBatch = 8

// eachWaitingTurn visits the queue positions of within ("" for workspaces, otherwise a
// workspace's jobs) that have waiting frames, those of the highest priority first and of
// these the least served, until visit returns found.
func eachWaitingTurn(ctx context.Context, tx *db.Tx, within string, visit func(query.TurnsOfRow) (found bool, err error)) error {
	last := query.TurnsOfRow{Priority: math.MaxInt64}
	for {
		turns, err := tx.TurnsOf(ctx, query.TurnsOfParams{Within: within, Priority: last.Priority, ServedUs: last.ServedUs, Party: last.Party, Max: turnBatch})
		if err != nil {
			return fmt.Errorf("read the turns: %w", err)
		}
		for _, turn := range turns {
			if found, err := visit(turn); found || err != nil {
				return err
			}
			last = turn
		}
		if len(turns) < turnBatch {
			return nil
		}
	}
}

// choiceOf chooses a job if it has a waiting frame for holder. A job may have waiting
// frames and none for this worker: the choice is then empty.
func choiceOf(ctx context.Context, tx *db.Tx, holder query.Worker, has OpenJob, jobID string) (Choice, error) {
	open, err := tx.TurnOpen(ctx, query.TurnOpenParams{
		KeyID: holder.KeyID, JobID: jobID, Now: tx.Now, Holder: holder.WorkerID, Lacks: holder.Lacks, Kind: holder.Kind, Pools: holder.Pools, Since: onlineSince(tx), Class: ClassOf(holder),
	})
	if err != nil {
		return Choice{}, fmt.Errorf("find frames of %s: %w", jobID, err)
	}
	if open.Asked != "" {
		return Choice{JobID: jobID, LeaseID: open.Asked, Plays: open.Plays == 1}, nil
	}
	if open.Frames == 0 {
		return Choice{}, nil
	}
	c := Choice{JobID: jobID, FailedBefore: open.FailedBefore == 1, Plays: open.Plays == 1, keyID: holder.KeyID, class: ClassOf(holder)}
	if !c.Plays {
		return c, nil
	}
	var after *int64
	if has.JobID == jobID {
		after = has.After
	}
	if c.Run, err = runOf(ctx, tx, holder.WorkerID, c, after); err != nil || len(c.Run) == 0 {
		return Choice{}, err
	}
	return c, nil
}
