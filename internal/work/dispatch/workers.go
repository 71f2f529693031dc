package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/colour"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/workertags"
)

// Workers registers workers and records their reports.
type Workers struct {
	DB  *db.DB
	Log *slog.Logger
}

// Worker is the description that a worker registered with. Nothing in it is verified:
// the frame check compares each picture with it.
type Worker struct {
	WorkerID       string // given by Register
	KeyID          string // the node key that it registered with
	Name           string
	Renderer       string // contract.RendererID or contract.SyntheticRenderer
	BlenderVersion string
	BuildHash      string
	Device         string // "GPU" or "CPU"
	DeviceName     string
	Denoise        string // what it does to scenes that ask for denoising: farmapi.DenoiseKeep and its like
	Sandbox        string // the active layers around its Blender
	Colors         colour.Offer
	Lacks          buildoption.Set // what its Blender was built without
	Strips         bool            // it renders strips of frames, and finishes frames of strips
	Tags           workertags.Set  // that workspaces may require
	Reserved       bool            // it takes nothing of workspaces that require no tag
	Rows           string          // the hash of its reference rows; "" where it has rendered none
}

// mostRegistrations bounds the rows that one node key adds within an hour.
const mostRegistrations = 10_000

// Register adds a worker and returns its id. It inherits the trust of a worker with
// the same key and name that reported within trustLife, and a pause of its key. Error:
// rate_limited.
func (w *Workers) Register(ctx context.Context, worker Worker) (workerID string, err error) {
	workerID = id.New(id.Node)
	err = w.DB.Write(ctx, func(tx *db.Tx) error {
		worker.WorkerID = workerID
		registered, err := tx.WorkersRegistered(ctx, query.WorkersRegisteredParams{Since: tx.Now - time.Hour.Microseconds(), KeyID: worker.KeyID})
		if err != nil {
			return err
		}
		if registered >= mostRegistrations {
			return fault.New(fault.RateLimited, "Workers with this node key registered %d times within an hour.", registered).After(time.Minute)
		}
		if err := AddWorker(ctx, tx, worker); err != nil {
			return err
		}
		return restoreTrust(ctx, tx, workerID, worker.KeyID, worker.Name)
	})
	if err != nil {
		return "", fmt.Errorf("register worker: %w", err)
	}
	return workerID, nil
}

// AddWorker stores a worker that has its id, seen now, with no trust but a pause of its
// key.
func AddWorker(ctx context.Context, tx *db.Tx, worker Worker) error {
	key, err := tx.KeyStanding(ctx, worker.KeyID)
	if err != nil {
		return fmt.Errorf("read the trust of a key: %w", err)
	}
	pools, err := poolsOf(ctx, tx, worker)
	if err != nil {
		return err
	}
	row, err := tx.WorkerCreate(ctx, query.WorkerCreateParams{
		WorkerID: worker.WorkerID, KeyID: worker.KeyID, Name: worker.Name, Renderer: worker.Renderer, BlenderVersion: worker.BlenderVersion, BuildHash: worker.BuildHash,
		Device: worker.Device, DeviceName: worker.DeviceName, Denoise: worker.Denoise, Kind: kindOf(worker.BlenderVersion, worker.Denoise), Sandbox: worker.Sandbox, Colors: worker.Colors.Text(), Lacks: int64(worker.Lacks), Strips: number(worker.Strips), RegisteredAt: tx.Now, SeenAt: tx.Now,
		SuspendedUntil: key.PausedUntil, Tags: worker.Tags.Text(), Reserved: number(worker.Reserved), Pools: pools, RowsSha256: worker.Rows,
	})
	if err != nil {
		return fmt.Errorf("store worker: %w", err)
	}
	return workerRows.Renew(ctx, tx, row)
}

// seenInterval is how often a report updates the row: workers report every two seconds,
// and a write for each would cost more than the report.
const seenInterval = 10 * time.Second

// Touch reads the worker that sent a report and records the time of the report, at
// most every seenInterval. Error: worker_not_registered, also for a worker of another
// key.
func (w *Workers) Touch(ctx context.Context, keyID, workerID string) (Worker, error) {
	var row query.Worker
	var stale bool
	err := w.DB.Read(ctx, func(tx *db.Tx) (err error) {
		row, err = tx.WorkerGet(ctx, workerID)
		if db.IsNotFound(err) || (err == nil && row.KeyID != keyID) {
			return fault.New(fault.WorkerNotRegistered, "This node key has no worker %q.", workerID)
		}
		if err != nil {
			return fmt.Errorf("read worker: %w", err)
		}
		stale = row.LeftAt == 0 && tx.Now-row.SeenAt > seenInterval.Microseconds()
		return nil
	})
	if err == nil && stale {
		err = w.DB.Write(ctx, func(tx *db.Tx) error {
			return tx.WorkerSeen(ctx, query.WorkerSeenParams{Now: tx.Now, WorkerID: workerID, Before: tx.Now})
		})
	}
	return Worker{
		WorkerID: row.WorkerID, KeyID: row.KeyID, Name: row.Name, Renderer: row.Renderer, BlenderVersion: row.BlenderVersion, BuildHash: row.BuildHash,
		Device: row.Device, DeviceName: row.DeviceName, Denoise: row.Denoise, Sandbox: row.Sandbox, Strips: row.Strips == 1,
	}, err
}

// MarkOffline records that a worker has stopped. It counts as offline at once, so frames
// that failed on the others do not wait WorkerOnline for it. It stays offline, because a
// call that it gave up may arrive later. A restarted worker registers again.
func (w *Workers) MarkOffline(ctx context.Context, workerID string) error {
	err := w.DB.Write(ctx, func(tx *db.Tx) error {
		return tx.WorkerMarkOffline(ctx, query.WorkerMarkOfflineParams{SeenAt: onlineSince(tx) - 1, Now: tx.Now, WorkerID: workerID})
	})
	if err != nil {
		return fmt.Errorf("mark a worker offline: %w", err)
	}
	return nil
}

// AnyOnline reports whether any worker is online and not suspended.
func AnyOnline(ctx context.Context, tx *db.Tx) (bool, error) {
	n, err := tx.WorkersOnline(ctx, query.WorkersOnlineParams{Since: onlineSince(tx), Now: tx.Now})
	if err != nil {
		return false, fmt.Errorf("count workers: %w", err)
	}
	return n > 0, nil
}

// Offer is what the workers that are online would do to a scene.
type Offer struct {
	BlenderVersion string // of all of them; "" when they differ or there is none
	Workers        int
	DenoiseOff     int // workers that render without denoising
	NoDenoiser     int // workers that refuse scenes that ask for denoising
	Colors         []OfferedColors
	Lacks          []buildoption.Set // what their Blenders were built without, each combination once
}

// OfferedColors is what the Blenders of some workers have for colour management.
type OfferedColors struct {
	colour.Offer
	Workers int
}

// Offered returns what the workers online would do to a scene of a workspace. A suspended worker
// counts: it may render again before the job begins.
func Offered(ctx context.Context, tx *db.Tx, workspaceID string) (Offer, error) {
	pools, err := RequiredPools(ctx, tx, workspaceID)
	if err != nil {
		return Offer{}, err
	}
	rows, err := tx.WorkersOffer(ctx, query.WorkersOfferParams{Since: onlineSince(tx), Pools: pools})
	if err != nil {
		return Offer{}, fmt.Errorf("read what workers offer: %w", err)
	}
	var out Offer
	versions := map[string]bool{}
	for _, r := range rows {
		out.Workers += int(r.Workers)
		switch r.Denoise {
		case farmapi.DenoiseOff:
			out.DenoiseOff += int(r.Workers)
		case farmapi.DenoiseNone:
			out.NoDenoiser += int(r.Workers)
		}
		out.BlenderVersion = r.BlenderVersion
		versions[r.BlenderVersion] = true
	}
	if len(versions) != 1 {
		out.BlenderVersion = ""
	}
	lacks, err := tx.WorkersLack(ctx, query.WorkersLackParams{Since: onlineSince(tx), Pools: pools})
	if err != nil {
		return Offer{}, fmt.Errorf("read what workers offer: %w", err)
	}
	for _, l := range lacks {
		out.Lacks = append(out.Lacks, buildoption.Set(l))
	}
	colors, err := tx.WorkersColors(ctx, query.WorkersColorsParams{Since: onlineSince(tx), Pools: pools})
	if err != nil {
		return Offer{}, fmt.Errorf("read what workers offer: %w", err)
	}
	for _, c := range colors {
		if offer := colour.Read(c.Colors); offer.Known() {
			out.Colors = append(out.Colors, OfferedColors{offer, int(c.Workers)})
		}
	}
	return out, nil
}

// BlenderVersions lists the versions of the Blenders of the workers online, sorted.
// Suspended workers count, as in Offered.
func BlenderVersions(ctx context.Context, tx *db.Tx) (versions []string, err error) {
	rows, err := tx.WorkersOffer(ctx, query.WorkersOfferParams{Since: onlineSince(tx)})
	if err != nil {
		return nil, fmt.Errorf("read what workers offer: %w", err)
	}
	for _, r := range rows {
		if r.BlenderVersion != "" {
			versions = append(versions, r.BlenderVersion)
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions), nil
}

// onlineSince is the earliest last report of an online worker, in microseconds since
// 1970.
func onlineSince(tx *db.Tx) int64 { return tx.Now - WorkerOnline.Microseconds() }

// WorkerState is what a worker is doing, as the operator sees it.
type WorkerState string

// States of a worker.
const (
	WorkerOffline   WorkerState = "offline"   // no report for WorkerOnline
	WorkerSuspended WorkerState = "set_aside" // suspended: it failed what others rendered
	WorkerUnable    WorkerState = "unable"    // it cannot work, and says why
	WorkerDraining  WorkerState = "draining"  // drained by an operator, and finishes its frames
	WorkerDrained   WorkerState = "drained"
	WorkerRendering WorkerState = "rendering"
	WorkerIdle      WorkerState = "idle"
)

// WorkerView is a worker as the operator sees it.
type WorkerView struct {
	WorkerID       string      `json:"worker_id"`
	KeyID          string      `json:"key_id"` // its node key
	Name           string      `json:"name"`
	State          WorkerState `json:"state"`
	SuspendedUntil *time.Time  `json:"aside_until"` // null unless it is suspended
	Unable         string      `json:"unable"`      // why it cannot work; empty where it can
	Frames         int         `json:"frames"`      // leases that it holds now
	Device         string      `json:"device"`
	DeviceName     string      `json:"device_name"`
	Renderer       string      `json:"renderer"`
	BlenderVersion string      `json:"blender_version"`
	Denoise        string      `json:"denoise"`
	Sandbox        string      `json:"sandbox"` // the active layers around its Blender
	// Lacks is what scenes may need that its Blender was built without; empty for
	// nothing.
	Lacks        []buildoption.Option `json:"lacks"`
	Tags         []string             `json:"tags"`
	Reserved     bool                 `json:"reserved"` // it takes nothing of workspaces that require no tag
	RegisteredAt time.Time            `json:"registered_at"`
	SeenAt       time.Time            `json:"seen_at"`
}

// ListWorkers lists the workers that reported within the time, the latest first (1000
// at most). A restarted worker is a new row with the same name.
func ListWorkers(ctx context.Context, tx *db.Tx, within time.Duration) ([]WorkerView, error) {
	rows, err := tx.WorkersSeen(ctx, tx.Now-within.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	leases, err := tx.WorkersHold(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the frames of workers: %w", err)
	}
	frames := map[string]int{}
	for _, h := range leases {
		frames[h.Holder] = int(h.Frames)
	}
	out := make([]WorkerView, 0, len(rows))
	for _, r := range rows {
		out = append(out, viewOf(r, frames[r.WorkerID], tx))
	}
	return out, nil
}

// OnlineStates are the states of a worker that is online.
func OnlineStates() []WorkerState {
	return []WorkerState{WorkerIdle, WorkerRendering, WorkerUnable, WorkerSuspended, WorkerDraining, WorkerDrained}
}

// CountOnline counts the workers that are online, by their state. A state that no worker is
// in has 0.
func CountOnline(ctx context.Context, tx *db.Tx) (map[WorkerState]int64, error) {
	rows, err := tx.WorkersByState(ctx, query.WorkersByStateParams{Drained: drained, Now: tx.Now, Since: onlineSince(tx)})
	if err != nil {
		return nil, fmt.Errorf("count workers: %w", err)
	}
	counts := map[WorkerState]int64{}
	for _, state := range OnlineStates() {
		counts[state] = 0
	}
	for _, r := range rows {
		counts[WorkerState(r.State)] = r.Workers
	}
	return counts, nil
}

// viewOf shows a worker that holds so many frames.
func viewOf(r query.Worker, frames int, tx *db.Tx) WorkerView {
	v := WorkerView{
		WorkerID: r.WorkerID, KeyID: r.KeyID, Name: r.Name, State: WorkerIdle, Unable: r.Unable, Frames: frames, Device: r.Device, DeviceName: r.DeviceName,
		Renderer: r.Renderer, BlenderVersion: r.BlenderVersion, Denoise: r.Denoise, Sandbox: r.Sandbox, Lacks: append([]buildoption.Option{}, buildoption.Set(r.Lacks).Options()...),
		Tags: workertags.Read(r.Tags), Reserved: r.Reserved == 1, RegisteredAt: db.Time(r.RegisteredAt), SeenAt: db.Time(r.SeenAt),
	}
	switch {
	case r.SeenAt < onlineSince(tx):
		v.State = WorkerOffline
	case r.SuspendedUntil == drained && frames > 0:
		v.State = WorkerDraining
	case r.SuspendedUntil == drained:
		v.State = WorkerDrained
	case r.Unable != "":
		v.State = WorkerUnable
		if until := db.Time(r.SuspendedUntil); r.SuspendedUntil > tx.Now {
			v.SuspendedUntil = &until
		}
	case r.SuspendedUntil > tx.Now:
		until := db.Time(r.SuspendedUntil)
		v.State, v.SuspendedUntil = WorkerSuspended, &until
	case frames > 0:
		v.State = WorkerRendering
	}
	return v
}
