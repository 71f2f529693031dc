package dispatch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/test/long"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/job"
)

// mixes is how many queues are simulated. Each takes hundreds of transactions.
func mixes() int {
	if long.Race {
		return long.Scale(8, 50)
	}
	return long.Scale(8, 1000)
}

// startMix starts one to four jobs of one to four workspaces for one to four workers.
func startMix(t *testing.T, w *jobtest.World, r *rand.Rand) *sim {
	s := newSim(t, w, 1+r.IntN(4))
	for range 1 + r.IntN(4) {
		workspace := w.Workspace(t)
		for range 1 + r.IntN(4) {
			s.start(workspace, 1+r.IntN(8), time.Duration(200+r.IntN(30_000))*time.Millisecond)
		}
	}
	return s
}

// queued lists the jobs of which no frame was ever claimed, as their positions order them.
func (s *sim) queued() (order []string) {
	s.w.Read(s.t, func(ctx context.Context, tx *db.Tx) error {
		o, err := dispatch.ReadForecast(ctx, tx)
		if err != nil {
			return err
		}
		turns, err := tx.TurnsWaiting(ctx)
		if err != nil {
			return err
		}
		place := map[string]int{}
		for _, t := range turns {
			if job.Status(t.Status) == job.Queued {
				order, place[t.Party] = append(order, t.Party), o.Position(t.Party, t.Within, dispatch.DefaultPriority, 0, 0)
			}
		}
		slices.SortFunc(order, func(a, b string) int { return place[a] - place[b] })
		for i, id := range order {
			if place[id] != i+1 {
				s.t.Fatalf("%d jobs are queued, and the position of the one in place %d is %d", len(order), i+1, place[id])
			}
		}
		return nil
	})
	return order
}

// TestPositionsForeseeTheOrderOfTheJobs compares positions with what the real dispatch
// does, over frames of 0.2 to 30 s of which it knows nothing beforehand. The first in the
// queue is always the next to start. How well the order of all is foreseen is measured:
// docs/internal/queue-measured.md shows it.
func TestPositionsForeseeTheOrderOfTheJobs(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		starts, exact, pairs, right := 0, 0, 0, 0
		for seed := range mixes() {
			s := startMix(t, w, rand.New(rand.NewPCG(uint64(seed), 0)))
			foreseen := s.queued()
			before, started := foreseen, []string(nil)
			s.look = func() { before = s.queued() }
			for s.busy() {
				s.step()
				if after := s.queued(); len(after) < len(before) {
					started = append(started, before[0])
					if slices.Contains(after, before[0]) {
						t.Fatalf("mix %d: %v are queued, then %v: another than the first started", seed, before, after)
					}
				}
			}
			starts += len(started)
			if slices.Equal(foreseen, started) {
				exact++
			}
			for i, id := range foreseen {
				for _, later := range foreseen[i+1:] {
					pairs++
					if slices.Index(started, id) < slices.Index(started, later) {
						right++
					}
				}
			}
		}
		t.Logf("%d mixes: the first was the next in all of %d starts; the whole order was foreseen in %d mixes, the order of %d of %d pairs", mixes(), starts, exact, right, pairs)
		if 10*right < 9*pairs {
			t.Errorf("of %d pairs of jobs %d started in the order of their positions, want nine of ten", pairs, right)
		}
	})
}

// errUndo rolls a transaction back that only looked.
var errUndo = errors.New("undo")

// mayTake counts the workers that Next gives a frame of a job when no other job has any,
// and those of them that hold none.
func (s *sim) mayTake(jobID string) (able, idle int) {
	err := s.w.DB.Write(s.w.T.Context(), func(tx *db.Tx) error {
		able, idle = 0, 0
		turns, err := tx.TurnsWaiting(s.w.T.Context())
		if err != nil {
			return err
		}
		for _, t := range turns {
			for _, party := range []string{t.Party, t.Within} {
				if t.Party != jobID {
					if _, err := tx.TurnMove(s.w.T.Context(), query.TurnMoveParams{Party: party, Waiting: -t.Waiting}); err != nil {
						return err
					}
				}
			}
		}
		for _, worker := range s.workers {
			c, err := dispatch.Next(s.w.T.Context(), tx, worker.id, dispatch.OpenJob{})
			if err != nil {
				return err
			}
			if c.JobID == jobID {
				able++
				if len(worker.has) == 0 {
					idle++
				}
			}
		}
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		s.t.Fatal(err)
	}
	return able, idle
}

// TestTheReasonToWaitIsThatOfDispatch compares the reason with whom the real dispatch
// would give a frame, while some workers lack the denoiser of some jobs.
func TestTheReasonToWaitIsThatOfDispatch(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		seen := map[job.WaitingReason]int{}
		for seed := range mixes() / 4 {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			s := startMix(t, w, r)
			ids := s.queued()
			for _, worker := range s.workers[1:] { // the first can render all
				worker.lack = ids[r.IntN(len(ids))]
			}
			for s.busy() {
				s.step()
				for _, id := range ids {
					if s.jobs[id].left > 0 {
						seen[s.checkReason(id)]++
					}
				}
				s.keepOnline()
			}
			s.sendHome()
		}
		t.Logf("reasons over %d mixes: %v", mixes()/4, seen)
		if seen[job.WorkersBusy] == 0 || seen[""] == 0 {
			t.Errorf("the mixes show no more than %v", seen)
		}
	})
}

// checkReason compares why a job waits with what Next would give.
func (s *sim) checkReason(jobID string) (reason job.WaitingReason) {
	o, err := s.w.Jobs.Get(s.w.T.Context(), s.jobs[jobID].workspace, jobID)
	if err != nil {
		s.t.Fatal(err)
	}
	if o.WaitingReason != nil {
		reason = *o.WaitingReason
	}
	held := slices.ContainsFunc(s.workers, func(w *simWorker) bool {
		return slices.ContainsFunc(w.has, func(l lease.Lease) bool { return l.Subject == jobID })
	})
	want := job.WaitingReason("")
	if !held {
		switch able, idle := s.mayTake(jobID); {
		case able == 0:
			want = job.NoCapableWorker
		case idle == 0:
			want = job.WorkersBusy
		}
	}
	if reason != want {
		s.t.Fatalf("a %s job waits because of %q, want %q", o.Status, reason, want)
	}
	return reason
}

// keepOnline records a report of each worker.
func (s *sim) keepOnline() {
	for _, worker := range s.workers {
		s.w.Seen(worker.id)
	}
}

// sendHome ends the simulation's workers: those of the next one are alone.
func (s *sim) sendHome() {
	for _, worker := range s.workers {
		if err := s.w.Workers.MarkOffline(s.w.T.Context(), worker.id); err != nil {
			s.t.Fatal(err)
		}
	}
}

// A forecast since a moment is not from before it, and is read once for all callers.
func TestAForecastSinceAMomentIsNotOlder(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		queue := &dispatch.Forecasts{Life: time.Hour}
		since := func(moment int64) (o *dispatch.Forecast) {
			w.Read(t, func(ctx context.Context, tx *db.Tx) (err error) {
				o, err = queue.Since(ctx, tx, moment)
				return err
			})
			return o
		}
		nobody := since(0)
		w.Worker(t)
		var moment int64
		w.Read(t, func(_ context.Context, tx *db.Tx) error {
			moment = tx.Now
			return nil
		})
		seen := since(moment)
		if nobody.Online != 0 || seen.Online != 1 {
			t.Errorf("%d workers, then %d, want none and then one", nobody.Online, seen.Online)
		}
		if again := since(moment); again != seen {
			t.Error("the queue is read again for the same moment")
		}
	})
}

// However many look, the queue is read once in the life of a forecast. A job that came
// later has its place all the same.
func TestAForecastIsSharedForItsLife(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspace := w.Workspace(t)
		first := w.Job(t, workspace, 1)
		queue := &dispatch.Forecasts{Life: time.Second}
		now := func() (o *dispatch.Forecast) {
			w.Read(t, func(ctx context.Context, tx *db.Tx) (err error) {
				o, err = queue.Now(ctx, tx)
				return err
			})
			return o
		}
		seen := now()
		late := w.Job(t, workspace, 1)
		if seen.Position(first, workspace, dispatch.DefaultPriority, 0, 0) != 1 || seen.Position(late, workspace, dispatch.DefaultPriority, 0, 0) != 2 {
			t.Errorf("the places are %d and %d, want 1 and 2", seen.Position(first, workspace, dispatch.DefaultPriority, 0, 0), seen.Position(late, workspace, dispatch.DefaultPriority, 0, 0))
		}
		w.Advance(time.Hour)
		if again := now(); again == seen || again.Position(late, workspace, dispatch.DefaultPriority, 0, 0) != 2 {
			t.Error("an hour later the forecast is the same")
		}
		if last := now(); last == seen {
			t.Error("an old forecast came back")
		}
	})
}
