package audit_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/seal"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/audit"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt/signing"
)

// TestAuditMissesFilesOfAJobThatGoesOn: such as after a restore of a database
// without the files of its time. A job that has ended needs them no more.
func TestAuditMissesFilesOfAJobThatGoesOn(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		blobs, err := blob.OpenDisk(t.TempDir(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		ring, err := signing.Open(t.TempDir(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		text, err := seal.Generate(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := seal.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want := func(when string, files ...string) {
			t.Helper()
			found, err := audit.Audit(t.Context(), w.DB, blobs, ring, sealed)
			if err != nil {
				t.Fatal(err)
			}
			var missing []string
			for _, b := range found.Breaches {
				if b.Rule == "a job that goes on has its files" {
					missing = append(missing, b.Detail)
				}
			}
			slices.Sort(missing)
			for i, file := range files {
				files[i] = file + " is not there"
			}
			if !slices.Equal(missing, files) {
				t.Errorf("%s: the audit misses %q, want %q", when, missing, files)
			}
		}
		put := func(key string) {
			t.Helper()
			file, err := blobs.Create(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.Write([]byte("x")); errors.Join(err, file.Commit()) != nil {
				t.Fatal(err)
			}
		}
		worker, workspace := w.Worker(t), w.Workspace(t)
		jobID := w.Job(t, workspace, 2)
		w.Deliver(t, w.ClaimOne(worker), time.Second)
		frame, input := "frames/"+jobID+"/1", "uploads/"+workspace
		put(input)
		put(frame)
		want("with all files")
		for _, key := range []string{input, frame} {
			if err := blobs.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		want("without", frame, input)
		for range 3 {
			w.Fail(w.ClaimOne(worker), "blender_crashed")
		}
		w.WantStatus(jobID, job.Failed, "blender_crashed")
		want("once the job has failed")
	})
}
