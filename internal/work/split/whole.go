package split

import (
	"cmp"
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/strips"
	"svc.example/internal/work/job"
)

// Whole says, in a sentence for people, why one worker renders a long frame of a job. That is what
// its scene has; or, of a job without a frame that waits, what keeps other workers from it now. ""
// says nothing: its frames are short, in strips, or not being rendered.
func (c *Cuts) Whole(ctx context.Context, tx *db.Tx, record job.Record) (why string, err error) {
	if c == nil || c.Above <= 0 {
		return "", nil
	}
	if took, known := measured(record); known && took <= c.Above {
		return "", nil
	}
	long, _, err := c.expected(ctx, tx, record)
	if err != nil || long <= c.Above {
		return "", err
	}
	scene, err := job.SceneOf(ctx, tx, record.JobID)
	if err != nil {
		return "", err
	}
	if scene.StripOverlap < 1 {
		return cmp.Or(scene.WholeFrames, strips.Unproven.Text()), nil
	}
	held, err := tx.StripFrameHeld(ctx, record.JobID)
	if db.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read lease: %w", err)
	}
	if held.Failures > 0 {
		return "Its last attempt failed, so one worker renders all of it.", nil
	}
	p, err := c.plan(ctx, tx, record, lease.Lease{Item: held.Item, Holder: held.Holder})
	if len(p.cut) > 0 {
		p.why = "Other workers became free only after it was started."
	}
	return p.why, err
}
