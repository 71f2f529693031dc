package split

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
)

// Delivery is a strip as a worker delivers it.
type Delivery struct {
	Lease      lease.Ref
	KeyID      string // the worker's node key
	Width      int
	Height     int    // of the rows that it shows
	SHA256     string // of its bytes
	SizeBytes  int64
	RenderTime time.Duration
}

// Receive takes in a strip whose bytes are read from file. Repeating it succeeds and changes
// nothing. Errors: lease_lost; frame_rejected, after which the attempt has failed.
func (c *Cuts) Receive(ctx context.Context, d Delivery, file io.Reader) error {
	jobID, item, ok := parse(d.Lease.ID)
	if !ok {
		return leaseLost(d.Lease.ID)
	}
	s, width, known, err := c.admit(ctx, d, jobID, item)
	if err != nil || known {
		return err
	}
	if wrong := d.check(s, width); wrong != "" {
		return c.refuse(ctx, d.Lease, "%s.", wrong)
	}
	frame, part := placeOf(item)
	// The folder is that of the job's frames, which is removed when the job ends.
	key := fmt.Sprintf("frames/%s/%s-strip_%04d_%d", jobID, id.New(""), frame, part)
	kept := false
	err = c.store(ctx, d, key, file)
	if err == nil {
		s, err = c.look(ctx, d, s, key)
	}
	if err == nil {
		err = c.DB.Write(ctx, func(tx *db.Tx) error {
			kept = false
			err := c.accept(ctx, tx, d, s, jobID, frame, key)
			kept = err == nil
			return err
		})
	}
	if !kept && !errors.Is(err, db.ErrUnknown) {
		_ = c.Blobs.Delete(context.WithoutCancel(ctx), key) // the sweep removes what a failed delete leaves
	}
	if errors.Is(err, lease.ErrLost) || db.IsNotFound(err) {
		return leaseLost(d.Lease.ID)
	}
	return err
}

// admit checks that a worker may deliver a strip. known: it has done so, and its answer was lost.
func (c *Cuts) admit(ctx context.Context, d Delivery, jobID string, item int64) (s Strip, width int, known bool, err error) {
	frame, part := placeOf(item)
	err = c.DB.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.StripGet(ctx, query.StripGetParams{JobID: jobID, Frame: frame, Part: part})
		if err != nil {
			return err
		}
		s = stripOf(row)
		if known = row.WorkerID == d.Lease.Holder && row.Attempt == d.Lease.Attempt && row.Sha256 == d.SHA256; known {
			return nil
		}
		scene, err := job.SceneOf(ctx, tx, jobID)
		if err != nil {
			return err
		}
		width = scene.FrameWidth
		return lease.Check(ctx, tx, d.Lease)
	})
	if errors.Is(err, lease.ErrLost) || db.IsNotFound(err) {
		err = leaseLost(d.Lease.ID)
	}
	return s, width, known, err
}

// check says what in a description cannot be; "" for nothing.
func (d Delivery) check(s Strip, width int) string {
	switch {
	case d.Height != s.Shown().Height() || d.Width != width:
		return fmt.Sprintf("The strip is %dx%d, not %dx%d", d.Width, d.Height, width, s.Shown().Height())
	case d.SizeBytes < 1 || d.SizeBytes > mostStripBytes:
		return fmt.Sprintf("The strip has %d bytes", d.SizeBytes)
	}
	return ""
}

// refuse fails the attempt that delivered a strip. It always returns an error: frame_rejected
// when the attempt has failed, lease_lost otherwise.
func (c *Cuts) refuse(ctx context.Context, ref lease.Ref, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if err := c.Fail(ctx, ref, framecheck.Failure{Code: fault.FrameCheckFailed, Message: message}); err != nil {
		return err
	}
	return fault.New(fault.FrameRejected, "%s", message)
}

// store writes the bytes of a strip and compares them with their description. A connection that
// breaks off ends no attempt: the worker can send again.
func (c *Cuts) store(ctx context.Context, d Delivery, key string, file io.Reader) error {
	w, err := c.Blobs.Create(ctx, key)
	if err != nil {
		return fmt.Errorf("store strip: %w", err)
	}
	defer w.Abort()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(file, d.SizeBytes+1))
	if db.IsFull(err) {
		return fmt.Errorf("store strip: %w", err)
	}
	if err != nil {
		return fault.New(fault.FrameRejected, "The strip ended early, after %d bytes.", n).Wrap(err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); n != d.SizeBytes || got != d.SHA256 {
		return c.refuse(ctx, d.Lease, "The strip has %d bytes and the hash %s, not the described %d and %s.", n, got, d.SizeBytes, d.SHA256)
	}
	if err := w.Commit(); err != nil {
		return fmt.Errorf("store strip: %w", err)
	}
	return nil
}

// look reads a stored strip, whole. It must be of its size, and its rows at the cuts are hashed.
func (c *Cuts) look(ctx context.Context, d Delivery, s Strip, key string) (Strip, error) {
	if c.Hold != nil {
		done, err := c.Hold(ctx, strips.MaxMemory)
		if err != nil {
			return s, err
		}
		defer done()
	}
	var wrong error
	for _, seam := range []struct {
		cut  int
		hash *string
	}{{s.Rows.To, &s.Below}, {s.Rows.From, &s.Above}} {
		if seam.cut == 0 || seam.cut == s.Height {
			continue
		}
		file, err := c.Blobs.Open(ctx, key)
		if err != nil {
			return s, fmt.Errorf("open strip: %w", err)
		}
		*seam.hash, err = strips.Strip{Rows: s.Rows, Held: s.Shown(), GPU: s.GPU}.SeamIn(reading{file, ctx}, d.Width, seam.cut)
		wrong = errors.Join(wrong, err)
		_ = file.Close()
	}
	if ctx.Err() != nil {
		return s, ctx.Err()
	}
	if wrong != nil {
		return s, c.refuse(ctx, d.Lease, "The strip could not be read: %v.", wrong)
	}
	return s, nil
}

// reading ends with its context.
type reading struct {
	io.Reader
	ctx context.Context
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// accept counts a strip. The last one of a frame decides whether they agree.
func (c *Cuts) accept(ctx context.Context, tx *db.Tx, d Delivery, s Strip, jobID string, frame int64, key string) error {
	record, err := job.Lock(ctx, tx, jobID) // two strips that come at once see each other
	if err != nil {
		return err
	}
	if job.Status(record.Status) != job.Rendering {
		return lease.ErrLost
	}
	if err := lease.Finish(ctx, tx, d.Lease); err != nil {
		return err
	}
	row, err := tx.StripDelivered(ctx, query.StripDeliveredParams{
		JobID: jobID, Frame: frame, Part: int64(s.Part), WorkerID: d.Lease.Holder, KeyID: d.KeyID, Attempt: d.Lease.Attempt, BlobKey: key, Sha256: d.SHA256, SizeBytes: d.SizeBytes,
		SeamAbove: s.Above, SeamBelow: s.Below, RenderUs: d.RenderTime.Microseconds(), DeliveredAt: tx.Now,
	})
	if _, err := stripRows.Changed(ctx, tx, row, err); err != nil {
		return fmt.Errorf("accept strip: %w", err)
	}
	rows, err := rowsOf(ctx, tx, jobID, frame)
	if err != nil {
		return err
	}
	if err := c.beatFrame(ctx, tx, jobID, frame, rows); err != nil {
		return err
	}
	if !complete(rows) {
		return nil
	}
	tx.Announce(lease.Topic(dispatch.FrameQueue)) // one is to be finished, or waits again
	return c.judge(ctx, tx, record, frame, rows)
}

// beatFrame keeps the lease of a frame that the service holds, and shows how much of it is in.
func (c *Cuts) beatFrame(ctx context.Context, tx *db.Tx, jobID string, frame int64, rows []query.Strip) error {
	held, err := tx.LeaseGet(ctx, frameLease(jobID, frame))
	if err != nil || held.Holder != holder {
		if db.IsNotFound(err) {
			err = nil
		}
		return err
	}
	in, all := int64(0), int64(1)
	for _, r := range rows {
		if all = r.Height; r.DeliveredAt != 0 {
			in += r.RowTo - r.RowFrom
		}
	}
	err = lease.Beat(ctx, tx, lease.Ref{ID: held.LeaseID, Holder: holder, Attempt: held.Attempt}, float64(in)/float64(all), c.LeaseLife)
	if errors.Is(err, lease.ErrLost) {
		return nil
	}
	tx.Announce(job.ProgressTopic(jobID))
	return err
}

// deleteAll removes the bytes of strips once the transaction has committed. What stays goes with
// the job's frames.
func deleteAll(ctx context.Context, tx *db.Tx, blobs blob.Store, rows []query.Strip) {
	for _, r := range rows {
		if r.BlobKey != "" {
			tx.AfterCommit(func() { _ = blobs.Delete(context.WithoutCancel(ctx), r.BlobKey) })
		}
	}
}
