package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/workertags"
)

// A workspace can require tags of its workers. Each required tag has a bit, its pool, so that
// a statement compares a job with a worker by one operation. The bit follows from the tags of
// the workspace and of the worker, which are what is kept. Tags that no workspace requires
// have none: a worker may name what it likes.

// openPool is the bit of workspaces that require no tag. A reserved worker lacks it.
const openPool = 1

// AnyPool in Asks means a job that workers of all pools may take.
const AnyPool = -1

// mostPools bounds the tags that all workspaces together require.
const mostPools = 60

// ErrPool means that a workspace has required other tags after the choice for a worker.
var ErrPool = errors.New("the worker lacks a tag that the workspace requires")

// ErrLimit means that others took the last frames that a workspace may have in workers' hands,
// after the choice for a worker.
var ErrLimit = errors.New("the workspace has as many frames in workers' hands as it may have")

// IsOvertaken reports that a claim was refused because something was faster after its choice:
// a worker of another kind, a pause, new tags, or the last frame of a limit. It may be
// repeated.
func IsOvertaken(err error) bool {
	return errors.Is(err, ErrOtherKind) || errors.Is(err, ErrPaused) || errors.Is(err, ErrPool) || errors.Is(err, ErrLimit)
}

// RequireTags has only workers with all of some tags take frames of a workspace. Frames that
// workers have are finished. Error: invalid_request where all workspaces require too many
// different tags.
func RequireTags(ctx context.Context, tx *db.Tx, workspaceID string, required workertags.Set) error {
	if _, err := tx.PoolsLock(ctx); err != nil {
		return fmt.Errorf("lock the pools: %w", err)
	}
	// What it required until now is free for others, if no other workspace requires it.
	if err := setPools(ctx, tx, workspaceID, openPool); err != nil {
		return err
	}
	free, err := tx.PoolsFree(ctx)
	for _, bit := range free {
		err = errors.Join(err, tx.WorkersInPool(ctx, query.WorkersInPoolParams{Bit: bit}))
	}
	if err != nil {
		return fmt.Errorf("free pools: %w", err)
	}
	pools, err := tx.Pools(ctx)
	if err != nil {
		return fmt.Errorf("read the pools: %w", err)
	}
	for _, tag := range required {
		if slices.ContainsFunc(pools, func(p query.Pool) bool { return p.Tag == tag }) {
			continue
		}
		added, err := addPool(ctx, tx, pools, tag)
		if err != nil {
			return err
		}
		pools = append(pools, added)
	}
	if err := setPools(ctx, tx, workspaceID, requiredBits(pools, required)); err != nil {
		return err
	}
	tx.Announce(lease.Topic(FrameQueue))
	return nil
}

// requiredBits are the pools that a workspace with required tags asks for.
func requiredBits(pools []query.Pool, required workertags.Set) int64 {
	return poolsIn(pools, required, len(required) > 0)
}

// addPool gives a tag a free bit.
func addPool(ctx context.Context, tx *db.Tx, pools []query.Pool, tag string) (query.Pool, error) {
	if len(pools) >= mostPools {
		return query.Pool{}, fault.Field("tags", "has a new tag, %q; all workspaces together can require %d different ones", tag, mostPools)
	}
	added := query.Pool{Tag: tag, Bit: openPool << 1}
	for slices.ContainsFunc(pools, func(p query.Pool) bool { return p.Bit == added.Bit }) {
		added.Bit <<= 1
	}
	if err := tx.PoolAdd(ctx, query.PoolAddParams(added)); err != nil {
		return query.Pool{}, fmt.Errorf("add the pool %s: %w", tag, err)
	}
	if err := tx.WorkersInPool(ctx, query.WorkersInPoolParams{Tag: tag, Bit: added.Bit}); err != nil {
		return query.Pool{}, fmt.Errorf("find the workers of the pool %s: %w", tag, err)
	}
	return added, nil
}

// setPools changes what a workspace and its jobs require. Jobs come first, as in every
// transaction. The second time finds a job that was queued meanwhile.
func setPools(ctx context.Context, tx *db.Tx, workspaceID string, bits int64) error {
	jobs := query.TurnsRequireParams{Pools: bits, WorkspaceID: workspaceID}
	err := tx.TurnsRequire(ctx, jobs)
	if err == nil {
		err = tx.TurnRequire(ctx, query.TurnRequireParams{WorkspaceID: workspaceID, Pools: bits})
	}
	if err == nil {
		err = tx.TurnsRequire(ctx, jobs)
	}
	if err != nil {
		return fmt.Errorf("change the pools of %s: %w", workspaceID, err)
	}
	return nil
}

// joinPools has a job require what its workspace does. The turn of the workspace is locked.
func joinPools(ctx context.Context, tx *db.Tx, jobID string) error {
	if err := tx.TurnJoinPools(ctx, jobID); err != nil {
		return fmt.Errorf("give %s its pools: %w", jobID, err)
	}
	return nil
}

// RequiredPools is what a workspace requires of workers, as Asks has it.
func RequiredPools(ctx context.Context, tx *db.Tx, workspaceID string) (int64, error) {
	turn, err := tx.TurnPools(ctx, workspaceID)
	if db.IsNotFound(err) {
		return openPool, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the pools of %s: %w", workspaceID, err)
	}
	return turn.Pools, nil
}

// poolsOf are the pools that a new worker belongs to.
func poolsOf(ctx context.Context, tx *db.Tx, worker Worker) (int64, error) {
	if len(worker.Tags) == 0 {
		return poolsIn(nil, nil, worker.Reserved), nil
	}
	if _, err := tx.PoolsLock(ctx); err != nil {
		return 0, fmt.Errorf("lock the pools: %w", err)
	}
	pools, err := tx.Pools(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the pools: %w", err)
	}
	return poolsIn(pools, worker.Tags, worker.Reserved), nil
}

// poolsIn are the pools, of the given ones, that a worker with tags is in.
func poolsIn(pools []query.Pool, has workertags.Set, reserved bool) (bits int64) {
	if !reserved {
		bits = openPool
	}
	for _, p := range pools {
		if slices.Contains(has, p.Tag) {
			bits |= p.Bit
		}
	}
	return bits
}

// LimitFrames bounds how many frames of a workspace workers may have at once; 0 is no limit.
// Workers that have more finish them.
func LimitFrames(ctx context.Context, tx *db.Tx, workspaceID string, most int64) error {
	if err := tx.TurnLimit(ctx, query.TurnLimitParams{WorkspaceID: workspaceID, MostHeld: most}); err != nil {
		return fmt.Errorf("limit the frames of %s: %w", workspaceID, err)
	}
	tx.Announce(lease.Topic(FrameQueue))
	return nil
}

// workspaceRoom is how many more frames of a workspace workers may have, most of which are the
// limit; mostClaimed without one.
func workspaceRoom(ctx context.Context, tx *db.Tx, workspaceID string, most int64) (int64, error) {
	if most == 0 {
		return mostClaimed, nil
	}
	held, err := tx.WorkspaceHeld(ctx, workspaceID)
	if err != nil {
		return 0, fmt.Errorf("count the frames of %s in workers' hands: %w", workspaceID, err)
	}
	return max(0, most-held), nil
}

// withinLimit is a choice, or none if the workspace of its job may have no more frames.
func withinLimit(ctx context.Context, tx *db.Tx, c Choice) (Choice, error) {
	if c.JobID == "" {
		return c, nil
	}
	workspace, err := tx.TurnWorkspace(ctx, c.JobID)
	if err != nil {
		return Choice{}, fmt.Errorf("read the turn of the workspace of %s: %w", c.JobID, err)
	}
	c.mostHeld = workspace.MostHeld
	if c.room, err = workspaceRoom(ctx, tx, workspace.Party, c.mostHeld); err != nil || c.room == 0 {
		return Choice{}, err
	}
	return c, nil
}

// Room is how many more frames of a job's workspace workers may have, up to mostClaimed.
func Room(ctx context.Context, tx *db.Tx, jobID string) (int64, error) {
	workspace, err := tx.TurnWorkspace(ctx, jobID)
	if err != nil {
		return 0, fmt.Errorf("read the turn of the workspace of %s: %w", jobID, err)
	}
	return workspaceRoom(ctx, tx, workspace.Party, workspace.MostHeld)
}

// CheckLimit returns ErrLimit if workers have more frames of a job's workspace than they may.
// It counts after every other claim that has called it, or that RecordChoice has recorded.
func CheckLimit(ctx context.Context, tx *db.Tx, jobID string) error {
	workspace, err := tx.TurnWorkspace(ctx, jobID)
	if err != nil || workspace.MostHeld == 0 {
		return err
	}
	if _, err := tx.TurnLock(ctx, workspace.Party); err != nil {
		return fmt.Errorf("lock the turn of %s: %w", workspace.Party, err)
	}
	held, err := tx.WorkspaceHeld(ctx, workspace.Party)
	if err != nil {
		return fmt.Errorf("count the frames of %s in workers' hands: %w", workspace.Party, err)
	}
	if held > workspace.MostHeld {
		return ErrLimit
	}
	return nil
}

// heldOfLimited counts the frames in workers' hands of the workspaces that have a limit.
func heldOfLimited(ctx context.Context, tx *db.Tx) (map[string]int64, error) {
	rows, err := tx.WorkspacesHeld(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the frames in workers' hands: %w", err)
	}
	held := map[string]int64{}
	for _, r := range rows {
		held[r.Party] = r.Held
	}
	return held, nil
}

// tagsOf are the tags of some pools.
func tagsOf(pools []query.Pool, bits int64) (set workertags.Set) {
	for _, p := range pools {
		if p.Bit&bits != 0 {
			set = append(set, p.Tag)
		}
	}
	slices.Sort(set)
	return set
}
