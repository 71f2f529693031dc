// Package jobtest gives tests jobs over a real database, with a clock that the test
// moves and workers that the test plays.
//
// What always holds: a test runs on SQLite and on PostgreSQL. At its end the
// counters of the turns equal the waiting leases. There is no Blender.
//
// HTTP, money beyond a first credit, and packaging are left to the tests of those
// packages. Start reading at Each.
package jobtest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/framelist"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/watch"
)

// World is one store with jobs, and everything that their frames go through.
type World struct {
	DB      *db.DB
	URL     string // of DB
	Jobs    *job.Jobs
	Frames  *frames.Frames
	Workers *dispatch.Workers
	Watch   *watch.Reader
	T       *testing.T

	skew       *atomic.Int64
	statements *atomic.Int64
	made       int
}

// TB is the part that testing.T and rapid.T share.
type TB interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// Each runs a test on a new world of each database.
func Each(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew, statements atomic.Int64
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		d := dbtest.Open(t, db.Config{URL: url, Log: log, Skew: func() time.Duration { return time.Duration(skew.Load()) }, OnStatement: func(string) { statements.Add(1) }})
		jobs, workers := &job.Jobs{DB: d, Log: log}, &dispatch.Workers{DB: d, Log: log}
		w := &World{
			DB: d, URL: url, Jobs: jobs, Workers: workers, T: t, skew: &skew, statements: &statements, Watch: &watch.Reader{DB: d, Jobs: jobs, Log: log},
			Frames: &frames.Frames{DB: d, Jobs: jobs, Workers: workers, LeaseLife: 20 * time.Second, Log: log},
		}
		t.Cleanup(func() { w.CheckTurns() })
		test(t, w)
	})
}

// Statements is the number of statements sent to the database so far. On SQLite it is 0:
// that driver has no hook for it.
func (w *World) Statements() int64 { return w.statements.Load() }

// Advance moves the database's clock forward, and so makes leases lapse and pauses
// end.
func (w *World) Advance(d time.Duration) { w.skew.Add(int64(d)) }

// Write runs a transaction that writes.
func (w *World) Write(t TB, do func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	ctx := context.Background()
	if err := w.DB.Write(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// Read runs a transaction that reads.
func (w *World) Read(t TB, do func(ctx context.Context, tx *db.Tx) error) {
	t.Helper()
	ctx := context.Background()
	if err := w.DB.Read(ctx, func(tx *db.Tx) error { return do(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

// CheckTurns checks that the counters of turns equal what waits.
func (w *World) CheckTurns() {
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		return dispatch.Audit(ctx, tx, func(rule, subject, format string, args ...any) {
			w.T.Errorf("%s: %s: %s", rule, subject, fmt.Sprintf(format, args...))
		})
	})
}

// Workspace makes a workspace with 10,000 dollars.
func (w *World) Workspace(t TB) (workspaceID string) {
	t.Helper()
	w.made++
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, fmt.Sprintf("owner-%d@example.com", w.made))
		if err != nil {
			return err
		}
		workspaceID = p.WorkspaceID
		return wallet.Credit(ctx, tx, workspaceID, "first of "+workspaceID, 1_000_000)
	})
	return workspaceID
}

// filename is the name of every file that is uploaded but by JobOf.
const filename = "a.blend"

// theFile is the hash of every file that is uploaded but by JobOver.
var theFile = strings.Repeat("0", 64)

// scene is what inspect found in it: frames of 8 x 6 pixels.
const scene = `{"resolution_x": 8, "resolution_y": 6, "resolution_percentage": 100, "frame_width": 8, "frame_height": 6, "output_format": "PNG"}`

// Job starts a job of frames 1 to n, over a new upload and a new quote.
func (w *World) Job(t TB, workspaceID string, n int) (jobID string) {
	t.Helper()
	return w.JobOver(t, workspaceID, n, theFile, scene)
}

// JobOver is Job over the file of a hash, in which inspect found a scene.
func (w *World) JobOver(t TB, workspaceID string, n int, sum, scene string) (jobID string) {
	t.Helper()
	return w.start(t, w.quoted(t, workspaceID, 1, n, sum, scene))
}

// simulation is a scene whose frames depend on those before, from frame 1 on.
const simulation = `{"resolution_x": 8, "resolution_y": 6, "resolution_percentage": 100, "frame_width": 8, "frame_height": 6, "output_format": "PNG",
	"frame_start": 1, "simulations": [{"kind": "cloth", "object": "Flag"}]}`

// JobThatPlays starts a job of frames first to last of a scene that has a simulation from
// frame 1 on.
func (w *World) JobThatPlays(t TB, workspaceID string, first, last int) (jobID string) {
	t.Helper()
	return w.start(t, w.quoted(t, workspaceID, first, last, theFile, simulation))
}

// sceneThatNeeds is a scene whose picture needs that Blender is built with an option.
func sceneThatNeeds(option buildoption.Option) string {
	return strings.TrimSuffix(scene, "}") + fmt.Sprintf(`, "build_options": [{"option": %q, "kind": "cache", "path": "//a", "owner": "a"}]}`, option)
}

// JobThatNeeds is Job over a scene whose picture needs that Blender is built with an option.
func (w *World) JobThatNeeds(t TB, workspaceID string, n int, option buildoption.Option) (jobID string) {
	t.Helper()
	return w.start(t, w.quoted(t, workspaceID, 1, n, theFile, sceneThatNeeds(option)))
}

// UploadThatNeeds is NewUpload of such a scene.
func (w *World) UploadThatNeeds(t TB, workspaceID string, n int, option buildoption.Option) (uploadID string) {
	t.Helper()
	return w.quoted(t, workspaceID, 1, n, theFile, sceneThatNeeds(option)).UploadID
}

func (w *World) start(t TB, r job.StartRequest) (jobID string) {
	t.Helper()
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		o, err := w.Jobs.Start(ctx, tx, r)
		jobID = o.JobID
		return err
	})
	return jobID
}

// HeldJob is Job by the older flow: the job waits for its submit.
func (w *World) HeldJob(t TB, workspaceID string, n int) (jobID string) {
	t.Helper()
	r := w.quoted(t, workspaceID, 1, n, theFile, scene)
	r.Flow = job.FlowPublicV1
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		q, err := quote.Take(ctx, tx, workspaceID, r.UploadID, r.QuoteID)
		if err != nil {
			return err
		}
		o, err := w.Jobs.Hold(ctx, tx, r, q)
		jobID = o.JobID
		return err
	})
	return jobID
}

// NewUpload makes an upload with a quote of its frames 1 to n.
func (w *World) NewUpload(t TB, workspaceID string, n int) (uploadID string) {
	t.Helper()
	return w.quoted(t, workspaceID, 1, n, theFile, scene).UploadID
}

// Order is what a job can differ in from others; what is "" is as Job has it.
type Order struct {
	Frames, Filename string
	Credential       identity.Credential // who starts it
}

// JobOf starts a job by an order.
func (w *World) JobOf(t TB, workspaceID string, o Order) (jobID string) {
	t.Helper()
	list, err := framelist.Parse(cmp.Or(o.Frames, "1"), contract.MaxFrames)
	if err != nil {
		t.Fatal(err)
	}
	r := w.quotedAs(t, workspaceID, list, cmp.Or(o.Filename, filename), theFile, scene)
	r.Principal.Credential = o.Credential
	return w.start(t, r)
}

// quoted makes an upload and a quote of its frames first to last.
func (w *World) quoted(t TB, workspaceID string, first, last int, sum, scene string) job.StartRequest {
	t.Helper()
	return w.quotedAs(t, workspaceID, framelist.Range{First: first, Last: last, Step: 1}.List(), filename, sum, scene)
}

// quotedAs is quoted of a list of frames and a file of a name.
func (w *World) quotedAs(t TB, workspaceID string, list framelist.List, filename, sum, scene string) job.StartRequest {
	t.Helper()
	n, gaps := int64(len(list)), ""
	span, isRange := list.Range()
	if !isRange {
		span, gaps = framelist.Range{First: list[0], Last: list[n-1], Step: 1}, list.String()
	}
	upload, quoteID := id.New(id.Upload), id.New(id.Quote)
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.UploadCreate(ctx, query.UploadCreateParams{
			UploadID: upload, WorkspaceID: workspaceID, Filename: filename, Sha256: sum, SizeBytes: 1, Scene: scene, CreatedAt: tx.Now,
		})
		if err == nil {
			_, err = project.Keep(ctx, tx, workspaceID, project.Content{SHA256: sum, SizeBytes: 1, BlobKey: "uploads/" + workspaceID + sum})
		}
		var files project.Prepared
		if err == nil {
			files, err = project.SingleFile(filename, sum, 1).Prepare()
		}
		if err == nil {
			err = project.Create(ctx, tx, workspaceID, upload, files)
		}
		if err != nil {
			return err
		}
		return tx.QuoteCreate(ctx, query.QuoteCreateParams{
			QuoteID: quoteID, UploadID: upload, WorkspaceID: workspaceID, FrameStart: int64(span.First), FrameEnd: int64(span.Last), FrameStep: int64(span.Step), FrameCount: n, Frames: gaps,
			PriceCents: n, PricingVersion: "fixed-1c-v1", Qualified: 1, Warnings: "[]", CreatedAt: tx.Now, ExpiresAt: tx.Now + time.Hour.Microseconds(),
		})
	})
	return job.StartRequest{Principal: identity.Principal{WorkspaceID: workspaceID, Scopes: identity.AllScopes()}, UploadID: upload, QuoteID: quoteID, Flow: job.FlowJobAPI}
}

// Worker registers a worker with a node key of its own.
func (w *World) Worker(t TB) (workerID string) {
	t.Helper()
	return w.WorkerOf(t, w.NodeKey(t))
}

// NodeKey makes a node key.
func (w *World) NodeKey(t TB) (keyID string) {
	t.Helper()
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		key, err := identity.CreateNodeKey(ctx, tx, "test")
		keyID = key.KeyID
		return err
	})
	return keyID
}

// WorkerOf registers a worker with a node key.
func (w *World) WorkerOf(t TB, keyID string) (workerID string) {
	t.Helper()
	return w.WorkerThatLacks(t, keyID)
}

// WorkerThatLacks registers a worker with a node key whose Blender was built without some
// options.
func (w *World) WorkerThatLacks(t TB, keyID string, options ...buildoption.Option) (workerID string) {
	t.Helper()
	return w.add(t, dispatch.Worker{KeyID: keyID, BlenderVersion: "4.1.1", Lacks: buildoption.Of(options...)})
}

// WorkerOfKind registers a worker with a node key of its own that has a Blender version and a
// setting of denoising.
func (w *World) WorkerOfKind(t TB, version, denoise string) (workerID string) {
	t.Helper()
	return w.add(t, dispatch.Worker{KeyID: w.NodeKey(t), BlenderVersion: version, Denoise: denoise})
}

// TaggedWorker registers a worker with a node key of its own that has tags; a reserved one takes
// nothing of workspaces that require none.
func (w *World) TaggedWorker(t TB, reserved bool, has ...string) (workerID string) {
	t.Helper()
	return w.add(t, dispatch.Worker{KeyID: w.NodeKey(t), BlenderVersion: "4.1.1", Tags: has, Reserved: reserved, Strips: true})
}

// WorkerOfStrips registers a worker with a node key of its own that renders strips of frames with a
// renderer.
func (w *World) WorkerOfStrips(t TB, renderer, device string) (workerID string) {
	t.Helper()
	return w.add(t, dispatch.Worker{KeyID: w.NodeKey(t), Renderer: renderer, Device: device, BlenderVersion: "4.1.1", Strips: true})
}

func (w *World) add(t TB, worker dispatch.Worker) (workerID string) {
	t.Helper()
	worker.WorkerID, worker.Name = id.New(id.Node), "test"
	worker.Device = cmp.Or(worker.Device, contract.RenderDevice)
	worker.DeviceName = "a " + worker.Device
	worker.Renderer = cmp.Or(worker.Renderer, contract.RendererID)
	w.Write(t, func(ctx context.Context, tx *db.Tx) error { return dispatch.AddWorker(ctx, tx, worker) })
	return worker.WorkerID
}

// Seen records a report of each worker now, so that they count as online.
func (w *World) Seen(workers ...string) {
	w.T.Helper()
	w.Write(w.T, func(ctx context.Context, tx *db.Tx) error {
		for _, workerID := range workers {
			if err := tx.WorkerSeen(ctx, query.WorkerSeenParams{Now: tx.Now, WorkerID: workerID, Before: tx.Now}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Claim claims up to limit frames as a worker does. prefer is the job that the
// worker has open; "" is none.
func (w *World) Claim(t TB, worker, prefer string, limit int) frames.Work {
	t.Helper()
	work, err := w.Frames.Claim(context.Background(), worker, dispatch.OpenJob{JobID: prefer}, limit)
	if err != nil {
		t.Fatal(err)
	}
	return work
}

// ClaimOne claims one frame; that there is none fails the test.
func (w *World) ClaimOne(worker string) lease.Lease {
	w.T.Helper()
	work := w.Claim(w.T, worker, "", 1)
	if len(work.Leases) != 1 {
		w.T.Fatalf("%s got nothing", worker)
	}
	return work.Leases[0]
}

// WantNoFrame checks that a worker gets no frame.
func (w *World) WantNoFrame(worker string) {
	w.T.Helper()
	if work := w.Claim(w.T, worker, "", 1); len(work.Leases) != 0 {
		w.T.Fatalf("a worker that should get nothing got frame %d of %s", work.Leases[0].Item, work.Job.JobID)
	}
}

// Picture returns the report of a sound picture of a leased frame.
func Picture(l lease.Lease, took time.Duration) frames.Picture {
	return frames.Picture{
		Picture: framecheck.Picture{
			Holder: l.Holder, File: fmt.Sprintf("frame_%04d.png", l.Item), PixelSHA256: fmt.Sprintf("pixels of %d", l.Item), Width: 8, Height: 6,
			Renderer: "blender", Device: "GPU", Registered: "GPU",
			Seen: &pixels.Picture{Format: "png", Width: 8, Height: 6},
		},
		Lease: l.Ref(), JobID: l.Subject, Frame: int(l.Item), BlobKey: fmt.Sprintf("frames/%s/%d", l.Subject, l.Item),
		SHA256: "00", SizeBytes: 1, RenderTime: took,
	}
}

// Deliver reports a sound picture that took so long to render.
func (w *World) Deliver(t TB, l lease.Lease, took time.Duration) {
	t.Helper()
	if _, err := w.Frames.Accept(context.Background(), Picture(l, took)); err != nil {
		t.Fatal(err)
	}
}

// Fail fails a frame and moves the clock past the pause before its next attempt.
func (w *World) Fail(l lease.Lease, code fault.Code) {
	w.T.Helper()
	if err := w.Frames.Fail(w.T.Context(), l.Ref(), framecheck.Failure{Code: code, Message: "it failed", Log: "last words"}); err != nil {
		w.T.Fatal(err)
	}
	w.Advance(2 * time.Second) // the pause before the next attempt
}

// Status returns a job's state, and its failure code, "" if it has none.
func (w *World) Status(jobID string) (status job.Status, failure string) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		record, err := job.Read(ctx, tx, jobID)
		status, failure = job.Status(record.Status), record.FailureCode
		return err
	})
	return status, failure
}

// WantStatus checks a job's state.
func (w *World) WantStatus(jobID string, want job.Status, failure fault.Code) {
	w.T.Helper()
	if status, code := w.Status(jobID); status != want || code != string(failure) {
		w.T.Fatalf("the job is %s %q, want %s %q", status, code, want, failure)
	}
}
