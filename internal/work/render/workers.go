package render

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// WorkerState says what a worker is up to.
type WorkerState string

// States of a worker.
const (
	WorkerOffline   WorkerState = "offline"   // not heard for WorkerOnline
	WorkerSetAside  WorkerState = "set_aside" // it failed what others rendered; it gets no frames for a while
	WorkerRendering WorkerState = "rendering"
	WorkerIdle      WorkerState = "idle"
)

// WorkerView is a worker as the operator sees it.
type WorkerView struct {
	WorkerID       string      `json:"worker_id"`
	Name           string      `json:"name"`
	State          WorkerState `json:"state"`
	AsideUntil     *time.Time  `json:"aside_until"` // null unless it is set aside
	Frames         int         `json:"frames"`      // that it holds now
	Device         string      `json:"device"`
	DeviceName     string      `json:"device_name"`
	Renderer       string      `json:"renderer"`
	BlenderVersion string      `json:"blender_version"`
	Denoise        string      `json:"denoise"`
	Sandbox        string      `json:"sandbox"` // what is in force around its Blender
	RegisteredAt   time.Time   `json:"registered_at"`
	SeenAt         time.Time   `json:"seen_at"`
}

// Leave notes that a worker has stopped: it counts as offline at once, not only when
// it was not heard for WorkerOnline.
func Leave(ctx context.Context, tx *db.Tx, workerID string) error {
	long := tx.Now - WorkerOnline.Microseconds() - 1
	if err := tx.WorkerLeaves(ctx, query.WorkerLeavesParams{SeenAt: long, WorkerID: workerID}); err != nil {
		return fmt.Errorf("note that a worker left: %w", err)
	}
	return nil
}

// Workers lists the workers that were heard within the time, the latest first
// (1000 at most). A worker that starts anew is another one of the same name.
func Workers(ctx context.Context, tx *db.Tx, within time.Duration) ([]WorkerView, error) {
	rows, err := tx.WorkersSeen(ctx, tx.Now-within.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	holds, err := tx.WorkersHold(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the frames of workers: %w", err)
	}
	frames := map[string]int{}
	for _, h := range holds {
		frames[h.Holder] = int(h.Frames)
	}
	out := make([]WorkerView, 0, len(rows))
	for _, r := range rows {
		v := WorkerView{
			WorkerID: r.WorkerID, Name: r.Name, State: WorkerIdle, Frames: frames[r.WorkerID], Device: r.Device, DeviceName: r.DeviceName,
			Renderer: r.Renderer, BlenderVersion: r.BlenderVersion, Denoise: r.Denoise, Sandbox: r.Sandbox,
			RegisteredAt: db.Time(r.RegisteredAt), SeenAt: db.Time(r.SeenAt),
		}
		switch {
		case tx.Now-r.SeenAt > WorkerOnline.Microseconds():
			v.State = WorkerOffline
		case r.AsideUntil > tx.Now:
			v.State, v.AsideUntil = WorkerSetAside, moment(r.AsideUntil)
		case v.Frames > 0:
			v.State = WorkerRendering
		}
		out = append(out, v)
	}
	return out, nil
}
