package farm

import (
	"context"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/recheck"
)

// waitQueue holds the long polls of this process. When frames arrive it wakes
// as many waiters as there are frames, the longest waiting first: of a thousand
// idle workers, one frame wakes one. Waking all would let a thousand claims
// race for a single row.
//
// A waiter that is woken may get nothing, because another process took the
// frame or because dispatch keeps it from this worker. Then the next one is
// woken.
type waitQueue struct {
	mu sync.Mutex
	// waiting is sorted by waiting time, the longest first.
	waiting []*waiter
	// trying counts the waiters that are awake and have not finished their
	// claim.
	trying int
	// tryingPreviews counts those of them that were woken for a preview.
	tryingPreviews int
	// round rises whenever there may be new work. A waiter is woken at most
	// once a round, so that a frame that no waiter may have does not wake the
	// same ones forever.
	round int
	// changed, of capacity 1, notifies WakeWorkers that a slot may be free.
	changed chan struct{}
}

// waiter is a worker's long poll. waitQueue.mu guards its fields but awake.
type waiter struct {
	// awake has capacity 1, so that waking never blocks under the lock.
	awake chan struct{}
	// tried is the round in which it last claimed.
	tried int
	// trying says that it counts in waitQueue.trying.
	trying bool
	// previews says that it takes free previews too, and forPreview that it is awake for
	// one.
	previews, forPreview bool
}

// Bounds of the wait queue.
const (
	// maxTrying bounds how many waiters claim at once: enough to share commits,
	// few enough not to contend for rows.
	maxTrying = 32
	// maxTryingPreviews is how many of them are awake for previews, so that frames that
	// come find free slots.
	maxTryingPreviews = 4
	// recheckEvery is how often the queue is read for work that becomes due
	// without a notification, such as a frame whose pause after a failure ends.
	recheckEvery = time.Second
)

// newWaitQueue returns an empty queue.
func newWaitQueue() *waitQueue { return &waitQueue{changed: make(chan struct{}, 1)} }

// join returns a new waiter, which makes its first claim unasked. It counts as
// having tried in this round; only later work wakes it.
func (q *waitQueue) join(previews bool) *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return &waiter{awake: make(chan struct{}, 1), tried: q.round, previews: previews}
}

// wait enqueues a waiter that got nothing and returns the channel that wakes
// it. If work has arrived since its claim began, its round is over already, and
// it can be woken at once.
func (q *waitQueue) wait(w *waiter) (awake <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endTry(w)
	q.waiting = append(q.waiting, w)
	q.signal()
	return w.awake
}

// remove ends a waiter. If it had just been woken, the slot goes to another:
// the frame it was woken for still waits.
func (q *waitQueue) remove(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.endTry(w)
	q.signal()
}

// any reports whether a worker waits.
func (q *waitQueue) any() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)+q.trying > 0
}

// endTry ends a waiter's claim. The caller holds mu.
func (q *waitQueue) endTry(w *waiter) {
	if w.trying {
		w.trying = false
		q.trying--
	}
	if w.forPreview {
		w.forPreview = false
		q.tryingPreviews--
	}
}

// signal makes WakeWorkers look again. One pending signal is enough for any
// number of changes.
func (q *waitQueue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// newRound allows every waiter to be woken once more.
func (q *waitQueue) newRound() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.round++
}

// freeSlots returns how many waiters could be woken now: those that have not
// tried in this round, up to maxTrying. The database is asked only if there are
// any.
func (q *waitQueue) freeSlots() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		if n == maxTrying-q.trying {
			break
		}
		if w.tried < q.round {
			n++
		}
	}
	return n
}

// wake wakes up to n waiters that have not tried in this round.
func (q *waitQueue) wake(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rouse(n, func(*waiter) bool { return true })
}

// wakeForPreviews is wake of waiters that take previews, maxTryingPreviews at once.
func (q *waitQueue) wakeForPreviews(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rouse(min(n, maxTryingPreviews-q.tryingPreviews), func(w *waiter) bool {
		if w.previews {
			w.forPreview = true
			q.tryingPreviews++
		}
		return w.previews
	})
}

// rouse wakes up to n waiters that have not tried in this round and are chosen. The caller
// holds mu.
func (q *waitQueue) rouse(n int, choose func(*waiter) bool) {
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		if n <= 0 || w.tried == q.round || !choose(w) {
			return false
		}
		n--
		w.tried, w.trying = q.round, true
		q.trying++
		w.awake <- struct{}{}
		return true
	})
}

// WakeWorkers wakes waiting workers when there is work, until ctx ends. Exactly
// one call runs per process; app starts it.
//
// It wakes no more workers than there are due frames, and only then others for
// previews. Without a notification it looks once a second. An error only delays: the next
// round looks again.
func (s *Server) WakeWorkers(ctx context.Context) {
	arrived, stop := s.DB.Listen(lease.Topic(dispatch.FrameQueue))
	defer stop()
	cut, stopStrips := s.DB.Listen(lease.Topic(dispatch.StripQueue))
	defer stopStrips()
	ordered, stopPreviews := s.DB.Listen(lease.Topic(preview.Queue))
	defer stopPreviews()
	asked, stopReferences := s.DB.Listen(lease.Topic(leaderboard.ReferenceQueue))
	defer stopReferences()
	wanted, stopMovies := s.DB.Listen(lease.Topic(movie.Queue))
	defer stopMovies()
	doubted, stopRechecks := s.DB.Listen(lease.Topic(recheck.Queue))
	defer stopRechecks()
	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-arrived:
			s.waiters.newRound()
		case <-cut:
			s.waiters.newRound()
		case <-ordered:
			s.waiters.newRound()
		case <-asked:
			s.waiters.newRound()
		case <-wanted:
			s.waiters.newRound()
		case <-doubted:
			s.waiters.newRound()
		case <-tick.C:
			s.waiters.newRound()
		case <-s.waiters.changed:
		}
		free := s.waiters.freeSlots()
		if free == 0 {
			continue
		}
		var due, previews int
		err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
			if due, err = lease.CountDue(ctx, tx, dispatch.FrameQueue, free); err != nil {
				return err
			}
			strips, err := s.Cuts.Due(ctx, tx, free-due)
			if err != nil {
				return err
			}
			due += strips
			if previews, err = lease.CountDue(ctx, tx, preview.Queue, free-due); err != nil {
				return err
			}
			references, err := lease.CountDue(ctx, tx, leaderboard.ReferenceQueue, free-due-previews)
			if err != nil {
				return err
			}
			movies, err := lease.CountDue(ctx, tx, movie.Queue, free-due-previews)
			if err != nil {
				return err
			}
			again, err := lease.CountDue(ctx, tx, recheck.Queue, free-due-previews)
			previews += references + movies + again // they wake the same waiters
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Error("cannot count waiting frames", "err", err)
		}
		s.waiters.wake(due)
		s.waiters.wakeForPreviews(previews)
	}
}
