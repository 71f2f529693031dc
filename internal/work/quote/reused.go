package quote

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/reuse"
)

// reused looks for the frames that a quote takes over, where that was asked. free is their
// number. A rerender takes none over: its caller wants them rendered. A scene with
// other views or previews takes none over either: their names come from the order.
func (a RequestedFrames) reused(ctx context.Context, tx *db.Tx, workspaceID string, scene Scene, s Selection, until time.Time) (text string, free int, err error) {
	if a.Reuse == nil || a.RerenderOf != "" {
		return "", 0, nil
	}
	frames := s.List
	if frames == nil {
		frames = framelist.Range{First: s.Frames.Start, Last: s.Frames.End, Step: s.Frames.Step}.List()
	}
	pictures := *a.Reuse
	if scene.Multiview || scene.EXRPreviews {
		pictures = pictures.Never("the scene writes further views or previews with it")
	}
	if len(scene.Denoising) > 0 {
		pictures = pictures.Denoised()
	}
	found, err := reuse.Find(ctx, tx, workspaceID, pictures, frames, until)
	if err != nil {
		return "", 0, err
	}
	jobs, err := found.Jobs()
	if err != nil {
		return "", 0, err
	}
	text, err = found.Text()
	return text, len(jobs), err
}

// readReused reads what a quote takes over.
func (q *Quote) readReused(text string) (err error) {
	if q.Reused, err = reuse.Read(text); err != nil || q.Reused == nil {
		return err
	}
	jobs, err := q.Reused.Jobs()
	if err != nil {
		return err
	}
	all, err := ListOf(int64(q.FrameStart), int64(q.FrameEnd), int64(q.FrameStep), int64(q.FrameCount), q.list)
	if err != nil {
		return err
	}
	var taken, rendered framelist.List
	for _, frame := range all {
		if jobs[frame] != "" {
			taken = append(taken, frame)
		} else {
			rendered = append(rendered, frame)
		}
	}
	q.ReusedFrameCount, q.ReusedFrames, q.FramesToRender = new(len(taken)), new(taken.String()), new(rendered.String())
	q.Changes = q.Reused.Changes
	return nil
}

// Paid is how many frames of a quote's row are rendered and paid. A row that cannot be read
// is an error.
func Paid(row query.Quote) (int64, error) {
	found, err := reuse.Read(row.Reused)
	if err != nil || found == nil {
		return row.FrameCount, err
	}
	jobs, err := found.Jobs()
	if err != nil {
		return 0, err
	}
	all, err := ListOf(row.FrameStart, row.FrameEnd, row.FrameStep, row.FrameCount, row.Frames)
	if err != nil {
		return 0, err
	}
	for frame := range jobs {
		if !all.Has(frame) {
			return 0, fmt.Errorf("frame %d is taken over, and not ordered", frame)
		}
	}
	return row.FrameCount - int64(len(jobs)), nil
}
