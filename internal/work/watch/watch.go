package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/work/job"
)

// Kind is what an event is about.
type Kind string

// Kinds of events.
const (
	JobEvent     Kind = "job"     // a job.Object: the job as it is now
	FrameEvent   Kind = "frame"   // a FrameAccepted
	PreviewEvent Kind = "preview" // a FramePreview
)

// Event is one change of a job. All watchers share it: it is read and encoded once, and
// must not be changed.
type Event struct {
	Kind Kind
	// Seq is the job's number of durable changes at that time. A job event repeats a
	// number when only the progress has changed.
	Seq  int64
	Data json.RawMessage // one line
	Last bool            // the job has ended: no event follows
}

// newEvent encodes the data once, for all watchers.
func newEvent(kind Kind, seq int64, data any) (*Event, error) {
	text, err := plainjson.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("write event: %w", err)
	}
	return &Event{Kind: kind, Seq: seq, Data: text}, nil
}

// FrameAccepted is the data of a FrameEvent. The members are part of the published
// interface.
type FrameAccepted struct {
	JobID         string  `json:"job_id"`
	Frame         int     `json:"frame"`
	File          string  `json:"file"`
	SHA256        string  `json:"sha256"`
	SizeBytes     int64   `json:"size_bytes"`
	Width         int     `json:"width"`
	Height        int     `json:"height"`
	RenderSeconds float64 `json:"render_seconds"`
	// FramesCompleted counts the frames accepted before and with this one.
	FramesCompleted int `json:"frames_completed"`
	// Outputs are the files of File Output nodes; absent without any.
	Outputs []Output `json:"outputs,omitempty"`
}

// Cursor is a watcher's position: it has frames and changes of the job up to Seq, and
// previews of frames up to Preview. The zero Cursor is the beginning. A caller that
// reconnects with the last cursor misses nothing and gets nothing twice, except the newest
// state of the job.
type Cursor struct{ Seq, Preview int64 }

// Watcher receives the events of a job.
type Watcher struct {
	From     Cursor // where to begin; Watch works on a copy
	Previews bool   // whether PreviewEvents are wanted
	// Send receives events in order, each with the cursor after it. It is called by one
	// goroutine at a time; an error of it ends Watch. While it blocks, other watchers
	// continue.
	Send func([]Delivery) error
	// Idle is called after idleAfter without an event, to keep a connection alive.
	Idle func() error
}

// Delivery is an event for one watcher, with the watcher's position after it.
type Delivery struct {
	*Event
	After Cursor
}

// idleAfter is the time without an event before Idle. Shorter than the idle timeouts of
// common proxies.
const idleAfter = 5 * time.Second

// Watch sends w the changes of a job after its cursor, first the past ones, then new ones.
// It blocks until the job or ctx ends. A watcher that is slower than the feed's memory
// reads the database again, and notices nothing but a delay. Errors: render_not_found,
// rate_limited before anything is sent, and those of w.
func (r *Reader) Watch(ctx context.Context, workspaceID, jobID string, w Watcher) error {
	f, leave, err := r.join(ctx, jobID, w.Previews)
	if err != nil {
		return err
	}
	defer leave()
	for {
		// The database has every change before this mark, the feed every one after it.
		// An event in both is sent once: the cursor has passed it.
		mark := f.mark()
		over, err := r.catchUp(ctx, f, workspaceID, &w)
		if err != nil || over {
			return err
		}
		if over, err = w.live(ctx, f, mark); err != nil || over {
			return err
		}
	}
}

// catchUp sends what the database has after the watcher's cursor. over means that the
// job's last event was sent. The workspace is checked here, in the same transaction as the
// read.
func (r *Reader) catchUp(ctx context.Context, f *feed, workspaceID string, w *Watcher) (over bool, err error) {
	for {
		n, err := r.readUpdate(ctx, workspaceID, f.jobID, w.From.Seq)
		if err != nil {
			return false, err
		}
		if n.job == nil { // there are more frames than one read brings
			if _, err := w.send(n.frames); err != nil {
				return false, err
			}
			continue
		}
		// The state of the job comes before the previews, which take time to make; but
		// the last event must be last.
		events := append(n.frames, n.job)
		if n.job.Last {
			events = n.frames
		}
		if _, err := w.send(events); err != nil {
			return false, err
		}
		if err := r.missedPreviews(ctx, f, w); err != nil || !n.job.Last {
			return false, err
		}
		return w.send([]*Event{n.job})
	}
}

// missedPreviews sends the newest previews that the watcher has not received. Older ones
// are available one by one. The limit is the cursor after the frames that were just sent;
// the feed brings later ones.
func (r *Reader) missedPreviews(ctx context.Context, f *feed, w *Watcher) error {
	if !w.Previews || w.From.Preview >= w.From.Seq {
		return nil
	}
	var frames []query.FramesLatestRow
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		frames, err = tx.FramesLatest(ctx, query.FramesLatestParams{JobID: f.jobID, Seq: w.From.Preview, Max: recentPreviews})
		return err
	})
	if err != nil {
		return fmt.Errorf("read frames: %w", err)
	}
	upTo := w.From.Seq
	for _, frame := range slices.Backward(frames) {
		if frame.Seq > upTo {
			break // the feed will send it
		}
		e, err := f.preview(ctx, row(frame))
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if _, err := w.send([]*Event{e}); err != nil {
			return err
		}
	}
	w.From.Preview = max(w.From.Preview, upTo)
	return nil
}

// live sends the events of the feed from mark on. It returns when the job has ended, or
// when the watcher was so slow that the feed has dropped events. It reads no row: any
// number of watchers costs the database nothing.
func (w *Watcher) live(ctx context.Context, f *feed, mark int) (over bool, err error) {
	quiet := time.NewTimer(idleAfter)
	defer quiet.Stop()
	for {
		events, grown, behind, err := f.eventsFrom(mark)
		if err != nil || behind {
			return false, err
		}
		mark += len(events)
		if over, err := w.send(events); err != nil || over {
			return over, err
		}
		if len(events) > 0 {
			quiet.Reset(idleAfter)
			continue
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-grown:
		case <-quiet.C:
			if err := w.Idle(); err != nil {
				return false, err
			}
			quiet.Reset(idleAfter)
		}
	}
}

// send sends the events that the watcher does not have yet, and moves its cursor. The
// cursor moves before Send is called: after an error Watch ends, and it is not used
// again.
func (w *Watcher) send(events []*Event) (over bool, err error) {
	var sent []Delivery
	for _, e := range events {
		if !w.wants(e) {
			continue
		}
		if e.Kind == PreviewEvent {
			w.From.Preview = e.Seq
		} else {
			w.From.Seq = e.Seq
		}
		sent = append(sent, Delivery{e, w.From})
		over = over || e.Last
	}
	if len(sent) == 0 {
		return over, nil
	}
	return over, w.Send(sent)
}

// wants compares with the cursor. A job event with the cursor's own Seq is wanted, because
// progress repeats a number.
func (w *Watcher) wants(e *Event) bool {
	switch e.Kind {
	case PreviewEvent:
		return w.Previews && e.Seq > w.From.Preview
	case FrameEvent:
		return e.Seq > w.From.Seq
	}
	return e.Seq >= w.From.Seq
}

// update is the result of one read of a job.
type update struct {
	frames []*Event
	rows   []row  // of frames
	job    *Event // nil if there are more frames to read first
	object job.Object
}

// updateBatch bounds the frames of one read. It bounds the memory of a watcher that begins
// with a long job.
const updateBatch = 500

// readUpdate reads a job of a workspace, "" for any, and its frames after seq, in one
// transaction, so that the job counts exactly the frames that were read. The events are
// encoded after the transaction, so that no lock or snapshot waits for it.
func (r *Reader) readUpdate(ctx context.Context, workspaceID, jobID string, seq int64) (n update, err error) {
	var outputs map[int64][]Output
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		n = update{}
		record, err := find(ctx, tx, workspaceID, jobID)
		if err != nil {
			return err
		}
		if record.Seq > seq {
			frames, err := tx.FramesSince(ctx, query.FramesSinceParams{JobID: jobID, Seq: seq, Max: updateBatch})
			if err != nil {
				return fmt.Errorf("read frames: %w", err)
			}
			for _, f := range frames {
				n.rows = append(n.rows, row(f))
			}
			if outputs, err = outputsSince(ctx, tx, jobID, seq, n.rows); err != nil {
				return err
			}
		}
		if len(n.rows) == updateBatch {
			return nil
		}
		if n.object, err = r.Jobs.Object(ctx, tx, jobID); err != nil {
			return err
		}
		if n.job, err = newEvent(JobEvent, record.Seq, n.object); err != nil {
			return err
		}
		n.job.Last = n.object.Status.Terminal()
		return nil
	})
	for _, f := range n.rows {
		e, encodeErr := newEvent(FrameEvent, f.Seq, FrameAccepted{
			JobID: jobID, Frame: int(f.Frame), File: f.File, SHA256: f.Sha256, SizeBytes: f.SizeBytes,
			Width: int(f.Width), Height: int(f.Height), RenderSeconds: float64(f.RenderUs) / 1e6, FramesCompleted: int(f.Ordinal), Outputs: outputs[f.Frame],
		})
		if encodeErr != nil {
			return n, encodeErr
		}
		n.frames = append(n.frames, e)
	}
	return n, err
}

// find reads a job of a workspace, or of any when workspaceID is "".
func find(ctx context.Context, tx *db.Tx, workspaceID, jobID string) (job.Record, error) {
	if workspaceID == "" {
		return job.Read(ctx, tx, jobID)
	}
	return job.Find(ctx, tx, workspaceID, jobID)
}
