package story_test

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
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/wallet"
)

func TestStartingAQuoteManyTimesAtOnceIsOneJobAndOneReserve(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		const callers = 50
		svc := start(t, config)
		c := svc.caller(credit)
		q := c.quote(3)
		jobs := make([]*client.Job, callers)
		errs := make([]error, callers)
		var all sync.WaitGroup
		together := make(chan struct{})
		for i := range callers {
			all.Go(func() {
				<-together
				jobs[i], errs[i] = c.take(q)
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
		svc.worker(&painter{})
		c.fetch(c.await(jobs[0].JobID, client.StatusCompleted), 3)
		svc.settledOnce(c, 3)
	})
}

func TestTooLittleMoneyReservesNothing(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(2)
		_, err := c.take(c.quote(3))
		refusal := wantRefusal(t, err, 402, "insufficient_funds")
		var detail struct {
			Required  int64 `json:"required_cents"`
			Available int64 `json:"available_cents"`
		}
		if err := json.Unmarshal(refusal.Detail, &detail); err != nil || detail.Required != 3 || detail.Available != 2 {
			t.Errorf("the detail is %s, want 3 required and 2 available (%v)", refusal.Detail, err)
		}
		svc.wantMoney(c.workspace, 2, wallet.Credited)
		if got, err := svc.manualWorker().lease(t.Context()); err != nil || len(got.Leases) != 0 {
			t.Errorf("leased %+v, %v of a job that was not started", got.Leases, err)
		}
	})
}

// TestCancelAndClaimHaveOneWinner lets a caller cancel while a worker claims.
func TestCancelAndClaimHaveOneWinner(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		const rounds = 40
		svc := start(t, config)
		c := svc.caller(credit)
		w := svc.manualWorker()
		upload := c.quote(1)
		kinds := []wallet.Kind{wallet.Credited}
		claims := 0
		for range rounds {
			q, err := c.Quote(patient(t), upload.UploadID, client.Range{Start: 1, End: 1})
			if err != nil {
				t.Fatal(err)
			}
			job, err := c.take(q)
			if err != nil {
				t.Fatal(err)
			}
			var got farmapi.LeaseReply
			var leaseErr, cancelErr error
			var both sync.WaitGroup
			both.Go(func() { got, leaseErr = w.lease(t.Context()) })
			both.Go(func() { _, cancelErr = c.Cancel(patient(t), job.JobID) })
			both.Wait()
			switch {
			case leaseErr != nil:
				t.Fatal(leaseErr)
			case len(got.Leases) == 1:
				claims++
				wantRefusal(t, cancelErr, 409, "render_not_cancellable")
				if err := w.failFinally(t, got); err != nil {
					t.Fatal(err)
				}
				c.await(job.JobID, client.StatusFailed)
			case cancelErr != nil:
				t.Fatalf("nobody won: %v", cancelErr)
			default:
				c.await(job.JobID, client.StatusCancelled)
			}
			kinds = append(kinds, wallet.Reserved, wallet.Released)
		}
		t.Logf("the worker won %d of %d rounds", claims, rounds)
		svc.wantMoney(c.workspace, credit, kinds...)
	})
}

// failFinally reports a leased frame as one that nobody can render.
func (w manualWorker) failFinally(t *testing.T, got farmapi.LeaseReply) error {
	return w.Fail(t.Context(), farmapi.FailRequest{
		WorkerID: w.id, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: blender.OutOfMemory, Message: "no memory", Final: true,
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
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		key := svc.nodeKey() // one for all, so that no job waits for the key of an earlier worker
		for name, story := range stories {
			t.Run(name, func(t *testing.T) {
				svc := svc.with(t)
				c := svc.caller(credit)
				var tries atomic.Int64
				p := &painter{before: func(_ context.Context, frame int) error {
					if frame != 2 || story.rendering == nil {
						return nil
					}
					tries.Add(1)
					return story.rendering
				}}
				if story.opening != nil {
					p.opens = func() error { tries.Add(1); return story.opening }
				}
				svc.worker(p, svc.withKey(key, name))
				job := c.await(c.start(story.frames).JobID, client.StatusFailed)
				want := story.rendering
				if want == nil {
					want = story.opening
				}
				if job.Failure == nil || job.Failure.Code != want.Code {
					t.Errorf("the job failed with %+v, want %s", job.Failure, want.Code)
				}
				if got := tries.Load(); got != story.tries {
					t.Errorf("the frame was tried %d times, want %d", got, story.tries)
				}
				_, err := c.Artifact(patient(t), job.JobID)
				wantRefusal(t, err, 409, "render_not_completed")
				svc.wantMoney(c.workspace, credit, wallet.Credited, wallet.Reserved, wallet.Released)
			})
		}
	})
}

// hurried is a clock that, once hurried, is a minute later at every look.
type hurried struct {
	on    atomic.Bool
	looks atomic.Int64
}

func (c *hurried) skew() time.Duration {
	if c.on.Load() {
		c.looks.Add(1)
	}
	return time.Duration(c.looks.Load()) * time.Minute
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
			each(t, func(t *testing.T, config app.Config) {
				clock := &hurried{}
				config.Skew, config.LeaseLife = clock.skew, 365*24*time.Hour
				svc := open(t, config)
				svc.lone = true // the other processes could pack them
				svc.app.Blobs = readOnce{svc.app.Blobs, failure, &sync.Map{}}
				svc.serve()
				c := svc.caller(credit)
				clock.on.Store(true) // the pauses between tries to pack pass at once
				svc.worker(&painter{})
				failed := c.await(c.start(2).JobID, client.StatusFailed)
				if failed.Failure == nil || failed.Failure.Code != "packaging_failed" {
					t.Errorf("the job failed with %+v, want packaging_failed", failed.Failure)
				}
				svc.wantMoney(c.workspace, credit, wallet.Credited, wallet.Reserved, wallet.Released)
			})
		})
	}
}

func TestAServiceThatTakesNoJobsFinishesWhatRuns(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		job, priced := c.start(2), c.quote(3)
		svc.stop()
		svc.app.Config.Refuse = true
		svc.serve()
		once, err := client.New(svc.url, c.agent.Secret, client.WithAttempts(1)) // the answer says to come again in a minute
		if err != nil {
			t.Fatal(err)
		}
		_, err = once.Start(patient(t), priced.UploadID, priced.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1})
		wantRefusal(t, err, 503, "not_accepting_jobs")
		svc.worker(&painter{})
		c.fetch(c.await(job.JobID, client.StatusCompleted), 2)
		svc.settledOnce(c, 2)
	})
}
