package split

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/seam"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// judge compares the rows at each cut of a frame whose strips are all in. Where they differ,
// other workers render once more, with more rows of the neighbours; then the frame is rendered
// whole. A strip that agrees in the end says whose strip before it was wrong.
func (c *Cuts) judge(ctx context.Context, tx *db.Tx, record job.Record, frame int64, rows []query.Strip) error {
	doubtful := disagreeing(rows)
	if len(doubtful) == 0 {
		return c.nameFaulty(ctx, tx, record, frame, rows)
	}
	avoid := map[int]string{}
	for _, part := range doubtful {
		if rows[part].Doubted != "" {
			return c.giveUp(ctx, tx, record, frame, rows, fault.FrameCheckFailed, "Its strips do not agree at a cut.")
		}
		avoid[part] = avoiding(rows[part].Avoid, rows[part].WorkerID)
		for _, next := range []int{part - 1, part + 1} {
			if next >= 0 && next < len(rows) && !agree(rows, min(part, next)) {
				avoid[part] = avoiding(avoid[part], rows[next].WorkerID)
			}
		}
		n, err := workersFor(ctx, tx, record.JobID, rows[part].Class, avoid[part])
		if err != nil {
			return err
		}
		if n.Online == 0 {
			return c.giveUp(ctx, tx, record, frame, rows, fault.FrameCheckFailed, "Its strips do not agree at a cut, and no other worker is there.")
		}
	}
	c.Log.Warn("strips of a frame do not agree at a cut, and are rendered once more", "job_id", record.JobID, "frame", frame, "strips", doubtful)
	for _, part := range doubtful {
		if err := c.doubt(ctx, tx, rows[part], avoid[part]); err != nil {
			return err
		}
	}
	return nil
}

// agree reports whether two neighbours show the same rows at the cut below a strip.
func agree(rows []query.Strip, part int) bool {
	return seam.Agree(rows[part].SeamBelow, rows[part+1].SeamAbove)
}

// disagreeing lists the strips that are to be rendered once more: one that agrees with no
// neighbour of two, otherwise both of a cut.
func disagreeing(rows []query.Strip) (parts []int) {
	lonely := func(part int) bool {
		return part > 0 && part < len(rows)-1 && !agree(rows, part-1) && !agree(rows, part)
	}
	add := func(part int) {
		if len(parts) == 0 || parts[len(parts)-1] < part {
			parts = append(parts, part)
		}
	}
	for cut := range len(rows) - 1 {
		if agree(rows, cut) {
			continue
		}
		above, below := lonely(cut), lonely(cut+1)
		if above || !below {
			add(cut)
		}
		if below || !above {
			add(cut + 1)
		}
	}
	return parts
}

// doubt queues a delivered strip again.
func (c *Cuts) doubt(ctx context.Context, tx *db.Tx, r query.Strip, avoid string) error {
	row, err := tx.StripDoubted(ctx, query.StripDoubtedParams{JobID: r.JobID, Frame: r.Frame, Part: r.Part, Avoid: avoid, Overlap: strips.OverlapWide})
	if _, err := stripRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("doubt a strip: %w", err)
	}
	deleteAll(ctx, tx, c.Blobs, []query.Strip{r})
	return lease.Reopen(ctx, tx, dispatch.StripQueue, r.JobID, itemOf(r.Frame, r.Part), r.Attempt)
}

// nameFaulty compares strips that agree with those that were rendered before them. With adaptive
// sampling, rows may differ by what else was rendered, and the last bits of Blender's numbers differ
// now and then where processors are busy (docs/stills.md): neither is a worker's fault, so nobody is
// blamed.
func (c *Cuts) nameFaulty(ctx context.Context, tx *db.Tx, record job.Record, frame int64, rows []query.Strip) error {
	var compared []dispatch.Compared
	for _, r := range rows {
		if r.Doubted == "" {
			continue
		}
		compared = append(compared,
			dispatch.Compared{WorkerID: r.Doubted, KeyID: r.DoubtedKey, Confirmed: seam.Agree(r.DoubtedAbove, r.SeamAbove) && seam.Agree(r.DoubtedBelow, r.SeamBelow)},
			dispatch.Compared{WorkerID: r.WorkerID, KeyID: r.KeyID, Confirmed: true})
	}
	if compared == nil {
		return nil
	}
	scene, err := job.SceneOf(ctx, tx, record.JobID)
	if err != nil || scene.StripOverlap != strips.Overlap {
		return err
	}
	worker, err := tx.WorkerGet(ctx, rows[0].WorkerID)
	if err != nil || worker.Renderer == contract.RendererID {
		return err
	}
	return c.Workers.RecordCompared(ctx, tx, record.JobID, frame, compared)
}

// giveUp ends a cut for the reason that code and why say: the frame waits again, and is rendered
// whole.
func (c *Cuts) giveUp(ctx context.Context, tx *db.Tx, record job.Record, frame int64, rows []query.Strip, code fault.Code, why string) error {
	if err := c.drop(ctx, tx, record.JobID, frame, rows); err != nil {
		return err
	}
	c.Log.Warn("frame is rendered whole after all", "job_id", record.JobID, "workspace_id", record.WorkspaceID, "frame", frame, "reason", why)
	held, err := tx.LeaseGet(ctx, frameLease(record.JobID, frame))
	if db.IsNotFound(err) || (err == nil && held.Holder != holder) {
		return nil // a worker has it
	}
	if err != nil {
		return fmt.Errorf("read lease: %w", err)
	}
	ref := lease.Ref{ID: held.LeaseID, Holder: holder, Attempt: held.Attempt}
	// A frame with a failure is not cut again.
	if _, err := lease.Fail(ctx, tx, ref, string(code), why, 0); err != nil {
		return err
	}
	return dispatch.RecordRelease(ctx, tx, job.ForDispatch(record))
}

// drop deletes the strips of a frame, and their leases.
func (c *Cuts) drop(ctx context.Context, tx *db.Tx, jobID string, frame int64, rows []query.Strip) error {
	for _, r := range rows {
		if err := lease.Remove(ctx, tx, dispatch.StripQueue, jobID, itemOf(frame, r.Part)); err != nil {
			return err
		}
	}
	deleteAll(ctx, tx, c.Blobs, rows)
	if err := tx.StripsDrop(ctx, query.StripsDropParams{JobID: jobID, Frame: frame}); err != nil {
		return fmt.Errorf("drop strips: %w", err)
	}
	return nil
}

// Close ends the cut of a frame that has just been accepted. Its strips stay, without their
// bytes, if the frame was joined of them; otherwise it was rendered whole.
func (c *Cuts) Close(ctx context.Context, tx *db.Tx, _ lease.Ref, jobID string, frame int, joined bool) error {
	rows, err := rowsOf(ctx, tx, jobID, int64(frame))
	if err != nil || len(rows) == 0 {
		return err
	}
	if !joined || !complete(rows) {
		return c.drop(ctx, tx, jobID, int64(frame), rows)
	}
	closed, err := tx.StripsClose(ctx, query.StripsCloseParams{JobID: jobID, Frame: int64(frame)})
	if err != nil {
		return fmt.Errorf("close strips: %w", err)
	}
	for _, r := range closed {
		if err := stripRows.Renew(ctx, tx, r); err != nil {
			return err
		}
	}
	deleteAll(ctx, tx, c.Blobs, rows)
	return nil
}

// Reopen forgets the strips of an accepted frame that is rendered once more.
func (c *Cuts) Reopen(ctx context.Context, tx *db.Tx, jobID string, frame int64) error {
	rows, err := rowsOf(ctx, tx, jobID, frame)
	if err != nil || len(rows) == 0 {
		return err
	}
	return c.drop(ctx, tx, jobID, frame, rows)
}
