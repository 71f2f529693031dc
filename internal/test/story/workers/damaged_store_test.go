package workers_test

import (
	"net/http"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/wallet"
)

func TestALostInputEndsItsJobByName(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		for name, damage := range story.Lose {
			t.Run(name, func(t *testing.T) {
				svc := svc.With(t)
				c := svc.Caller(story.Credit)
				job := c.StartFrames(3)
				for _, key := range svc.Stored("uploads") {
					damage(svc, key)
				}
				defer svc.Worker(&story.Painter{})()
				job = c.Await(job.JobID, client.StatusFailed)
				if job.Failure == nil || job.Failure.Code != "input_damaged" || !strings.Contains(job.Failure.Message, demo.Filename) {
					t.Errorf("the job failed with %+v, want input_damaged with the file's name", job.Failure)
				}
				svc.WantMoney(c.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Released)
			})
		}
	})
}

func TestAWorkersWordAboutTheInputFailsNoJob(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job := c.StartFrames(1)
		liar := svc.ManualWorker()
		got, err := liar.LeaseOne(t.Context())
		if err == nil {
			err = liar.Fail(t.Context(), farmapi.FailRequest{
				WorkerID: liar.ID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "input_damaged", Message: "a lie", Final: true,
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		svc.Worker(&story.Painter{})
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 1)
		svc.SettledOnce(c, 1)
	})
}

func TestALostFrameIsRenderedAgain(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		for name, damage := range story.Lose {
			t.Run(name, func(t *testing.T) {
				svc := svc.With(t)
				c := svc.Caller(story.Credit)
				g := story.BarrierAt(3)
				painted := &story.Painter{Before: g.Pass}
				stop := svc.Worker(painted)
				defer stop()
				job := c.StartFrames(3)
				if _, err := g.Await(story.Patient(t)); err != nil {
					t.Fatal(err)
				}
				c.AwaitFrames(job.JobID, 2)
				for _, key := range svc.Stored("frames/" + job.JobID) {
					damage(svc, key)
				}
				g.Open()
				c.Fetch(c.Await(job.JobID, client.StatusCompleted), 3)
				if failed := svc.FailedTries(job.JobID); failed != 2 {
					t.Errorf("the log shows %d lost frames, want 2", failed)
				}
				svc.SettledOnce(c, 3)
			})
		}
	})
}

// TestADamagedResultIsNeverServed is about bytes that come through the service. A store
// that sends them directly knows nothing of their hash: the client compares it.
func TestADamagedResultIsNeverServed(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		if config.Blobs != "" {
			config.Blobs += "&links=workers"
		}
		svc := story.Start(t, config)
		stop := svc.Worker(&story.Painter{})
		c := svc.Caller(story.Credit)
		job := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
		stop()
		artifact, err := c.Artifact(story.Patient(t), job.JobID)
		if err != nil {
			t.Fatal(err)
		}
		key := svc.Stored("artifacts")[0]
		whole := svc.Content(key)
		for name, damage := range story.Lose {
			for _, headers := range []http.Header{nil, {"Range": {"bytes=0-99"}}, {"Range": {"bytes=-1"}}} {
				story.Get(t, http.MethodGet, artifact.URL, nil).Want(t, http.StatusOK, "")
				damage(svc, key)
				story.Get(t, http.MethodGet, artifact.URL, headers).Want(t, http.StatusInternalServerError, "result_damaged")
				story.Get(t, http.MethodHead, artifact.URL, headers).Want(t, http.StatusInternalServerError, "")
				// A frame whose own file is removed comes from the ZIP.
				for _, frame := range svc.Files("frames/" + job.JobID) {
					svc.Remove(frame)
				}
				preview := story.Get(t, http.MethodGet, svc.URL+"/v1/renders/"+job.JobID+"/frames/1/preview", http.Header{"Authorization": {"Bearer " + c.Account.Secret}})
				preview.Want(t, http.StatusInternalServerError, "result_damaged")
				if t.Failed() {
					t.Fatalf("%s, %v", name, headers)
				}
				svc.Overwrite(key, whole)
			}
		}
		story.Get(t, http.MethodGet, artifact.URL, nil).Want(t, http.StatusOK, "")
	})
}
