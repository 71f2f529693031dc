package story_test

import (
	"net/http"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/wallet"
)

func TestALostInputEndsItsJobByName(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		for name, damage := range lose {
			t.Run(name, func(t *testing.T) {
				svc := svc.with(t)
				c := svc.caller(credit)
				job := c.start(3)
				for _, key := range svc.stored("uploads") {
					damage(svc, key)
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
				for _, key := range svc.stored("frames/" + job.JobID) {
					damage(svc, key)
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

// TestADamagedResultIsNeverServed is about bytes that come through the service. A store
// that sends them by itself knows nothing of their hash: who fetches them compares it.
func TestADamagedResultIsNeverServed(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		if config.Blobs != "" {
			config.Blobs += "&links=workers"
		}
		svc := start(t, config)
		stop := svc.worker(&painter{})
		c := svc.caller(credit)
		job := c.await(c.start(2).JobID, client.StatusCompleted)
		stop()
		artifact, err := c.Artifact(patient(t), job.JobID)
		if err != nil {
			t.Fatal(err)
		}
		key := svc.stored("artifacts")[0]
		whole := svc.content(key)
		for name, damage := range lose {
			for _, headers := range []http.Header{nil, {"Range": {"bytes=0-99"}}, {"Range": {"bytes=-1"}}} {
				get(t, http.MethodGet, artifact.URL, nil).want(t, http.StatusOK, "")
				damage(svc, key)
				get(t, http.MethodGet, artifact.URL, headers).want(t, http.StatusInternalServerError, "result_damaged")
				get(t, http.MethodHead, artifact.URL, headers).want(t, http.StatusInternalServerError, "")
				// A frame whose own file is removed comes from the ZIP.
				for _, frame := range svc.files("frames/" + job.JobID) {
					svc.remove(frame)
				}
				preview := get(t, http.MethodGet, svc.url+"/v1/renders/"+job.JobID+"/frames/1/preview", http.Header{"Authorization": {"Bearer " + c.account.Secret}})
				preview.want(t, http.StatusInternalServerError, "result_damaged")
				if t.Failed() {
					t.Fatalf("%s, %v", name, headers)
				}
				svc.overwrite(key, whole)
			}
		}
		get(t, http.MethodGet, artifact.URL, nil).want(t, http.StatusOK, "")
	})
}
