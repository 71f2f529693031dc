package farm

import (
	"context"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/dispatch"
)

// waitQueue holds the long polls of workers that wait for frames in this process.
// When frames arrive it wakes as many waiters as there are frames, the longest
// waiting first: of a thousand idle workers, one frame wakes one.
type waitQueue struct {
	mu      sync.Mutex
	waiting []*waiter // the longest first
	trying  int       // awake, and not done yet
	round   int       // grows whenever there may be new work
	changed chan struct{}
}

// waiter is a worker's long poll.
type waiter struct {
	awake  chan struct{} // of capacity 1
	tried  int           // the round in which it last tried
	trying bool          // it counts in waitQueue.trying
}

const (
	// maxTrying bounds how many waiters claim at once: enough to share commits, few
	// enough not to contend.
	maxTrying = 32
	// recheckEvery is how often the queue is read for work that becomes due without
	// a notification.
	recheckEvery = time.Second
)

func newWaitQueue() *waitQueue { return &waitQueue{changed: make(chan struct{}, 1)} }

// join makes a waiter, whose first try needs no wake.
func (q *waitQueue) join() *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return &waiter{awake: make(chan struct{}, 1), tried: q.round}
}

// wait puts a waiter that got nothing to sleep. It is woken for work that arrived
// since its try began.
func (q *waitQueue) wait(w *waiter) (awake <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endTry(w)
	q.waiting = append(q.waiting, w)
	q.signal()
	return w.awake
}

// remove ends a waiter. If it was just woken, its slot wakes another.
func (q *waitQueue) remove(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.endTry(w)
	q.signal()
}

func (q *waitQueue) endTry(w *waiter) {
	if w.trying {
		w.trying = false
		q.trying--
	}
}

func (q *waitQueue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// newRound lets every waiter be woken once more.
func (q *waitQueue) newRound() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.round++
}

// freeSlots is how many waiters may be woken now.
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

// wake wakes n waiters that have not tried in this round.
func (q *waitQueue) wake(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		if n == 0 || w.tried == q.round {
			return false
		}
		n--
		w.tried, w.trying = q.round, true
		q.trying++
		w.awake <- struct{}{}
		return true
	})
}

// WakeWorkers wakes waiting workers when there is work, until ctx ends.
func (s *Server) WakeWorkers(ctx context.Context) {
	arrived, stop := s.DB.Listen(lease.Topic(dispatch.FrameQueue))
	defer stop()
	tick := time.NewTicker(recheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-arrived:
			s.waiters.newRound()
		case <-tick.C:
			s.waiters.newRound()
		case <-s.waiters.changed:
		}
		free := s.waiters.freeSlots()
		if free == 0 {
			continue
		}
		var due int
		err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
			due, err = lease.CountDue(ctx, tx, dispatch.FrameQueue, free)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Error("cannot count waiting frames", "error", err)
		}
		s.waiters.wake(due)
	}
}
