// Package testmode has what makes a test world out of a service: which file names cause
// which failures, the clock that callers move, and the list of the workspaces that have a
// world. Package script has its worker.
//
// A test world is a whole service with a store of its own, for one workspace; package app
// makes it and leads requests there (docs/adr/0047). So nothing here marks rows or filters
// queries: what a world does cannot reach the real store, because it has no handle of it.
//
// What always holds: a file name has an effect only where this package is used, which is in
// test worlds. The list of worlds is the only thing about them in the real store.
//
// Start reading at Trick.
package testmode

import (
	"context"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/rowsum"
)

// Use writes into the real store that a workspace's world is used, and lists it if it is new.
// most bounds how many worlds there are: for a new one beyond that, the one that was not
// used for the longest time goes, if it was not for an hour. Errors: unavailable while the
// world is removed, or when there is no room for another.
func Use(ctx context.Context, tx *db.Tx, workspaceID string, most int) error {
	n, err := tx.TestWorldCount(ctx, workspaceID)
	if err != nil {
		return fmt.Errorf("count test worlds: %w", err)
	}
	if n >= int64(most) {
		if err := makeRoom(ctx, tx, workspaceID); err != nil {
			return err
		}
	}
	row := query.TestWorld{WorkspaceID: workspaceID, CreatedAt: tx.Now, UsedAt: tx.Now}
	row.RowSum = rows.Of(row)
	used := int64(0)
	if err = tx.TestWorldAdd(ctx, query.TestWorldAddParams(row)); err == nil {
		row, err = tx.TestWorldUse(ctx, query.TestWorldUseParams{WorkspaceID: workspaceID, Now: tx.Now})
		used, err = rows.Changed(ctx, tx, row, err)
	}
	if err != nil {
		return fmt.Errorf("note the use of a test world: %w", err)
	}
	if used == 0 {
		return fault.New(fault.Unavailable, "The workspace's test world is being removed. A new one will replace it.").After(removedAfter)
	}
	return nil
}

// Existing is Use for a world that is there. Errors: unavailable while it is removed;
// route_not_found without one.
func Existing(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if _, err := tx.TestWorldGet(ctx, workspaceID); db.IsNotFound(err) {
		return fault.New(fault.RouteNotFound, "There is no such test world.")
	} else if err != nil {
		return fmt.Errorf("look up test world: %w", err)
	}
	return Use(ctx, tx, workspaceID, 1<<30)
}

// makeRoom ends the world that was not used for the longest time, unless the workspace has
// one already, which needs no room.
func makeRoom(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if _, err := tx.TestWorldGet(ctx, workspaceID); !db.IsNotFound(err) {
		return err
	}
	oldest, err := tx.TestWorldOldest(ctx)
	if db.IsNotFound(err) || (err == nil && tx.Now-oldest.UsedAt < leastUnused.Microseconds()) {
		return fault.New(fault.Unavailable, "Test mode is full: many workspaces are using it.").After(time.Minute)
	}
	if err != nil {
		return fmt.Errorf("find a test world to remove: %w", err)
	}
	return End(ctx, tx, oldest.WorkspaceID)
}

const (
	// leastUnused is how long a world that makes room for another was not used.
	leastUnused = time.Hour
	// removedAfter is how long after its end a world is removed: by then every process has
	// looked, and none has it open.
	removedAfter = 3 * time.Minute
)

// End ends a workspace's world, if it has one. It cannot be opened from now on, and its
// store is removed some minutes later.
func End(ctx context.Context, tx *db.Tx, workspaceID string) error {
	row, err := tx.TestWorldEnd(ctx, query.TestWorldEndParams{Now: tx.Now, WorkspaceID: workspaceID})
	if _, err = rows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("end test world: %w", err)
	}
	return nil
}

// EndUnused ends worlds that were unused for so long, at most a hundred.
func EndUnused(ctx context.Context, tx *db.Tx, keep time.Duration) error {
	unused, err := tx.TestWorldsUnused(ctx, tx.Now-keep.Microseconds())
	if err != nil {
		return fmt.Errorf("find unused test worlds: %w", err)
	}
	for _, workspaceID := range unused {
		if err := End(ctx, tx, workspaceID); err != nil {
			return err
		}
	}
	return nil
}

// Ended lists workspaces whose ended worlds can be removed now.
func Ended(ctx context.Context, tx *db.Tx) ([]string, error) {
	found, err := tx.TestWorldsEnded(ctx, tx.Now-removedAfter.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("list ended test worlds: %w", err)
	}
	return found, nil
}

// Removed forgets an ended world whose store is gone.
func Removed(ctx context.Context, tx *db.Tx, workspaceID string) error {
	if err := tx.TestWorldRemove(ctx, workspaceID); err != nil {
		return fmt.Errorf("forget test world: %w", err)
	}
	return nil
}

// Lives reports whether a workspace's world is listed and has not ended.
func Lives(ctx context.Context, tx *db.Tx, workspaceID string) (bool, error) {
	w, err := tx.TestWorldGet(ctx, workspaceID)
	if db.IsNotFound(err) {
		return false, nil
	}
	return err == nil && w.EndedAt == 0, err
}

// World is a workspace's test world as an operator sees it. EndedAt is nil of one that is kept.
type World struct {
	WorkspaceID string     `json:"workspace_id"`
	CreatedAt   time.Time  `json:"created_at"`
	UsedAt      time.Time  `json:"used_at"`
	EndedAt     *time.Time `json:"ended_at"`
}

// Worlds lists every world, the one that was used last first.
func Worlds(ctx context.Context, tx *db.Tx) ([]World, error) {
	worlds := []World{}
	for last := ""; ; {
		page, err := tx.TestWorldsAfter(ctx, last)
		if err != nil {
			return nil, fmt.Errorf("list test worlds: %w", err)
		}
		for _, row := range page {
			w := World{row.WorkspaceID, db.Time(row.CreatedAt), db.Time(row.UsedAt), db.OptionalTime(row.EndedAt)}
			worlds, last = append(worlds, w), row.WorkspaceID
		}
		if len(page) == 0 {
			slices.SortFunc(worlds, func(a, b World) int { return b.UsedAt.Compare(a.UsedAt) })
			return worlds, nil
		}
	}
}

// rows carry checksums: who has a world cannot be derived from anything else.
var rows = rowsum.Table[query.TestWorld]{Name: "test_world", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows}

// Audit reports worlds that are not as they were listed. An error means that the audit did
// not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	return rows.Audit(ctx, tx, breach, nil)
}
