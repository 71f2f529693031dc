package farm

import "testing"

// sleepers are n waiters that tried, got nothing and wait.
func sleepers(q *waitQueue, n int) []*waiter {
	waiters := make([]*waiter, n)
	for i := range waiters {
		waiters[i] = q.join(false)
		q.wait(waiters[i])
	}
	return waiters
}

// woken lists the waiters, by number, that were woken since the last call.
func woken(waiters []*waiter) (numbers []int) {
	for i, w := range waiters {
		select {
		case <-w.awake:
			numbers = append(numbers, i)
		default:
		}
	}
	return numbers
}

func TestAsManyWaitersWakeAsThereAreFrames(t *testing.T) {
	t.Parallel()
	q := newWaitQueue()
	waiters := sleepers(q, 1000)
	if q.freeSlots() != 0 {
		t.Error("waiters that have just tried are woken again though no work arrived")
	}
	q.newRound()
	q.wake(min(q.freeSlots(), 2))
	if got := woken(waiters); len(got) != 2 || got[0] != 0 || got[1] != 1 {
		t.Errorf("two frames woke %v, want the two that have waited longest", got)
	}
}

func TestTheNumberOfTriesAtOnceIsBounded(t *testing.T) {
	t.Parallel()
	q := newWaitQueue()
	waiters := sleepers(q, 1000)
	q.newRound()
	q.wake(q.freeSlots())
	if got := woken(waiters); len(got) != maxTrying || q.freeSlots() != 0 {
		t.Fatalf("%d are awake, %d slots are free", len(got), q.freeSlots())
	}
	q.remove(waiters[0]) // it got its frame
	if q.freeSlots() != 1 {
		t.Errorf("one is done, and %d slots are free", q.freeSlots())
	}
}

// TestAFrameThatOneWorkerMayNotHaveWakesTheNext has every try fail: each waiter
// is woken once, then none until work arrives.
func TestAFrameThatOneWorkerMayNotHaveWakesTheNext(t *testing.T) {
	t.Parallel()
	q := newWaitQueue()
	waiters := sleepers(q, 100)
	q.newRound()
	tries := 0
	for q.freeSlots() > 0 {
		q.wake(1)
		for _, i := range woken(waiters) {
			tries++
			q.wait(waiters[i])
		}
	}
	if tries != 100 {
		t.Errorf("%d tries by 100 waiters", tries)
	}
}

func TestWorkThatArrivesDuringATryWakesTheWaiterAgain(t *testing.T) {
	t.Parallel()
	q := newWaitQueue()
	w := q.join(false)
	q.newRound()
	q.wait(w)
	if q.freeSlots() != 1 {
		t.Error("a frame that arrived during the try is missed")
	}
}

func TestAWaiterThatEndsWhenWokenFreesItsSlot(t *testing.T) {
	t.Parallel()
	q := newWaitQueue()
	waiters := sleepers(q, 2)
	q.newRound()
	q.wake(1)
	q.remove(waiters[0]) // its poll timed out at the same moment
	if q.trying != 0 || q.freeSlots() != 1 || len(q.waiting) != 1 {
		t.Errorf("%d are trying, %d wait", q.trying, len(q.waiting))
	}
}

// TestPreviewsWakeFewOfThoseThatTakeThem: the others, and most of the slots, are for
// frames.
func TestPreviewsWakeFewOfThoseThatTakeThem(t *testing.T) {
	t.Parallel()
	q := newWaitQueue()
	waiters := sleepers(q, 50)
	for i, w := range waiters {
		w.previews = i%2 == 1
	}
	q.newRound()
	q.wakeForPreviews(1000)
	q.wakeForPreviews(1000)
	awake := woken(waiters)
	if len(awake) != maxTryingPreviews || awake[0] != 1 || awake[1] != 3 {
		t.Errorf("previews woke %v, want %d that take them", awake, maxTryingPreviews)
	}
	if q.wake(1); len(woken(waiters)) != 1 {
		t.Error("a new frame wakes no waiter")
	}
	q.remove(waiters[1])
	if q.wakeForPreviews(1000); len(woken(waiters)) != 1 {
		t.Error("the slot of one that is done stays taken")
	}
}
