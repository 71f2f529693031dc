package watch

import (
	"context"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
)

// FramePreview is a small picture of an accepted frame.
type FramePreview struct {
	JobID       string `json:"job_id"`
	Frame       int    `json:"frame"`
	ContentType string `json:"content_type"` // "image/jpeg"
	Data        []byte `json:"data"`         // base64 on the wire
}

// Bounds of previews in a stream.
const (
	streamSide = 320 // pixels of the longer side
	// recentPreviews is the number of newest frames whose previews a new or returning
	// watcher gets, and the most that wait when frames arrive faster than previews.
	recentPreviews = 24
)

// queuePreviews queues frames for their previews, if any watcher wants previews.
// When frames come faster than previews, the oldest waiting ones are left out: a watcher
// wants to see where the job is.
func (f *feed) queuePreviews(frames []row) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.previewWatchers == 0 || len(frames) == 0 {
		return
	}
	f.waiting = append(f.waiting, frames...)
	f.waiting = f.waiting[max(0, len(f.waiting)-recentPreviews):]
	f.wakePreviews()
}

// close says that no more frames will come: makePreviews ends when none wait.
// It may be called more than once.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
	f.wakePreviews()
}

// wakePreviews never blocks: one token in the channel is enough for any number of frames.
func (f *feed) wakePreviews() {
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// makePreviews makes the waiting previews in order until the feed is closed or ctx ends.
// It uses at most half a processor: rendering and requests come first.
func (f *feed) makePreviews(ctx context.Context) {
	var free time.Time // the end of a pause as long as the last preview took
	for {
		frame, ok := f.nextPreview(ctx)
		if !ok || sleep(ctx, time.Until(free)) != nil {
			return
		}
		began := time.Now()
		if e, err := f.preview(ctx, frame); err == nil && e != nil {
			f.publish(e)
		}
		free = time.Now().Add(time.Since(began))
	}
}

// nextPreview waits for a frame; ok is false when the feed is closed and none waits, or
// ctx has ended.
func (f *feed) nextPreview(ctx context.Context) (frame row, ok bool) {
	for {
		f.mu.Lock()
		if len(f.waiting) > 0 {
			frame, f.waiting = f.waiting[0], f.waiting[1:]
			f.mu.Unlock()
			return frame, true
		}
		closing := f.closing
		f.mu.Unlock()
		if closing {
			return frame, false
		}
		select {
		case <-f.more:
		case <-ctx.Done():
			return frame, false
		}
	}
}

// preview returns the preview of a frame, made once for all watchers; nil if none can be
// made. Only the end of ctx is an error: a preview is never worth a broken stream.
// The budget is charged outside of making, because dropping a preview takes that lock.
func (f *feed) preview(ctx context.Context, frame row) (*Event, error) {
	e, isNew, err := f.makePreview(ctx, frame)
	if isNew && e != nil {
		f.reader.feeds.previews.keep(f, e, previewBytes)
	}
	return e, err
}

// makePreview returns the preview of a frame, and whether this call made it.
func (f *feed) makePreview(ctx context.Context, frame row) (e *Event, isNew bool, err error) {
	f.making.Lock()
	defer f.making.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if e, ok := f.made[frame.Seq]; ok {
		return e, false, nil
	}
	e, err = f.reader.previewEvent(ctx, frame)
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if fault.Of(err) == fault.Internal {
			f.reader.Log.Warn("no preview can be made", "job_id", f.jobID, "frame", frame.Frame, "err", err)
		}
	}
	// Also a nil: a picture that cannot be decoded is not decoded again for each watcher.
	f.made[frame.Seq] = e
	f.forget()
	return e, true, nil
}

// forget drops all but the newest previews, which returning watchers get. The caller holds
// making.
func (f *feed) forget() {
	for len(f.made) > recentPreviews {
		oldest := int64(afterEverySeq)
		for seq := range f.made {
			oldest = min(oldest, seq)
		}
		delete(f.made, oldest)
	}
}

// previewEvent makes a preview from a file or the ZIP. Its Seq is the frame's, which
// orders it for the cursor. Errors: those of Preview.JPEG.
func (r *Reader) previewEvent(ctx context.Context, frame row) (*Event, error) {
	var record job.Record
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		record, err = job.Read(ctx, tx, frame.JobID)
		return err
	})
	if err != nil {
		return nil, err
	}
	picture, err := r.picture(ctx, record, pictured{row: frame}, streamSide)
	if err != nil {
		return nil, err
	}
	return newEvent(PreviewEvent, frame.Seq, FramePreview{JobID: frame.JobID, Frame: int(frame.Frame), ContentType: "image/jpeg", Data: picture})
}
