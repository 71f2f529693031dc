package story_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/work/wallet"
)

// lose damages files of the store: one loses a bit, or is gone.
var lose = map[string]func(path string) error{
	"a bit is lost": func(path string) error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content[len(content)/2] ^= 1
		return os.WriteFile(path, content, 0o600)
	},
	"the file is gone": os.Remove,
}

// stored lists the files in a folder of the blob store.
func (svc *service) stored(folder string) (paths []string) {
	svc.t.Helper()
	err := filepath.WalkDir(filepath.Join(svc.config.Data, "blobs", folder), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		svc.t.Fatalf("the store has %v under %s: %v", paths, folder, err)
	}
	return paths
}

func TestALostInputEndsItsJobByName(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		for name, damage := range lose {
			t.Run(name, func(t *testing.T) {
				svc := svc.with(t)
				c := svc.caller(credit)
				job := c.start(3)
				for _, path := range svc.stored("uploads") {
					if err := damage(path); err != nil {
						t.Fatal(err)
					}
				}
				defer svc.worker(&painter{})()
				job = c.await(job.JobID, client.StatusFailed)
				if job.Failure == nil || job.Failure.Code != "input_damaged" || !strings.Contains(job.Failure.Message, demo.Filename) {
					t.Errorf("the job failed with %+v, want input_damaged with the file's name", job.Failure)
				}
				svc.wantMoney(c.workspace, credit, wallet.Credited, wallet.Reserved, wallet.Released)
			})
		}
	})
}

func TestAWorkersWordAboutTheInputFailsNoJob(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		job := c.start(1)
		liar := svc.manualWorker()
		got, err := liar.lease(t.Context())
		if err == nil {
			err = liar.Fail(t.Context(), farmapi.FailRequest{
				WorkerID: liar.id, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "input_damaged", Message: "a lie", Final: true,
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		svc.worker(&painter{})
		c.fetch(c.await(job.JobID, client.StatusCompleted), 1)
		svc.settledOnce(c, 1)
	})
}

func TestALostFrameIsRenderedAgain(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		for name, damage := range lose {
			t.Run(name, func(t *testing.T) {
				svc := svc.with(t)
				c := svc.caller(credit)
				g := barrierAt(3)
				painted := &painter{before: g.pass}
				stop := svc.worker(painted)
				defer stop()
				job := c.start(3)
				if _, err := g.await(patient(t)); err != nil {
					t.Fatal(err)
				}
				c.awaitFrames(job.JobID, 2)
				for _, path := range svc.stored("frames/" + job.JobID) {
					if err := damage(path); err != nil {
						t.Fatal(err)
					}
				}
				g.open()
				c.fetch(c.await(job.JobID, client.StatusCompleted), 3)
				if failed := svc.failedTries(job.JobID); failed != 2 {
					t.Errorf("the log tells of %d lost frames, want 2", failed)
				}
				svc.settledOnce(c, 3)
			})
		}
	})
}

func TestADamagedResultIsNeverServed(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		stop := svc.worker(&painter{})
		c := svc.caller(credit)
		job := c.await(c.start(2).JobID, client.StatusCompleted)
		stop()
		artifact, err := c.Artifact(patient(t), job.JobID)
		if err != nil {
			t.Fatal(err)
		}
		path := svc.stored("artifacts")[0]
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, damage := range lose {
			for _, headers := range []http.Header{nil, {"Range": {"bytes=0-99"}}, {"Range": {"bytes=-1"}}} {
				get(t, http.MethodGet, artifact.URL, nil).want(t, http.StatusOK, "")
				if err := damage(path); err != nil {
					t.Fatal(err)
				}
				get(t, http.MethodGet, artifact.URL, headers).want(t, http.StatusInternalServerError, "result_damaged")
				get(t, http.MethodHead, artifact.URL, headers).want(t, http.StatusInternalServerError, "")
				// A frame whose own file is removed comes from the ZIP.
				if err := os.RemoveAll(filepath.Join(svc.config.Data, "blobs", "frames", job.JobID)); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				preview := get(t, http.MethodGet, svc.url+"/v1/renders/"+job.JobID+"/frames/1/preview", http.Header{"Authorization": {"Bearer " + c.account.Secret}})
				preview.want(t, http.StatusInternalServerError, "result_damaged")
				if t.Failed() {
					t.Fatalf("%s, %v", name, headers)
				}
				if err := os.WriteFile(path, whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		get(t, http.MethodGet, artifact.URL, nil).want(t, http.StatusOK, "")
	})
}
