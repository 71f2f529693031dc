package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/dispatch"
)

// ListRequest selects a page of a workspace's jobs. Limit is 1 to 200 (decisions 5);
// the door checks it.
type ListRequest struct {
	WorkspaceID string
	Status      Status // "" means any
	Filter      Filter // ListAll does not read it
	Before      string // the page starts after this job id; "" means at the newest
	Limit       int
}

// List reads a page of a workspace's jobs, newest first, and reports whether older ones
// follow. Pages never skip or repeat a job that existed when the first page was read,
// because ids only grow. The number of statements does not depend on Limit. Error:
// invalid_request for a filter that cannot be read.
func (j *Jobs) List(ctx context.Context, r ListRequest) (page []Object, more bool, err error) {
	wanted, err := r.search()
	if err != nil {
		return nil, false, err
	}
	err = j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		var ids []string
		ratelimit.Work(ctx, func() { ids, err = wanted.page(ctx, tx) }) // a search reads the texts of all jobs
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		views, err := viewsOf(ctx, tx, ids...)
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		// One row more than the page was read, only to learn whether another page
		// follows.
		if more = len(views) > r.Limit; more {
			views = views[:r.Limit]
		}
		around, err := j.surround(ctx, tx, views)
		if err == nil {
			around.accepted, err = acceptedOf(ctx, tx, r.WorkspaceID, views)
		}
		if err != nil {
			return err
		}
		page = make([]Object, 0, len(views))
		for _, view := range views {
			page = append(page, j.show(view, around, tx.Time()))
		}
		return nil
	})
	return page, more, err
}

// Newer returns the Before of the page that ends where the page of a request begins, and "" where
// that is the first page, or this one is. Error: as List's.
func (j *Jobs) Newer(ctx context.Context, r ListRequest) (before string, err error) {
	wanted, err := r.search()
	if err != nil || r.Before == "" {
		return "", err
	}
	err = j.DB.Read(ctx, func(tx *db.Tx) (err error) {
		ratelimit.Work(ctx, func() { before, err = wanted.newer(ctx, tx) })
		if err != nil {
			return fmt.Errorf("find the page of newer jobs: %w", err)
		}
		return nil
	})
	return before, err
}

// viewsOf reads jobs as they are now, the newest first.
func viewsOf(ctx context.Context, tx *db.Tx, ids ...string) ([]query.JobViewsRow, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := jsonOf(ids)
	if err != nil {
		return nil, err
	}
	return tx.JobViews(ctx, query.JobViewsParams{Ids: list, Queue: dispatch.FrameQueue})
}

// Filenames reads the names of the files of a workspace's jobs, by job. An id of no job has none.
func Filenames(ctx context.Context, tx *db.Tx, workspaceID string, ids []string) (map[string]string, error) {
	names := map[string]string{}
	if len(ids) == 0 {
		return names, nil
	}
	list, err := jsonOf(ids)
	if err != nil {
		return nil, err
	}
	rows, err := tx.JobFilenames(ctx, query.JobFilenamesParams{WorkspaceID: workspaceID, Ids: list})
	if err != nil {
		return nil, fmt.Errorf("read the names of jobs: %w", err)
	}
	for _, r := range rows {
		names[r.JobID] = r.Filename
	}
	return names, nil
}

// Needing lists the jobs of a workspace that need a person: those that failed, and those
// that wait for their submit, made within a time, the newest first, and at most most.
func (j *Jobs) Needing(ctx context.Context, workspaceID string, within time.Duration, most int) (all []Object, err error) {
	err = j.DB.Read(ctx, func(tx *db.Tx) error {
		ids, err := tx.JobsNeeding(ctx, query.JobsNeedingParams{WorkspaceID: workspaceID, Since: tx.Now - within.Microseconds(), Max: int64(most)})
		if err != nil {
			return fmt.Errorf("list jobs that need a person: %w", err)
		}
		all = nil
		for _, id := range ids {
			o, err := j.Object(ctx, tx, id)
			if err != nil {
				return err
			}
			all = append(all, o)
		}
		return nil
	})
	return all, err
}

// acceptedOf reads the times of the last frames of a page's rendering jobs, newest
// first: one statement, however many jobs the page has.
func acceptedOf(ctx context.Context, tx *db.Tx, workspaceID string, page []query.JobViewsRow) (map[string][]acceptedFrame, error) {
	if !slices.ContainsFunc(page, foreseeable) {
		return nil, nil
	}
	rows, err := tx.FrameTimesOfPage(ctx, query.FrameTimesOfPageParams{
		WorkspaceID: workspaceID, Oldest: page[len(page)-1].Job.JobID, Newest: page[0].Job.JobID, Max: dispatch.ETAFrames,
	})
	if err != nil {
		return nil, fmt.Errorf("read the times of frames: %w", err)
	}
	frames := map[string][]acceptedFrame{}
	for _, row := range rows {
		frames[row.JobID] = append(frames[row.JobID], acceptedAt(row.AcceptedAt, row.RenderUs))
	}
	return frames, nil
}

// Summary is a job as the operator's list shows it.
type Summary struct {
	JobID           string    `json:"job_id"`
	WorkspaceID     string    `json:"workspace_id"`
	Status          Status    `json:"status"`
	Filename        string    `json:"filename"`
	FrameCount      int64     `json:"frame_count"`
	FramesCompleted int64     `json:"frames_completed"`
	PriceCents      int64     `json:"price_cents"`
	ChargedCents    int64     `json:"charged_cents"`
	FailureCode     string    `json:"failure_code"` // "" unless it failed
	CreatedAt       time.Time `json:"created_at"`
	UpdatedAt       time.Time `json:"updated_at"`
}

// ListAll reads a page of the jobs of all workspaces, or of one, the newest first.
func ListAll(ctx context.Context, tx *db.Tx, r ListRequest) ([]Summary, error) {
	before := cmp.Or(r.Before, id.Behind(id.Job))
	rows, err := tx.JobsOfAll(ctx, query.JobsOfAllParams{WorkspaceID: r.WorkspaceID, Status: string(r.Status), Before: before, Max: int64(r.Limit)})
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	out := make([]Summary, 0, len(rows))
	for _, j := range rows {
		out = append(out, Summary{
			j.JobID, j.WorkspaceID, Status(j.Status), j.Filename, j.FrameCount, j.FramesCompleted, j.PriceCents, j.ChargedCents,
			j.FailureCode, db.Time(j.CreatedAt), db.Time(j.UpdatedAt),
		})
	}
	return out, nil
}

// NewerOfAll returns the Before of the page that ends where a page of ListAll begins, and "" where
// that is the first page, or this one is.
func NewerOfAll(ctx context.Context, tx *db.Tx, r ListRequest) (string, error) {
	if r.Before == "" {
		return "", nil
	}
	found, err := db.OrEmpty(tx.JobsOfAllNewer(ctx, query.JobsOfAllNewerParams{WorkspaceID: r.WorkspaceID, Status: string(r.Status), Before: r.Before, Max: int64(r.Limit)}))
	if err != nil {
		return "", fmt.Errorf("find the page of newer jobs: %w", err)
	}
	return found, nil
}
