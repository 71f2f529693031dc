package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
)

// service is an intake with a store and one workspace.
type service struct {
	*intake.Intake
	t         *testing.T
	workspace string
}

const workspace = "WSP-1"

func newService(t *testing.T, d *db.DB) service {
	t.Helper()
	blobs, err := blob.OpenDisk(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	h := service{&intake.Intake{DB: d, Blobs: blobs, Envelope: contract.QualifiedPixelSamples}, t, workspace}
	h.must(func(tx *db.Tx) error {
		return tx.WorkspaceCreate(t.Context(), query.WorkspaceCreateParams{WorkspaceID: workspace, CreatedAt: tx.Now})
	})
	return h
}

func (h service) must(do func(tx *db.Tx) error) {
	h.t.Helper()
	if err := h.DB.Write(h.t.Context(), do); err != nil {
		h.t.Fatal(err)
	}
}

// scene is a real file. Bytes after its end make it another one.
func scene(t *testing.T) []byte {
	t.Helper()
	file, err := os.ReadFile("../../render/blendfile/testdata/settings.blend")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// receive takes a real file and prices a frame of it.
func (h service) receive() (intake.Inspection, error) {
	return h.receiveAs(intake.File{Name: "settings.blend", Body: bytes.NewReader(scene(h.t))}, nil)
}

// receiveAs takes any file.
func (h service) receiveAs(f intake.File, inTx func(*db.Tx, intake.Inspection) error) (intake.Inspection, error) {
	received, err := h.Receive(h.t.Context(), h.workspace, f)
	if err != nil {
		return intake.Inspection{}, err
	}
	return received.Quote(h.t.Context(), oneFrame(), inTx)
}

// upload is receive where nothing can fail.
func (h service) upload() intake.Inspection {
	h.t.Helper()
	i, err := h.receive()
	if err != nil {
		h.t.Fatal(err)
	}
	return i
}

// start is what a start does with an upload: take its quote, make the job.
func (h service) start(i intake.Inspection) error {
	return h.DB.Write(context.Background(), func(tx *db.Tx) error {
		q, err := quote.Take(context.Background(), tx, workspace, i.UploadID, i.Quote.QuoteID)
		if err != nil {
			return err
		}
		jobID := id.New(id.Job)
		err = tx.JobCreate(context.Background(), query.JobCreateParams{
			JobID: jobID, WorkspaceID: workspace, Flow: "job_api", Status: "queued", UploadID: q.UploadID, QuoteID: q.QuoteID,
			FrameStart: 1, FrameEnd: 1, FrameStep: 1, FrameCount: 1, PriceCents: q.PriceCents, CreatedAt: tx.Now,
		})
		if err != nil {
			return err
		}
		return quote.Accept(context.Background(), tx, q.QuoteID, jobID)
	})
}

// expire does the work of the lease that ends an upload's time.
func (h service) expire(uploadID string) error {
	ctx := context.Background()
	var held []lease.Lease
	err := h.DB.Write(ctx, func(tx *db.Tx) (err error) {
		held, err = lease.ClaimIDs(ctx, tx, []string{lease.ID(lease.ExpireQueue, intake.ExpireUpload+"/"+uploadID, 0)}, "test", time.Minute)
		return err
	})
	if err != nil || len(held) != 1 {
		return errors.Join(err, fmt.Errorf("claimed %d leases", len(held)))
	}
	return h.Expire(ctx, held[0], uploadID)
}

func (h service) hasFile(i intake.Inspection) bool {
	h.t.Helper()
	r, err := project.Store{DB: h.DB, Blobs: h.Blobs, Whole: &blob.Whole{}}.Open(h.t.Context(), i.UploadID, i.Quote.InputSHA256)
	if errors.Is(err, project.ErrNoContent) {
		return false
	}
	if err != nil {
		h.t.Fatal(err)
	}
	_ = r.Close()
	return true
}

// Whichever comes first: a job has its file, or there is no job.
func TestUploadIsStartedOrRemovedNeverBoth(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		uploads := make([]intake.Inspection, 30)
		for i := range uploads {
			uploads[i] = h.upload()
		}
		skew.Store(int64(contract.UploadRetention + time.Minute))
		for _, i := range uploads {
			var started, expired error
			var both sync.WaitGroup
			both.Go(func() { started = h.start(i) })
			both.Go(func() { expired = h.expire(i.UploadID) })
			both.Wait()
			if expired != nil {
				t.Fatal(expired)
			}
			if started != nil && !fault.Is(started, fault.UploadNotFound) {
				t.Fatal(started)
			}
			if got, want := h.hasFile(i), started == nil; got != want {
				t.Fatalf("the upload was started: %v, its file is there: %v", want, got)
			}
		}
	})
}

// blobs are the keys of all files that are stored.
func (h service) blobs() (keys []string) {
	h.t.Helper()
	err := h.Blobs.List(h.t.Context(), "", func(key string, _ time.Time) error {
		keys = append(keys, key)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return keys
}

func TestEqualBytesAreStoredOnceUntilTheirLastUploadGoes(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		first, second := h.upload(), h.upload()
		if n := len(h.blobs()); n != 1 {
			t.Errorf("two uploads of the same bytes are stored as %d files", n)
		}
		skew.Store(int64(contract.UploadRetention + time.Minute))
		if err := h.expire(first.UploadID); err != nil {
			t.Fatal(err)
		}
		if h.hasFile(first) || !h.hasFile(second) {
			t.Errorf("the removed upload has its file: %v, the other one: %v", h.hasFile(first), h.hasFile(second))
		}
		if err := h.expire(second.UploadID); err != nil {
			t.Fatal(err)
		}
		if left := h.blobs(); len(left) != 0 || h.hasFile(second) {
			t.Errorf("the files %v are left", left)
		}
	})
}

// The last upload of some bytes goes while others of the same bytes come.
func TestUploadKeepsItsFileWhileEqualUploadsExpire(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		old := h.upload()
		for range 20 {
			skew.Add(int64(contract.UploadRetention + time.Minute))
			var came [2]intake.Inspection
			var failed [3]error
			var all sync.WaitGroup
			all.Go(func() { failed[2] = h.expire(old.UploadID) })
			for i := range came {
				all.Go(func() { came[i], failed[i] = h.receive() })
			}
			all.Wait()
			if err := errors.Join(failed[:]...); err != nil {
				t.Fatal(err)
			}
			if !h.hasFile(came[0]) || !h.hasFile(came[1]) {
				t.Fatal("an upload has no file")
			}
			if n := len(h.blobs()); n != 1 {
				t.Fatalf("the same bytes are stored as %d files", n)
			}
			skew.Add(int64(contract.UploadRetention + time.Minute))
			if err := h.expire(came[0].UploadID); err != nil {
				t.Fatal(err)
			}
			old = came[1]
		}
	})
}

// forgetful is a store whose process dies before it deletes.
type forgetful struct{ blob.Store }

func (forgetful) Delete(context.Context, string) error { return errors.New("killed") }

func TestCrashedUploadIsSwept(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		var skew atomic.Int64
		h := newService(t, dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Duration(skew.Load()) }}))
		kept := h.Blobs
		h.Blobs = forgetful{kept}
		first, second := h.upload(), h.upload()
		// Its rows are not written, and its file stays.
		if _, err := h.receiveAs(intake.File{Name: "other.blend", Body: bytes.NewReader(append(scene(t), 0))}, func(*db.Tx, intake.Inspection) error { return errors.New("killed") }); err == nil {
			t.Fatal("the upload was stored")
		}
		skew.Store(int64(contract.UploadRetention + time.Minute))
		h.Blobs = kept
		artifacts := &artifact.Artifacts{DB: h.DB, Blobs: kept}
		if n, err := artifacts.Sweep(t.Context()); n != 1 || err != nil || !h.hasFile(first) || !h.hasFile(second) {
			t.Errorf("swept %d, %v; the uploads have their file: %v, %v", n, err, h.hasFile(first), h.hasFile(second))
		}
		if err := h.expire(first.UploadID); err != nil {
			t.Fatal(err)
		}
		h.Blobs = forgetful{kept}
		if err := h.expire(second.UploadID); err == nil {
			t.Error("a file that is not deleted is not reported")
		}
		if n, err := artifacts.Sweep(t.Context()); n != 1 || err != nil || len(h.blobs()) != 0 {
			t.Errorf("swept %d, %v; %v is left", n, err, h.blobs())
		}
	})
}
