package money_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/wallet"
)

func TestStartingAQuoteManyTimesAtOnceIsOneJobAndOneReserve(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		const callers = 50
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		q := c.QuoteFrames(3)
		jobs := make([]*client.Job, callers)
		errs := make([]error, callers)
		var all sync.WaitGroup
		together := make(chan struct{})
		for i := range callers {
			all.Go(func() {
				<-together
				jobs[i], errs[i] = c.Take(q)
			})
		}
		close(together)
		all.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
			if jobs[i].JobID != jobs[0].JobID {
				t.Errorf("one quote became the jobs %s and %s", jobs[0].JobID, jobs[i].JobID)
			}
		}
		if jobs[0].ReservedCents != 3 {
			t.Errorf("%d cents are reserved, want 3", jobs[0].ReservedCents)
		}
		svc.Worker(&story.Painter{})
		c.Fetch(c.Await(jobs[0].JobID, client.StatusCompleted), 3)
		svc.SettledOnce(c, 3)
	})
}

func TestTooLittleMoneyReservesNothing(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(2)
		_, err := c.Take(c.QuoteFrames(3))
		refusal := story.WantRefusal(t, err, 402, "insufficient_funds")
		var detail struct {
			Required  int64 `json:"required_cents"`
			Available int64 `json:"available_cents"`
		}
		if err := json.Unmarshal(refusal.Detail, &detail); err != nil || detail.Required != 3 || detail.Available != 2 {
			t.Errorf("the detail is %s, want 3 required and 2 available (%v)", refusal.Detail, err)
		}
		svc.WantMoney(c.Workspace, 2, wallet.Credited)
		if got, err := svc.ManualWorker().LeaseOne(t.Context()); err != nil || len(got.Leases) != 0 {
			t.Errorf("leased %+v, %v of a job that was not started", got.Leases, err)
		}
	})
}

// TestCancelAndClaimHaveOneWinner lets a caller cancel while a worker claims.
func TestCancelAndClaimHaveOneWinner(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		const rounds = 40
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		w := svc.ManualWorker()
		upload := c.QuoteFrames(1)
		kinds := []wallet.Kind{wallet.Credited}
		claims := 0
		for range rounds {
			q, err := c.Quote(story.Patient(t), upload.UploadID, "1")
			if err != nil {
				t.Fatal(err)
			}
			job, err := c.Take(q)
			if err != nil {
				t.Fatal(err)
			}
			var got farmapi.LeaseReply
			var leaseErr, cancelErr error
			var both sync.WaitGroup
			both.Go(func() { got, leaseErr = w.LeaseOne(t.Context()) })
			both.Go(func() { _, cancelErr = c.Cancel(story.Patient(t), job.JobID) })
			both.Wait()
			switch {
			case leaseErr != nil:
				t.Fatal(leaseErr)
			case len(got.Leases) == 1:
				claims++
				story.WantRefusal(t, cancelErr, 409, "render_not_cancellable")
				if err := w.FailFinally(t, got); err != nil {
					t.Fatal(err)
				}
				c.Await(job.JobID, client.StatusFailed)
			case cancelErr != nil:
				t.Fatalf("neither won: %v", cancelErr)
			default:
				c.Await(job.JobID, client.StatusCancelled)
			}
			kinds = append(kinds, wallet.Reserved, wallet.Released)
		}
		t.Logf("the worker won %d of %d rounds", claims, rounds)
		svc.WantMoney(c.Workspace, story.Credit, kinds...)
	})
}

func TestAFrameThatCannotBeRenderedFailsItsJobAndGivesTheMoneyBack(t *testing.T) {
	outOfMemory := &blender.Error{Code: blender.OutOfMemory, Message: "There is no memory left."}
	hopeless := &blender.Error{Code: blender.Crashed, Message: "The file cannot be opened.", Final: true}
	noDenoiser := &blender.Error{Code: blender.DenoiserUnavailable, Message: "The scene wants a denoiser.", Final: true}
	stories := map[string]struct {
		opening, rendering *blender.Error // of frame 2
		frames             int
		tries              int64
	}{
		"three failures":  {rendering: outOfMemory, frames: 3, tries: 3},
		"a final failure": {rendering: hopeless, frames: 3, tries: 1},
		"no denoiser":     {opening: noDenoiser, frames: 1, tries: 1},
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		key := svc.NodeKey() // one for all, so that no job waits for the key of an earlier worker
		for name, scenario := range stories {
			t.Run(name, func(t *testing.T) {
				svc := svc.With(t)
				c := svc.Caller(story.Credit)
				var tries atomic.Int64
				p := &story.Painter{Before: func(_ context.Context, frame int) error {
					if frame != 2 || scenario.rendering == nil {
						return nil
					}
					tries.Add(1)
					return scenario.rendering
				}}
				if scenario.opening != nil {
					p.Opens = func() error { tries.Add(1); return scenario.opening }
				}
				svc.Worker(p, svc.WithKey(key, name))
				job := c.Await(c.StartFrames(scenario.frames).JobID, client.StatusFailed)
				want := scenario.rendering
				if want == nil {
					want = scenario.opening
				}
				if job.Failure == nil || job.Failure.Code != want.Code {
					t.Errorf("the job failed with %+v, want %s", job.Failure, want.Code)
				}
				if got := tries.Load(); got != scenario.tries {
					t.Errorf("the frame was tried %d times, want %d", got, scenario.tries)
				}
				_, err := c.Artifact(story.Patient(t), job.JobID)
				story.WantRefusal(t, err, 409, "render_not_completed")
				svc.WantMoney(c.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Released)
			})
		}
	})
}

// readOnce is a store that opens each frame once, for the check of its delivery, and then
// fails.
type readOnce struct {
	blob.Store
	then   error
	opened *sync.Map
}

func (s readOnce) Open(ctx context.Context, key string) (blob.Reader, error) {
	if _, again := s.opened.LoadOrStore(key, true); again && strings.HasPrefix(key, "frames/") {
		return nil, s.then
	}
	return s.Store.Open(ctx, key)
}

func TestFramesThatCannotBePackedCostNothing(t *testing.T) {
	for name, failure := range map[string]error{"lost": blob.ErrNotFound, "unreadable": errors.New("the disk is sick")} {
		t.Run(name, func(t *testing.T) {
			story.Each(t, func(t *testing.T, config app.Config) {
				clock := &story.Hurried{}
				config.Skew, config.LeaseLife = clock.Skew, 365*24*time.Hour
				svc := story.Open(t, config)
				svc.Lone = true // the other processes could pack them
				svc.App.Blobs = readOnce{svc.App.Blobs, failure, &sync.Map{}}
				svc.Serve()
				c := svc.Caller(story.Credit)
				clock.On.Store(true) // the pauses between tries to pack pass at once
				svc.Worker(&story.Painter{})
				failed := c.Await(c.StartFrames(2).JobID, client.StatusFailed)
				if failed.Failure == nil || failed.Failure.Code != "packaging_failed" {
					t.Errorf("the job failed with %+v, want packaging_failed", failed.Failure)
				}
				svc.WantMoney(c.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Released)
			})
		})
	}
}

func TestAServiceThatTakesNoJobsFinishesWhatRuns(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job, priced := c.StartFrames(2), c.QuoteFrames(3)
		svc.Stop()
		svc.App.Config.Refuse = true
		svc.Serve()
		once, err := client.New(svc.URL, c.Agent.Secret, client.WithAttempts(1)) // the answer says to come again in a minute
		if err != nil {
			t.Fatal(err)
		}
		_, err = once.Start(story.Patient(t), priced, client.StartRequest{LegalAcceptance: client.LegalV1})
		story.WantRefusal(t, err, 503, "not_accepting_jobs")
		svc.Worker(&story.Painter{})
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 2)
		svc.SettledOnce(c, 2)
	})
}
