package render_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
	"svc.example/internal/work/render"
	"svc.example/internal/work/wallet"
)

// world is jobs over a real database whose clock the test moves. There is no
// Blender in it: the test says what workers say.
type world struct {
	*render.Jobs
	t    *testing.T
	skew *atomic.Int64
	made int
}

// tb is what a test and a rapid check have in common.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		d := dbtest.Open(t, db.Config{URL: url, Log: log, Skew: func() time.Duration { return time.Duration(skew.Load()) }})
		w := &world{Jobs: &render.Jobs{DB: d, LeaseLife: 20 * time.Second, Log: log}, t: t, skew: &skew}
		t.Cleanup(func() { w.wantTrueTurns() })
		test(t, w)
	})
}

func (w *world) pass(d time.Duration) { w.skew.Add(int64(d)) }

func (w *world) write(t tb, do func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	ctx := context.Background()
	if err := w.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

func (w *world) read(t tb, do func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	ctx := context.Background()
	if err := w.DB.Read(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// wantTrueTurns checks that the counters of turns say what waits.
func (w *world) wantTrueTurns() {
	w.read(w.t, func(ctx context.Context, tx *db.Tx) error {
		rows, err := tx.AuditTurns(ctx)
		for _, r := range rows {
			w.t.Errorf("the turn of %s says that %d frames wait, there are %d", r.Party, r.Waiting, r.Leases)
		}
		return err
	})
}

// workspace makes one with money.
func (w *world) workspace(t tb) (workspaceID string) {
	t.Helper()
	w.made++
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, fmt.Sprintf("owner-%d@example.com", w.made))
		if err != nil {
			return err
		}
		workspaceID = p.WorkspaceID
		return wallet.Credit(ctx, tx, workspaceID, "first of "+workspaceID, 1_000_000)
	})
	return workspaceID
}

// scene is what inspect read of every upload of a world.
const scene = `{"resolution_x": 8, "resolution_y": 6, "resolution_percentage": 100, "frame_width": 8, "frame_height": 6, "output_format": "PNG"}`

// job starts frames 1 to n of an upload.
func (w *world) job(t tb, workspaceID string, n int) (jobID string) {
	t.Helper()
	upload, quote, sum := id.New(id.Upload), id.New(id.Quote), strings.Repeat("0", 64)
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.UploadCreate(ctx, query.UploadCreateParams{
			UploadID: upload, WorkspaceID: workspaceID, Filename: "a.blend", Sha256: sum, SizeBytes: 1, Scene: scene, CreatedAt: tx.Now,
		})
		if err == nil {
			_, err = project.Keep(ctx, tx, workspaceID, project.Content{SHA256: sum, SizeBytes: 1, BlobKey: "uploads/" + workspaceID})
		}
		if err == nil {
			err = project.Create(ctx, tx, workspaceID, upload, project.Lone("a.blend", sum, 1))
		}
		if err != nil {
			return err
		}
		return tx.QuoteCreate(ctx, query.QuoteCreateParams{
			QuoteID: quote, UploadID: upload, WorkspaceID: workspaceID, FrameStart: 1, FrameEnd: int64(n), FrameStep: 1, FrameCount: int64(n),
			PriceCents: int64(n), PricingVersion: "fixed-1c-v1", Qualified: 1, Warnings: "[]", CreatedAt: tx.Now, ExpiresAt: tx.Now + time.Hour.Microseconds(),
		})
	})
	o, err := w.Start(context.Background(), render.StartRequest{WorkspaceID: workspaceID, UploadID: upload, QuoteID: quote, Flow: render.FlowJobAPI})
	if err != nil {
		t.Fatal(err)
	}
	return o.JobID
}

// worker registers one.
func (w *world) worker(t tb) (workerID string) {
	t.Helper()
	workerID = id.New(id.Node)
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		key, err := identity.CreateNodeKey(ctx, tx, "test")
		if err != nil {
			return err
		}
		return tx.WorkerCreate(ctx, query.WorkerCreateParams{
			WorkerID: workerID, KeyID: key.KeyID, Name: "test", Renderer: "blender", BlenderVersion: "4.1.1", Device: "GPU", DeviceName: "a GPU", RegisteredAt: tx.Now, SeenAt: tx.Now,
		})
	})
	return workerID
}

// seen has workers heard now.
func (w *world) seen(workers ...string) {
	w.t.Helper()
	w.write(w.t, func(ctx context.Context, tx *db.Tx) error {
		for _, workerID := range workers {
			if err := tx.WorkerSeen(ctx, query.WorkerSeenParams{Now: tx.Now, WorkerID: workerID, Before: tx.Now}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) claim(t tb, worker, prefer string, limit int) render.Work {
	t.Helper()
	work, err := w.Claim(context.Background(), worker, prefer, limit)
	if err != nil {
		t.Fatal(err)
	}
	return work
}

// take claims one frame, which must be there.
func (w *world) take(worker string) lease.Lease {
	w.t.Helper()
	work := w.claim(w.t, worker, "", 1)
	if len(work.Leases) != 1 {
		w.t.Fatalf("%s got nothing", worker)
	}
	return work.Leases[0]
}

func (w *world) wantNothing(worker string) {
	w.t.Helper()
	if work := w.claim(w.t, worker, "", 1); len(work.Leases) != 0 {
		w.t.Fatalf("a worker that should get nothing got frame %d of %s", work.Leases[0].Item, work.Job.JobID)
	}
}

// picture is a sound one of a leased frame.
func picture(l lease.Lease, took time.Duration) render.Picture {
	return render.Picture{
		Lease: l.Ref(), JobID: l.Subject, Frame: int(l.Item), File: fmt.Sprintf("frame_%04d.png", l.Item), BlobKey: fmt.Sprintf("frames/%s/%d", l.Subject, l.Item),
		SHA256: "00", PixelSHA256: fmt.Sprintf("pixels of %d", l.Item), SizeBytes: 1, Width: 8, Height: 6, RenderTime: took, Renderer: "blender", Device: "GPU", Registered: "GPU",
	}
}

func (w *world) deliver(t tb, l lease.Lease, took time.Duration) {
	t.Helper()
	if _, err := w.Accept(context.Background(), picture(l, took)); err != nil {
		t.Fatal(err)
	}
}

func (w *world) fail(l lease.Lease, code fault.Code) {
	w.t.Helper()
	if err := w.FailFrame(w.t.Context(), l.Ref(), render.Failure{Code: code, Message: "it failed", Log: "last words"}); err != nil {
		w.t.Fatal(err)
	}
	w.pass(2 * time.Second) // the pause before the next try
}

func (w *world) status(jobID string) (status render.Status, failure string) {
	w.t.Helper()
	w.read(w.t, func(ctx context.Context, tx *db.Tx) error {
		job, err := tx.JobGet(ctx, jobID)
		status, failure = render.Status(job.Status), job.FailureCode
		return err
	})
	return status, failure
}

func (w *world) wantStatus(jobID string, want render.Status, failure fault.Code) {
	w.t.Helper()
	if status, code := w.status(jobID); status != want || code != string(failure) {
		w.t.Fatalf("the job is %s %q, want %s %q", status, code, want, failure)
	}
}
