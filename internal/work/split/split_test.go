package split_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/pixels"
	"svc.example/internal/render/pixels/exr"
	"svc.example/internal/render/strips"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/job"
	"svc.example/internal/work/split"
)

// world has workers that render strips, and a job whose frames take ten minutes.
type world struct {
	*jobtest.World
	*split.Cuts
	t    *testing.T
	like func() *exr.Reader
	job  string
	// noisy has strips differ in the last bits of their values.
	noisy bool
}

const height = 60

// each runs a test on each database. The job has a frame that is in and took ten minutes, and
// others that wait.
func each(t *testing.T, waiting int, test func(t *testing.T, w world, workers []string)) {
	eachOf(t, contract.RendererID, "CPU", waiting, test)
}

// eachOf is each with workers of a renderer, on a device.
func eachOf(t *testing.T, renderer, device string, waiting int, test func(t *testing.T, w world, workers []string)) {
	jobtest.Each(t, func(t *testing.T, in *jobtest.World) {
		head, err := os.ReadFile("../../render/pixels/testdata/blender/open_exr_rgba_32_zip.exr")
		if err != nil {
			t.Fatal(err)
		}
		w := world{World: in, t: t, like: func() *exr.Reader {
			e, err := exr.NewReader(bytes.NewReader(head), strips.MaxMemory)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}}
		store, err := blob.OpenDisk(t.TempDir(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		w.Cuts = &split.Cuts{
			DB: in.DB, Blobs: store, Workers: in.Workers, Above: 2 * time.Minute, LeaseLife: 20 * time.Second, FrameTime: time.Hour, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}
		in.Frames.Cuts = w.Cuts
		var workers []string
		for range 3 {
			workers = append(workers, in.WorkerOfStrips(t, renderer, device))
		}
		w.job = w.newJob(1+waiting, strips.Overlap)
		w.deliverFrame(in.ClaimOne(workers[0]), false)
		test(t, w, workers)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			return split.Audit(ctx, tx, func(rule, subject, format string, args ...any) {
				t.Errorf("%s: %s: %s", rule, subject, fmt.Sprintf(format, args...))
			})
		})
	})
}

// newJob starts a job whose strips overlap by so many rows; 0 is one that is not cut.
func (w world) newJob(frames, overlap int) string {
	scene := fmt.Sprintf(`{"frame_width": %d, "frame_height": %d, "output_format": "PNG", "strip_overlap": %d}`, w.like().Width, height, overlap)
	return w.JobOver(w.t, w.Workspace(w.t), frames, fmt.Sprintf("%064d", frames), scene)
}

// deliverFrame delivers a frame that took ten minutes.
func (w world) deliverFrame(l lease.Lease, joined bool) {
	w.t.Helper()
	p := jobtest.Picture(l, 10*time.Minute)
	p.Width, p.Height, p.Joined = w.like().Width, height, joined
	p.Seen = &pixels.Picture{Format: "png", Width: p.Width, Height: height}
	if _, err := w.Frames.Accept(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
}

// cut claims a frame, which must be cut into so many strips. It returns the first one.
func (w world) cut(worker string, parts int) split.Work {
	w.t.Helper()
	got, ok := w.claimAndCut(worker)
	if !ok || got.Strip == nil || got.Strip.Parts != parts {
		w.t.Fatalf("the frame is not cut into %d: %+v", parts, got)
	}
	return got
}

// claimAndCut claims a frame, and reports whether it is cut.
func (w world) claimAndCut(worker string) (split.Work, bool) {
	w.t.Helper()
	claimed := w.World.Claim(w.t, worker, "", 1)
	if len(claimed.Leases) != 1 {
		w.t.Fatal("no frame waits")
	}
	got, ok, err := w.Cut(w.t.Context(), claimed.Job, claimed.Leases[0])
	if err != nil {
		w.t.Fatal(err)
	}
	return got, ok
}

// next claims what there is of strips.
func (w world) next(worker string) split.Work {
	w.t.Helper()
	got, ok, err := w.Cuts.Claim(w.t.Context(), worker)
	if err != nil || !ok {
		w.t.Fatalf("%s gets nothing: %v", worker, err)
	}
	return got
}

func (w world) wantNothing(why, worker string) {
	w.t.Helper()
	if got, ok, err := w.Cuts.Claim(w.t.Context(), worker); ok || err != nil {
		w.t.Fatalf("%s: %s gets %+v: %v", why, worker, got, err)
	}
}

// strip is the file of a strip; wrong spoils its rows.
func (w world) strip(of split.Strip, wrong bool) []byte {
	path := filepath.Join(w.t.TempDir(), "strip.exr")
	f, err := os.Create(path)
	if err != nil {
		w.t.Fatal(err)
	}
	like := w.like()
	out, err := exr.NewWriter(f, like, of.Shown().Height())
	for y := of.Shown().From; y < of.Shown().To && err == nil; y++ {
		row := make([]byte, like.RowBytes)
		for i := range row {
			row[i] = byte(i*7+y) % 60
		}
		if w.noisy {
			row[0] ^= byte(of.Part)
		}
		for i := 3; wrong && i < len(row); i += 4 {
			row[i] ^= 0x30 // from nearly nothing to light
		}
		err = out.Row(row)
	}
	if err := errors.Join(err, out.Close(), f.Close()); err != nil {
		w.t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return content
}

func (w world) send(got split.Work, wrong bool) error {
	content := w.strip(*got.Strip, wrong)
	sum := sha256.Sum256(content)
	return w.Receive(w.t.Context(), split.Delivery{
		Lease: got.Lease.Ref(), KeyID: w.keyOf(got.Lease.Holder), Width: w.like().Width, Height: got.Strip.Shown().Height(), SHA256: hex.EncodeToString(sum[:]), SizeBytes: int64(len(content)),
		RenderTime: time.Minute,
	}, bytes.NewReader(content))
}

func (w world) keyOf(worker string) (keyID string) {
	w.Read(w.t, func(ctx context.Context, tx *db.Tx) error {
		row, err := tx.WorkerGet(ctx, worker)
		keyID = row.KeyID
		return err
	})
	return keyID
}

// deliver sends strips, which must be taken.
func (w world) deliver(all ...split.Work) {
	w.t.Helper()
	for _, got := range all {
		if err := w.send(got, false); err != nil {
			w.t.Fatal(err)
		}
	}
}

// rows are the strips of the frame that is cut.
func (w world) rows() (rows []query.Strip) {
	w.Read(w.t, func(ctx context.Context, tx *db.Tx) (err error) {
		rows, err = tx.StripsOf(ctx, query.StripsOfParams{JobID: w.job, Frame: 2})
		return err
	})
	return rows
}

// wantFinished has a worker finish the frame, and checks that its strips are told.
func (w world) wantFinished(worker string, parts int) {
	w.t.Helper()
	got := w.next(worker)
	if len(got.Finish) != parts || got.Lease.Queue != dispatch.FrameQueue {
		w.t.Fatalf("%+v is no frame to finish of %d strips", got, parts)
	}
	for _, s := range got.Finish {
		content, err := w.Open(w.t.Context(), worker, w.job, s.SHA256)
		if err != nil || content.Size() != s.SizeBytes {
			w.t.Fatalf("strip %d cannot be read: %v", s.Part, err)
		}
		_ = content.Close()
	}
	w.deliverFrame(got.Lease, true)
	rows := w.rows()
	for _, r := range rows {
		if r.IsOpen != 0 || r.BlobKey != "" || r.Sha256 == "" {
			w.t.Errorf("strip %d stays as %+v", r.Part, r)
		}
	}
	if len(rows) != parts {
		w.t.Errorf("%d strips are told, want %d", len(rows), parts)
	}
	w.wantEmpty()
	w.WantStatus(w.job, job.Packaging, "")
}

// wantEmpty checks that no bytes of strips are kept.
func (w world) wantEmpty() {
	w.t.Helper()
	if err := w.Blobs.List(w.t.Context(), "", func(key string, _ time.Time) error { return errors.New(key) }); err != nil {
		w.t.Errorf("the store has %v", err)
	}
}

// wantWhole checks that a worker gets the frame, which is not cut again.
func (w world) wantWhole(worker string) {
	w.t.Helper()
	if got, ok := w.claimAndCut(worker); ok {
		w.t.Fatalf("the frame is cut again: %+v", got)
	}
	if rows := w.rows(); len(rows) != 0 {
		w.t.Errorf("it has strips: %+v", rows)
	}
	w.wantEmpty()
}

func TestAFrameIsRenderedByAllThatAreIdle(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		old := w.Worker(t)
		first := w.cut(workers[0], 3)
		second, third := w.next(workers[1]), w.next(workers[2])
		w.wantNothing("all strips are held", workers[0])
		w.wantNothing("it renders no strips", old)
		w.WantNoFrame(old)
		if first.Strip.Rows.To != second.Strip.Rows.From || second.Strip.Rows.To != third.Strip.Rows.From || third.Strip.Rows.To != height {
			t.Errorf("the rows are %v, %v and %v", first.Strip.Rows, second.Strip.Rows, third.Strip.Rows)
		}
		w.CheckTurns()
		w.deliver(third, first)
		w.deliver(first) // its answer was lost
		w.wantNothing("one strip is missing", workers[0])
		w.deliver(second)
		w.wantFinished(workers[1], 3)
	})
}

// TestStripsKeepTheLimitAndTheTagsOfTheirWorkspace: a cut has no more strips than the workspace
// may have frames in workers' hands, and workers without its tags get none.
func TestStripsKeepTheLimitAndTheTagsOfTheirWorkspace(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		var workspace string
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			record, err := job.Read(ctx, tx, w.job)
			workspace = record.WorkspaceID
			return err
		})
		limit := func(most int64) {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error { return dispatch.LimitFrames(ctx, tx, workspace, most) })
		}
		require := func(tags ...string) {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error { return dispatch.RequireTags(ctx, tx, workspace, tags) })
		}
		limit(2)
		first := w.cut(workers[0], 2)
		limit(1)
		w.wantNothing("the limit is reached", workers[1])
		limit(2)
		require("rtx")
		w.wantNothing("it lacks a tag", workers[1])
		require()
		second := w.next(workers[1])
		w.deliver(first, second)
		require("rtx")
		w.wantNothing("it lacks a tag, and the frame is to be finished", workers[1])
		require()
		w.wantFinished(workers[1], 2)
		limit(0)
		require()
	})
}

func TestALostWorkerCostsOneStrip(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		first, lost, third := w.cut(workers[0], 3), w.next(workers[1]), w.next(workers[2])
		w.deliver(first)
		w.Advance(15 * time.Second)
		if gone, err := w.Cuts.Heartbeat(t.Context(), []lease.Ref{third.Lease.Ref()}, []float64{0.5}); err != nil || len(gone) != 0 {
			t.Fatal(gone, err)
		}
		if err := w.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.Advance(10 * time.Second)
		reaper := lease.Reaper{DB: w.World.DB, Queues: []lease.Queue{w.Frames.Queue(), w.Leases()}, Log: w.Cuts.Log}
		if n, err := reaper.Run(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d leases lapsed: %v", n, err)
		}
		again := w.next(workers[0])
		if again.Strip.Part != lost.Strip.Part || again.Strip.Rows != lost.Strip.Rows || again.Lease.Attempt != 2 {
			t.Errorf("%+v is not the strip that was lost", again)
		}
		if err := w.send(lost, false); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("a late strip is taken: %v", err)
		}
		w.deliver(again, third)
		w.wantFinished(workers[2], 3)
	})
}

// TestAWorkerThatPaintsOtherRowsIsNamed where the renderer repeats itself to the last bit. Blender
// does not, so nobody is named.
func TestAWorkerThatPaintsOtherRowsIsNamed(t *testing.T) {
	for renderer, named := range map[string]int{contract.SyntheticRenderer: 1, contract.RendererID: 0} {
		t.Run(renderer, func(t *testing.T) {
			eachOf(t, renderer, "CPU", 1, func(t *testing.T, w world, workers []string) {
				liar := workers[0]
				bad, second, third := w.cut(liar, 3), w.next(workers[1]), w.next(workers[2])
				if err := w.send(bad, true); err != nil {
					t.Fatal(err)
				}
				w.deliver(second, third)
				w.wantNothing("its strip is doubted", liar)
				w.wantNothing("so is its", workers[1])
				for range 2 {
					got := w.next(workers[2])
					if got.Strip.Overlap != strips.OverlapWide {
						t.Errorf("the strip overlaps by %d", got.Strip.Overlap)
					}
					w.deliver(got)
				}
				w.wantFinished(workers[1], 3)
				w.Read(t, func(ctx context.Context, tx *db.Tx) error {
					refuted, err := dispatch.RefutedKeys(ctx, tx)
					if len(refuted) != named || named == 1 && refuted[0].KeyID != w.keyOf(liar) {
						t.Errorf("refuted is %+v, want %d: the key of %s", refuted, named, liar)
					}
					return err
				})
			})
		})
	}
}

func TestStripsThatNeverAgreeAreRenderedAsAWhole(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		bad, second, third := w.cut(workers[0], 3), w.next(workers[1]), w.next(workers[2])
		w.deliver(bad, third)
		if err := w.send(second, true); err != nil { // it agrees with none of its neighbours
			t.Fatal(err)
		}
		// All three have rendered a strip at a doubted cut, so nobody is left.
		w.wantNothing("the frame waits", workers[0])
		w.wantWhole(workers[0])
	})
}

// TestAFrameIsCutOnlyWhereThatGains: the log says why a long one is not.
func TestAFrameIsCutOnlyWhereThatGains(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		release := func(why, worker, logged string) {
			t.Helper()
			var log bytes.Buffer
			w.Log = slog.New(slog.NewTextHandler(&log, nil))
			claimed := w.World.Claim(t, worker, "", 1)
			if got, ok, err := w.Cut(t.Context(), claimed.Job, claimed.Leases[0]); ok || err != nil {
				t.Errorf("%s: the frame is cut: %+v, %v", why, got, err)
			}
			if logged == "" && log.Len() > 0 || !strings.Contains(log.String(), logged) {
				t.Errorf("%s: the log has %q, want %q", why, log.String(), logged)
			}
			if err := w.Frames.Release(t.Context(), []lease.Ref{claimed.Leases[0].Ref()}); err != nil {
				t.Fatal(err)
			}
		}
		release("its worker renders no strips", w.Worker(t), "")
		w.Above = 11 * time.Minute
		release("it is short", workers[0], "")
		w.Above = 0
		release("nothing is cut", workers[0], "")
		w.Above = 2 * time.Minute
		w.newJob(3, 1)
		release("others' frames wait for those that are idle", workers[0], `reason="No other worker of its kind is idle."`)
	})
}

// TestTheLogSaysWhyALongFrameIsRenderedWhole: here by its scene.
func TestTheLogSaysWhyALongFrameIsRenderedWhole(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, in *jobtest.World) {
		var log bytes.Buffer
		w := world{World: in, t: t, Cuts: &split.Cuts{DB: in.DB, Workers: in.Workers, Above: 2 * time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))}}
		worker := in.WorkerOfStrips(t, contract.RendererID, "CPU")
		scene := fmt.Sprintf(`{"frame_width": 8, "frame_height": 6, "output_format": "PNG", "whole_frames": %q}`, strips.Denoised.Text())
		in.JobOver(t, in.Workspace(t), 2, fmt.Sprintf("%064d", 2), scene)
		if _, err := in.Frames.Accept(t.Context(), jobtest.Picture(in.ClaimOne(worker), 10*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, cut := w.claimAndCut(worker); cut || !strings.Contains(log.String(), strips.Denoised.Text()) {
			t.Errorf("cut: %t, and the log has %q", cut, log.String())
		}
	})
}

func TestACutThatNobodyContinuesIsGivenUp(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		w.deliver(w.cut(workers[0], 3))
		w.Advance(dispatch.WorkerOnline + time.Second)
		other := w.Worker(t)
		if err := w.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.wantWhole(other)
	})
}

func TestAStripThatFailsTooOftenIsRenderedWithItsFrame(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		got := w.cut(workers[0], 3)
		for i := 0; len(w.rows()) > 0; i++ {
			if i > 9 {
				t.Fatal("it is never rendered as a whole")
			}
			if err := w.Cuts.Fail(t.Context(), got.Lease.Ref(), framecheck.Failure{Code: fault.BlenderCrashed, Message: "it crashed"}); err != nil {
				t.Fatal(err)
			}
			for _, worker := range workers {
				if next, ok, err := w.Cuts.Claim(t.Context(), worker); ok || err != nil {
					got = next
					break
				}
			}
		}
		w.wantWhole(workers[0])
		w.WantStatus(w.job, job.Rendering, "")
	})
}

func TestStripsEndWithTheirJob(t *testing.T) {
	each(t, 1, func(t *testing.T, w world, workers []string) {
		got := w.cut(workers[0], 2+1)
		w.deliver(got)
		held := w.next(workers[1])
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			record, err := job.Lock(ctx, tx, w.job)
			if err != nil {
				return err
			}
			return w.Jobs.Fail(ctx, tx, record, fault.BlenderCrashed, "for a test")
		})
		if err := w.send(held, false); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("a strip of a job that has ended is taken: %v", err)
		}
		w.wantNothing("the job has ended", workers[2])
		if err := w.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows := w.rows(); len(rows) != 0 {
			t.Errorf("%d strips stay", len(rows))
		}
		w.wantEmpty()
	})
}
