package frames_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// farm is workers that render and a service that takes lapsed leases back, second by second.
type farm struct {
	*world
	reaper  lease.Reaper
	heard   bool
	workers map[string]*lease.Lease  // what each renders; nil for nothing
	began   map[string]time.Duration // at which time of now
	frame   time.Duration
	now     time.Duration
	claims  int
}

func newFarm(w *world, frame time.Duration, workers ...string) *farm {
	f := &farm{world: w, workers: map[string]*lease.Lease{}, began: map[string]time.Duration{}, frame: frame}
	f.reaper = lease.Reaper{DB: w.DB, Queues: []lease.Queue{w.Frames.Queue()}, Log: w.Frames.Log, Pulse: &lease.Pulse{Heard: func() bool {
		heard := f.heard
		f.heard = false
		return heard
	}}}
	for _, worker := range workers {
		f.workers[worker] = nil
	}
	return f
}

// held is how many workers have a frame.
func (f *farm) held() (n int) {
	for _, held := range f.workers {
		if held != nil {
			n++
		}
	}
	return n
}

func (f *farm) reap() {
	f.T.Helper()
	if _, err := f.reaper.Run(f.T.Context()); err != nil {
		f.T.Fatal(err)
	}
}

// work passes so many seconds in which all is well.
func (f *farm) work(seconds int) {
	f.T.Helper()
	for range seconds {
		f.Advance(time.Second)
		f.now += time.Second
		for worker, held := range f.workers {
			f.step(worker, held)
		}
		f.reap()
	}
}

// step is what a worker does in a second: it claims, sends heartbeats, and delivers.
func (f *farm) step(worker string, held *lease.Lease) {
	f.T.Helper()
	f.heard = true
	if held == nil {
		f.Seen(worker)
		if work := f.Claim(f.T, worker, "", 1); len(work.Leases) == 1 {
			f.workers[worker], f.began[worker] = &work.Leases[0], f.now
			f.claims++
		}
		return
	}
	if f.now-f.began[worker] >= f.frame {
		f.Deliver(f.T, *held, f.frame)
		f.workers[worker] = nil
		return
	}
	lost, err := f.Frames.Heartbeat(f.T.Context(), worker, []lease.Ref{held.Ref()}, []float64{0.5})
	if err != nil || len(lost) > 0 {
		f.T.Fatalf("%s lost %v: %v", worker, lost, err)
	}
}

// wantNoBlame checks that a job has no failed attempt, and no worker a fault.
func (f *farm) wantNoBlame(jobID string) {
	f.T.Helper()
	f.Read(f.T, func(ctx context.Context, tx *db.Tx) error {
		failed, err := dispatch.FailuresOf(ctx, tx, jobID, 100)
		if err != nil || len(failed) > 0 {
			f.T.Errorf("there are failed attempts: %+v, %v", failed, err)
		}
		for worker := range f.workers {
			row, err := tx.WorkerGet(ctx, worker)
			if err != nil || row.Faults != 0 || row.SuspendedUntil != 0 {
				f.T.Errorf("%s has %d faults and is suspended until %d: %v", worker, row.Faults, row.SuspendedUntil, err)
			}
		}
		return nil
	})
}

// TestOutagesFailNoJobRepeatNoFrameAndBlameNobody: two workers render frames of 100 s while
// the service fails ten times for 25 s, longer than a lease lives.
func TestOutagesFailNoJobRepeatNoFrameAndBlameNobody(t *testing.T) {
	for name, outage := range map[string]func(f *farm){
		// Nothing can be written, and nothing ends a lease.
		"database": func(*farm) {},
		// The process answers nobody, and then looks for lapsed leases before any worker reports.
		"disk": func(f *farm) { defer f.reap() },
		// The service is well, and no worker reaches it.
		"network": func(f *farm) {
			f.now -= 25 * time.Second
			f.Advance(-25 * time.Second)
			for range 25 {
				f.Advance(time.Second)
				f.now += time.Second
				f.reap()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				workspace, greedy := w.Workspace(t), w.Worker(t)
				f := newFarm(w, 100*time.Second, w.Worker(t), w.Worker(t))
				var jobs []string
				for range 10 {
					if f.held() == 0 {
						jobs = append(jobs, w.Job(t, workspace, 2))
					}
					f.work(5)
					f.now += 25 * time.Second
					f.Advance(25 * time.Second)
					outage(f)
					if f.held() == 2 { // a worker that has nothing to do is heard first
						w.Seen(greedy)
						f.heard = true
						f.reap()
						w.WantNoFrame(greedy)
					}
				}
				f.work(100)
				for _, jobID := range jobs {
					w.WantStatus(jobID, job.Packaging, "")
					f.wantNoBlame(jobID)
				}
				if f.claims != 2*len(jobs) {
					t.Errorf("%d frames were claimed %d times", 2*len(jobs), f.claims)
				}
			})
		})
	}
}

// A worker that falls silent while others are heard is lost, and so is one that is alone with
// workers that wait.
func TestAWorkerThatFallsSilentAloneIsStillLost(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		silent, other := w.Worker(t), w.Worker(t)
		f := newFarm(w, time.Hour, silent, other)
		f.work(2)
		delete(f.workers, silent)
		f.work(25)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			failed, err := dispatch.FailuresOf(ctx, tx, jobID, 100)
			if err != nil || len(failed) != 1 || failed[0].Code != string(fault.WorkerLost) || failed[0].WorkerID != silent {
				t.Errorf("failed attempts: %+v, %v", failed, err)
			}
			return nil
		})
	})
}

// Whoever comes back before another worker has taken the frame continues, and was not lost.
func TestALostWorkerThatIsHeardAgainKeepsItsFrame(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 1)
		worker := w.Worker(t)
		held := w.ClaimOne(worker)
		w.lapse()
		lost, err := w.Frames.Heartbeat(t.Context(), worker, []lease.Ref{held.Ref()}, []float64{0.5})
		if err != nil || len(lost) != 0 {
			t.Fatalf("it lost %v: %v", lost, err)
		}
		w.CheckTurns()
		w.Deliver(t, held, time.Second)
		w.WantStatus(jobID, job.Packaging, "")
		newFarm(w, time.Second, worker).wantNoBlame(jobID)
	})
}

func TestAFinishedPictureThatComesLateIsAcceptedUnlessAnotherHasTheFrame(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		late, other := w.Worker(t), w.Worker(t)
		first, second := w.ClaimOne(late), w.ClaimOne(late)
		w.lapse()
		w.Seen(late, other)
		if taken := w.ClaimOne(other); taken.Item != first.Item {
			t.Fatalf("the other worker got frame %d", taken.Item)
		}
		for _, l := range []lease.Lease{first, second} {
			_, _, err := w.Frames.Admit(t.Context(), jobtest.Picture(l, time.Second))
			if refused := fault.Is(err, fault.LeaseLost); refused != (l.Item == first.Item) || (err != nil && !refused) {
				t.Errorf("frame %d is admitted: %v", l.Item, err)
			}
		}
		if _, err := w.Frames.Accept(t.Context(), jobtest.Picture(first, time.Second)); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("a frame that another worker has is accepted: %v", err)
		}
		w.Deliver(t, second, time.Second)
		w.CheckTurns()
		w.WantStatus(jobID, job.Rendering, "")
		// It is not that of another worker who makes the number up.
		if _, err := w.Frames.Accept(t.Context(), jobtest.Picture(lease.Lease{ID: second.ID, Subject: jobID, Item: second.Item, Attempt: second.Attempt, Holder: other}, time.Second)); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("a second picture is accepted: %v", err)
		}
	})
}

// lapse passes the life of all leases and ends them, each as its worker's fault.
func (w *world) lapse() {
	w.T.Helper()
	w.Advance(w.Frames.LeaseLife + time.Second)
	if _, err := (lease.Reaper{DB: w.DB, Queues: []lease.Queue{w.Frames.Queue()}, Log: w.Frames.Log}).Run(w.T.Context()); err != nil {
		w.T.Fatal(err)
	}
	w.Advance(2 * time.Second)
}

// TestTimeStandsStillForClaimsToo: what an outage takes is no time of a worker's.
func TestTimeStandsStillForClaimsToo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Frames.FrameTime, w.Frames.PlayTime = time.Hour, time.Hour
		jobID := w.Job(t, w.Workspace(t), 1)
		f := newFarm(w, time.Hour, w.Worker(t))
		f.work(2)
		f.now += 24 * time.Hour
		f.Advance(24 * time.Hour)
		f.reap()
		if err := w.Frames.TakeBackOverdue(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.WantStatus(jobID, job.Rendering, "")
		f.wantNoBlame(jobID)
	})
}

// A scene that takes down every machine ends its job in the end.
func TestLapsesTogetherAreNotFreeForEver(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		a, b := w.Worker(t), w.Worker(t)
		f := newFarm(w, time.Hour)
		for try := range 100 {
			if status, _ := w.Status(jobID); status != job.Rendering && try > 0 {
				break
			}
			w.Seen(a, b)
			w.Claim(t, a, "", 1)
			w.Claim(t, b, "", 1)
			for range 30 {
				w.Advance(time.Second)
				f.heard = true // by workers that wait
				f.reap()
			}
		}
		w.WantStatus(jobID, job.Failed, fault.WorkerLost)
	})
}

// TestALatePictureOfAnotherBlenderIsRefused: while its worker was lost, one with another
// version has begun the job.
func TestALatePictureOfAnotherBlenderIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		jobID := w.Job(t, w.Workspace(t), 2)
		late, other := w.WorkerOfKind(t, "3.4.1", "keep"), w.WorkerOfKind(t, "4.1.1", "keep")
		first := w.ClaimOne(late)
		second := w.ClaimOne(late)
		w.lapse()
		w.Seen(late, other)
		w.ClaimOne(other)
		lost, err := w.Frames.Heartbeat(t.Context(), late, []lease.Ref{first.Ref(), second.Ref()}, []float64{0.5, 0.5})
		if err != nil || len(lost) != 2 {
			t.Errorf("the worker that is heard again lost %v: %v", lost, err)
		}
		if _, err := w.Frames.Accept(t.Context(), jobtest.Picture(second, time.Second)); !fault.Is(err, fault.LeaseLost) {
			t.Errorf("its late picture: %v", err)
		}
		w.Deliver(t, w.ClaimOne(other), time.Second)
		w.CheckTurns()
		w.WantStatus(jobID, job.Rendering, "")
	})
}
