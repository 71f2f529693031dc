package frames_test

import (
	"context"
	"image"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/job"
)

// compareAll has every frame rendered twice.
func compareAll(w *world) { w.Frames.DoubleRender = frames.Sample{Percent: 100, Key: []byte("test")} }

// paint delivers a picture with certain pixels, and returns whether its bytes are kept.
func (w *world) paint(l lease.Lease, pixels string) (kept bool) {
	w.T.Helper()
	return w.paintBy(l, pixels, contract.BlenderVersion)
}

// paintBy is paint by a version of Blender.
func (w *world) paintBy(l lease.Lease, pixels, version string) (kept bool) {
	w.T.Helper()
	p := jobtest.Picture(l, time.Second)
	p.Version = version
	p.PixelSHA256, p.SHA256, p.BlobKey = pixels, pixels+l.Holder, pixels+l.Holder
	p.Device, p.Registered = "CPU", "CPU"
	kept, err := w.Frames.Accept(w.T.Context(), p)
	if err != nil {
		w.T.Fatal(err)
	}
	return kept
}

// settle does what the service does every few seconds about compared pictures.
func (w *world) settle() {
	w.T.Helper()
	if err := w.Frames.SettleCompared(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
}

// wantPainted checks whose picture of frame 1 counts.
func (w *world) wantPainted(jobID, pixels, worker string) {
	w.T.Helper()
	w.WantStatus(jobID, job.Packaging, "")
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		frame, err := tx.FrameGet(ctx, query.FrameGetParams{JobID: jobID, Frame: 1})
		if frame.PixelSha256 != pixels || frame.WorkerID != worker {
			w.T.Errorf("the frame shows %q of %s, want %q of %s", frame.PixelSha256, frame.WorkerID, pixels, worker)
		}
		left, missing := tx.CandidateFrames(ctx, 10)
		if len(left) != 0 {
			w.T.Errorf("%d frames still await a picture", len(left))
		}
		if err == nil {
			err = missing
		}
		return err
	})
}

// refuted are the keys of which pictures were refuted.
func (w *world) refuted() (keys []dispatch.RefutedKey) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) (err error) {
		keys, err = dispatch.RefutedKeys(ctx, tx)
		return err
	})
	return keys
}

func TestASampledFrameCountsOnceTwoKeysPaintItAlike(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		jobID := w.Job(t, w.Workspace(t), 1)
		key := w.NodeKey(t)
		first, same, other := w.WorkerOf(t, key), w.WorkerOf(t, key), w.Worker(t)
		claimed := w.ClaimOne(first)
		if !w.paint(claimed, "sky") {
			t.Fatal("the first picture is not kept")
		}
		w.paint(claimed, "sky") // its answer was lost
		w.settle()
		w.WantStatus(jobID, job.Rendering, "")
		w.WantNoFrame(first)
		w.WantNoFrame(same)
		for _, pixels := range []string{"sky", "sea"} { // a confirmation by a worker that was not asked
			forged := jobtest.Picture(claimed, time.Second)
			forged.Holder, forged.Lease.Holder, forged.PixelSHA256 = other, other, pixels
			if _, err := w.Frames.Accept(t.Context(), forged); !fault.Is(err, fault.LeaseLost) {
				t.Errorf("a forged picture got %v, want lease_lost", err)
			}
		}
		w.paint(w.ClaimOne(other), "sky")
		w.wantPainted(jobID, "sky", first)
		if keys := w.refuted(); len(keys) != 0 {
			t.Errorf("refuted: %+v", keys)
		}
	})
}

// Two pictures of a scene that Blender does not repeat say nothing about a worker.
func TestAFrameThatDoesNotRepeatIsNotCompared(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		scene := `{"resolution_x": 8, "resolution_y": 6, "resolution_percentage": 100, "frame_width": 8, "frame_height": 6, "output_format": "PNG", "world_volume": true}`
		first, second := w.Worker(t), w.Worker(t)
		repeats := w.JobOver(t, w.Workspace(t), 1, strings.Repeat("ab", 32), scene)
		w.paintBy(w.ClaimOne(first), "sky", "3.4.1")
		w.WantStatus(repeats, job.Rendering, "") // it waits for a second worker
		w.paintBy(w.ClaimOne(second), "sky", "3.4.1")
		w.wantPainted(repeats, "sky", first)
		differs := w.JobOver(t, w.Workspace(t), 1, strings.Repeat("cd", 32), scene)
		w.paintBy(w.ClaimOne(first), "sky", "4.3.2")
		w.wantPainted(differs, "sky", first)
	})
}

// On PostgreSQL a claim can wait for the delivery of the same worker, and so act on a
// choice from before it.
func TestNoWorkerConfirmsItsOwnPictureByAChoiceFromBeforeIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		jobID := w.Job(t, w.Workspace(t), 2)
		worker, _ := w.Worker(t), w.Worker(t)
		claimed := w.ClaimOne(worker)
		var stale dispatch.Choice
		w.Read(t, func(ctx context.Context, tx *db.Tx) (err error) {
			stale, err = dispatch.Next(ctx, tx, worker, dispatch.OpenJob{})
			return err
		})
		w.paint(claimed, "sky")
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			record, err := job.Lock(ctx, tx, jobID)
			if err != nil {
				return err
			}
			got, err := dispatch.ClaimFrames(ctx, tx, worker, stale, 2, time.Minute)
			if err != nil {
				return err
			}
			if len(got) != 1 || got[0].Item != 2 {
				t.Errorf("claimed %+v, want frame 2 only", got)
			}
			_, err = dispatch.RecordClaim(ctx, tx, job.ForDispatch(record), "", int64(len(got)))
			return err
		})
	})
}

func TestTheMajoritysPictureIsDeliveredAndTheOthersKeyRefuted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		jobID := w.Job(t, w.Workspace(t), 1)
		liar, one, two := w.Worker(t), w.Worker(t), w.Worker(t)
		w.paint(w.ClaimOne(liar), "lie")
		w.paint(w.ClaimOne(one), "sky")
		w.WantNoFrame(liar)
		w.WantNoFrame(one)
		w.paint(w.ClaimOne(two), "sky")
		w.wantPainted(jobID, "sky", one)
		if keys := w.refuted(); len(keys) != 1 || keys[0].Refuted != 1 || keys[0].Confirmed != 0 {
			t.Errorf("refuted: %+v", keys)
		}
	})
}

// No two renders of a frame by a GPU have the same hash.
func TestPicturesOfGPUsAreComparedByWhatTheyShow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		workspace, liar, one, two := w.Workspace(t), w.Worker(t), w.Worker(t), w.Worker(t)
		shown := func(l lease.Lease, colour, noise byte) {
			p := jobtest.Picture(l, time.Second)
			p.PixelSHA256, p.SHA256, p.BlobKey = "pixels of "+l.Holder, l.Holder, l.Holder
			p.Small = image.NewRGBA(image.Rect(0, 0, 64, 36))
			for i := range p.Small.Pix {
				p.Small.Pix[i] = colour
			}
			p.Small.Pix[0] += noise
			if _, err := w.Frames.Accept(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		jobID := w.Job(t, workspace, 1)
		shown(w.ClaimOne(liar), 100, 0)
		shown(w.ClaimOne(one), 102, 0)
		shown(w.ClaimOne(two), 102, 2)
		w.wantPainted(jobID, "pixels of "+one, one)
		if keys := w.refuted(); len(keys) != 1 || keys[0].Refuted != 1 || keys[0].Confirmed != 0 {
			t.Errorf("refuted: %+v", keys)
		}

		jobID = w.Job(t, workspace, 1) // in a format that this service does not decode
		p := jobtest.Picture(w.ClaimOne(one), time.Second)
		if kept, err := w.Frames.Accept(t.Context(), p); !kept || err != nil {
			t.Errorf("it is kept: %t, %v", kept, err)
		}
		w.WantStatus(jobID, job.Packaging, "")
	})
}

func TestWithTwoKeysAnotherWorkerOfOneDecides(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		jobID := w.Job(t, w.Workspace(t), 1)
		honest := w.NodeKey(t)
		liar, one, two := w.Worker(t), w.WorkerOf(t, honest), w.WorkerOf(t, honest)
		w.paint(w.ClaimOne(liar), "lie")
		w.paint(w.ClaimOne(one), "sky")
		w.paint(w.ClaimOne(two), "sky")
		w.wantPainted(jobID, "sky", one)
	})
}

func TestWhereNobodyDecidesTheFirstPictureIsDelivered(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		workspace, first, second := w.Workspace(t), w.Worker(t), w.Worker(t)
		jobID := w.Job(t, workspace, 1)
		w.paint(w.ClaimOne(first), "sky")
		if w.paint(w.ClaimOne(second), "sea") {
			t.Error("the second picture is kept")
		}
		w.wantPainted(jobID, "sky", first)
		third := w.Worker(t)
		jobID = w.Job(t, workspace, 1)
		for i, worker := range []string{first, second, third} {
			w.paint(w.ClaimOne(worker), []string{"sky", "sea", "sand"}[i])
		}
		w.wantPainted(jobID, "sky", first)
	})
}

func TestNobodyIsWaitedForToComparePictures(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		workspace, first := w.Workspace(t), w.Worker(t)
		jobID := w.Job(t, workspace, 1)
		w.paint(w.ClaimOne(first), "sky") // alone
		w.wantPainted(jobID, "sky", first)

		second := w.Worker(t)
		jobID = w.Job(t, workspace, 1)
		w.paint(w.ClaimOne(first), "sky")
		w.markOffline(second)
		w.settle()
		w.wantPainted(jobID, "sky", first)

		second = w.registerAgain(second, "test")
		jobID = w.Job(t, workspace, 1)
		w.paint(w.ClaimOne(first), "sky")
		w.failFinally(w.ClaimOne(second))
		w.settle()
		w.wantPainted(jobID, "sky", first)
	})
}

func TestAPictureIsConfirmedOnlyByAWorkerWhoseBlenderIsBuiltForIt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		workspace, first := w.Workspace(t), w.Worker(t)
		lacking := w.WorkerThatLacks(t, w.NodeKey(t), buildoption.OSL)
		jobID := w.JobThatNeeds(t, workspace, 1, buildoption.OSL)
		w.paint(w.ClaimOne(first), "sky") // no other worker can
		w.wantPainted(jobID, "sky", first)

		able := w.WorkerThatLacks(t, w.NodeKey(t), buildoption.USD)
		jobID = w.JobThatNeeds(t, workspace, 1, buildoption.OSL)
		w.paint(w.ClaimOne(first), "sky")
		w.WantNoFrame(lacking)
		w.paint(w.ClaimOne(able), "sky")
		w.wantPainted(jobID, "sky", first)
	})
}

func TestOnlyEqualDevicesAreCompared(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		jobID := w.Job(t, w.Workspace(t), 1)
		first, key := w.Worker(t), w.NodeKey(t)
		if _, err := w.Workers.Register(t.Context(), dispatch.Worker{KeyID: key, Name: "test", Renderer: "blender", BlenderVersion: "4.1.1", Device: "GPU", DeviceName: "another GPU"}); err != nil {
			t.Fatal(err)
		}
		w.paint(w.ClaimOne(first), "sky")
		w.wantPainted(jobID, "sky", first)
	})
}

func TestAJobThatEndsAwaitsNoPicture(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		compareAll(w)
		jobID := w.Job(t, w.Workspace(t), 2)
		first, second := w.Worker(t), w.Worker(t)
		painted, failed := w.ClaimOne(first), w.ClaimOne(second)
		w.paint(painted, "sky")
		w.failFinally(failed)
		w.failFinally(w.ClaimOne(first))
		w.WantStatus(jobID, job.Failed, fault.OutOfMemory)
		w.settle()
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			left, err := tx.CandidateFrames(ctx, 10)
			if len(left) != 0 {
				t.Errorf("%d frames still await a picture", len(left))
			}
			return err
		})
	})
}
