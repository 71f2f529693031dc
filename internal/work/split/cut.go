package split

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
)

// What is assumed while nothing was measured, as shares of Above.
const (
	assumedFixed    = 24 // to open the file and to build the scene: 5 s of 2 min
	assumedTransfer = 12 // to hand out strips, collect them and finish the frame: 10 s
)

// Cut decides about a frame that a worker has just claimed. If cut is false, the worker renders
// it whole. Otherwise the worker gets what w says instead: a strip, or the frame with all its
// strips to finish. Most calls read nothing: a frame that is known to be short is never cut.
func (c *Cuts) Cut(ctx context.Context, record job.Record, l lease.Lease) (w Work, cut bool, err error) {
	if c == nil || c.Above <= 0 {
		return Work{}, false, nil
	}
	if mean, known := measured(record); l.Attempt == 1 && known && mean <= c.Above {
		return Work{}, false, nil
	}
	var p plan
	err = c.DB.Read(ctx, func(tx *db.Tx) (err error) {
		p, err = c.plan(ctx, tx, record, l)
		return err
	})
	if err != nil || p.whole() {
		if p.why != "" {
			c.Log.Info("long frame rendered whole", "job_id", record.JobID, "workspace_id", record.WorkspaceID, "frame", l.Item, "reason", p.why)
		}
		return Work{}, false, err
	}
	err = c.DB.Write(ctx, func(tx *db.Tx) (err error) {
		w, cut = Work{}, false                                            // the transaction may run again
		if p, err = c.plan(ctx, tx, record, l); err != nil || p.whole() { // it may be stale by now
			return err
		}
		w, cut, err = c.carryOut(ctx, tx, record, l, p)
		return err
	})
	if errors.Is(err, lease.ErrLost) { // the worker learns it from its first report
		return Work{}, false, nil
	}
	return w, cut && err == nil, err
}

// plan is what becomes of a claimed frame.
type plan struct {
	worker query.Worker
	scene  quote.Scene
	rows   []query.Strip // of a frame that is cut already
	cut    []strips.Rows // of one that is cut now
	why    string        // a frame that takes long is rendered whole
}

// whole reports that the worker renders the frame itself.
func (p plan) whole() bool { return len(p.rows) == 0 && len(p.cut) == 0 }

// plan writes nothing.
func (c *Cuts) plan(ctx context.Context, tx *db.Tx, record job.Record, l lease.Lease) (p plan, err error) {
	if p.worker, err = tx.WorkerGet(ctx, l.Holder); err != nil || p.worker.Strips != 1 {
		return plan{}, err
	}
	painted, err := tx.StripCandidates(ctx, query.StripCandidatesParams{JobID: record.JobID, Frame: l.Item})
	if err != nil || painted > 0 { // another worker's picture is to be compared with one of its own
		return plan{}, err
	}
	rows, err := rowsOf(ctx, tx, record.JobID, l.Item)
	if err != nil {
		return plan{}, err
	}
	if p.scene, err = job.SceneOf(ctx, tx, record.JobID); err != nil {
		return plan{}, err
	}
	if len(rows) > 0 {
		// One that failed to finish the frame may have failed by its strips.
		if (l.Failures == 0 || fault.Code(l.Code) == fault.WorkerLost) && rows[0].Class == dispatch.ClassOf(p.worker) {
			p.rows = rows
		}
		return p, nil
	}
	if l.Failures > 0 {
		return plan{}, nil
	}
	p.cut, p.why, err = c.newCut(ctx, tx, record, p)
	return p, err
}

// newCut is where a frame is cut. cut is nil where it is not; why says so of a frame that takes
// long.
func (c *Cuts) newCut(ctx context.Context, tx *db.Tx, record job.Record, p plan) (cut []strips.Rows, why string, err error) {
	whole, fixed, err := c.expected(ctx, tx, record)
	if err != nil || whole <= c.Above {
		return nil, "", err
	}
	if p.scene.StripOverlap < 1 {
		return nil, cmp.Or(p.scene.WholeFrames, strips.Unproven.Text()), nil
	}
	idle, err := idleFor(ctx, tx, record.JobID, p.worker)
	if err != nil || idle < 1 {
		return nil, "No other worker of its kind is idle.", err
	}
	// More strips than its workspace may have in workers' hands would only wait.
	if room, err := dispatch.Room(ctx, tx, record.JobID); err != nil || room < 1 {
		return nil, "Its workspace has as many frames in rendering as it may.", err
	} else if room < idle {
		idle = room
	}
	stored, err := tx.StripBytes(ctx, record.WorkspaceID)
	if err != nil {
		return nil, "", fmt.Errorf("count the bytes of strips: %w", err)
	}
	if stored > mostBytes {
		return nil, fmt.Sprintf("Its workspace has %d bytes of strips stored.", stored), nil
	}
	bands, err := c.bands(ctx, tx, record.JobID)
	if err != nil {
		return nil, "", err
	}
	for k := min(mostParts, int(idle)+1, p.scene.FrameHeight); k > 1; k-- {
		if strips.Worthwhile(whole, fixed, c.Above/assumedTransfer, k) {
			return strips.Cut(p.scene.FrameHeight, k, bands, 0), "", nil
		}
	}
	return nil, "Strips would gain too little.", nil
}

// measured is the mean time of the frames of a job that were rendered; it is not known before
// the first one.
func measured(record job.Record) (mean time.Duration, known bool) {
	in := job.ForDispatch(record)
	if in.FramesCompleted < 1 {
		return 0, false
	}
	return time.Duration(in.RenderUs/in.FramesCompleted) * time.Microsecond, true
}

// expected is how long a frame of a job takes on one worker, and how much of it each strip takes
// again. Nothing is known of a job without accepted frames and previews: it takes no time.
func (c *Cuts) expected(ctx context.Context, tx *db.Tx, record job.Record) (whole, fixed time.Duration, err error) {
	fixed = c.Above / assumedFixed
	whole, known := measured(record)
	if !known {
		us, err := tx.StripPreviewed(ctx, record.JobID)
		if err != nil {
			return 0, 0, fmt.Errorf("read the previews of %s: %w", record.JobID, err)
		}
		return time.Duration(us) * time.Microsecond, fixed, nil
	}
	text, err := tx.StripTimes(ctx, record.JobID)
	if err != nil && !db.IsNotFound(err) { // it was reopened meanwhile
		return 0, 0, fmt.Errorf("read the times of %s: %w", record.JobID, err)
	}
	// The audit finds times that cannot be read.
	if times, err := receipt.ParseTimes(text); err == nil && times.Sync > 0 {
		fixed = time.Duration((times.Load + times.Sync) * float64(time.Second))
	}
	return whole, fixed, nil
}

// bands is what the bands of a job's preview took; nil where none were measured, and strips are
// equally high.
func (c *Cuts) bands(ctx context.Context, tx *db.Tx, jobID string) (took []float64, err error) {
	text, err := tx.StripBands(ctx, jobID)
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the bands of previews of %s: %w", jobID, err)
	}
	if err := json.Unmarshal([]byte(text), &took); err != nil {
		c.Log.Warn("the bands of a preview cannot be read; strips are equally high", "job_id", jobID, "error", err)
		return nil, nil
	}
	return took, nil
}

// LongerThan is how long a frame must take to be cut; 0 cuts none.
func (c *Cuts) LongerThan() time.Duration {
	if c == nil {
		return 0
	}
	return c.Above
}

// idleFor counts the workers that could render strips with a worker and that no frame waits for.
func idleFor(ctx context.Context, tx *db.Tx, jobID string, worker query.Worker) (int64, error) {
	n, err := workersFor(ctx, tx, jobID, dispatch.ClassOf(worker), worker.WorkerID)
	if err != nil {
		return 0, err
	}
	waiting, err := tx.StripRivals(ctx)
	if err != nil {
		return 0, fmt.Errorf("count waiting frames: %w", err)
	}
	return n.Idle - waiting, nil
}

// workersFor counts the workers that may render a strip, other than some.
func workersFor(ctx context.Context, tx *db.Tx, jobID, class, avoid string) (query.StripWorkersRow, error) {
	n, err := tx.StripWorkers(ctx, query.StripWorkersParams{Since: tx.Now - dispatch.WorkerOnline.Microseconds(), Now: tx.Now, Class: class, Avoid: avoid, JobID: jobID})
	if err != nil {
		return n, fmt.Errorf("count workers for strips: %w", err)
	}
	return n, nil
}

// carryOut cuts a frame, or continues with one that is cut. The service takes the lease of a
// frame of which strips are missing. Error: lease.ErrLost.
func (c *Cuts) carryOut(ctx context.Context, tx *db.Tx, record job.Record, l lease.Lease, p plan) (w Work, cut bool, err error) {
	if complete(p.rows) {
		if err := lease.Check(ctx, tx, l.Ref()); err != nil {
			return Work{}, false, err
		}
		return finishing(record, p.scene, l, p.rows), true, nil
	}
	if _, err := handOver(ctx, tx, l.Ref(), holder, c.LeaseLife); err != nil {
		return Work{}, false, err
	}
	if len(p.cut) > 0 {
		if p.rows, err = addStrips(ctx, tx, record.JobID, l.Item, p); err != nil {
			return Work{}, false, err
		}
		tx.AfterCommit(func() {
			c.Log.Info("frame cut into strips", "job_id", record.JobID, "workspace_id", record.WorkspaceID, "frame", l.Item, "strips", len(p.cut), "worker_id", l.Holder)
		})
	}
	for _, r := range p.rows {
		claimed, err := lease.ClaimIDs(ctx, tx, []string{LeaseID(r.JobID, int(r.Frame), int(r.Part))}, l.Holder, c.LeaseLife)
		if err != nil {
			return Work{}, false, err
		}
		if len(claimed) > 0 {
			return rendering(record, p.scene, claimed[0], r), true, nil
		}
	}
	// All strips are being rendered, so the worker gets something else.
	return Work{}, true, nil
}

// handOver gives a lease to another holder. Error: lease.ErrLost.
func handOver(ctx context.Context, tx *db.Tx, from lease.Ref, to string, life time.Duration) (lease.Lease, error) {
	if err := lease.Release(ctx, tx, from, dispatch.FrameQueue); err != nil {
		return lease.Lease{}, err
	}
	claimed, err := lease.ClaimIDs(ctx, tx, []string{from.ID}, to, life)
	if err == nil && len(claimed) == 0 {
		err = lease.ErrLost
	}
	if err != nil {
		return lease.Lease{}, err
	}
	return claimed[0], nil
}

// addStrips stores where a frame is cut, and queues its strips.
func addStrips(ctx context.Context, tx *db.Tx, jobID string, frame int64, p plan) ([]query.Strip, error) {
	var items []int64
	for part, rows := range p.cut {
		row := query.StripAddParams{
			JobID: jobID, Frame: frame, Part: int64(part), Parts: int64(len(p.cut)), RowFrom: int64(rows.From), RowTo: int64(rows.To), Height: int64(p.scene.FrameHeight),
			Overlap: int64(p.scene.StripOverlap), Class: dispatch.ClassOf(p.worker), IsOpen: 1, CreatedAt: tx.Now,
		}
		row.RowSum = stripRows.Of(row)
		if err := tx.StripAdd(ctx, row); err != nil {
			return nil, fmt.Errorf("cut frame %d of %s: %w", frame, jobID, err)
		}
		items = append(items, itemOf(frame, int64(part)))
	}
	if err := lease.AddItems(ctx, tx, dispatch.StripQueue, jobID, items); err != nil {
		return nil, err
	}
	return rowsOf(ctx, tx, jobID, frame)
}

// rendering is the work of a strip.
func rendering(record job.Record, scene quote.Scene, l lease.Lease, r query.Strip) Work {
	return Work{Job: record, Scene: scene.Name, Lease: l, Frame: int(r.Frame), Strip: new(stripOf(r))}
}

// finishing is the work of a frame whose strips are in.
func finishing(record job.Record, scene quote.Scene, l lease.Lease, rows []query.Strip) Work {
	w := Work{Job: record, Scene: scene.Name, Lease: l, Frame: int(l.Item)}
	for _, r := range rows {
		w.Finish = append(w.Finish, stripOf(r))
	}
	return w
}
