package farm

import "testing"

// crowd is n guests who tried in vain and wait.
func crowd(h *hall, n int) []*guest {
	guests := make([]*guest, n)
	for i := range guests {
		guests[i] = h.enter()
		h.wait(guests[i])
	}
	return guests
}

// called lists the guests, by number, who are called now.
func called(guests []*guest) (numbers []int) {
	for i, g := range guests {
		select {
		case <-g.called:
			numbers = append(numbers, i)
		default:
		}
	}
	return numbers
}

func TestAsManyAreCalledAsThereAreFrames(t *testing.T) {
	t.Parallel()
	h := newHall()
	guests := crowd(h, 1000)
	if h.room() != 0 {
		t.Error("guests who have just tried are called again though nothing came")
	}
	h.again()
	h.call(min(h.room(), 2))
	if got := called(guests); len(got) != 2 || got[0] != 0 || got[1] != 1 {
		t.Errorf("two frames called %v, want the two who have waited longest", got)
	}
}

func TestNoMoreTryAtOnceThanTheHallAllows(t *testing.T) {
	t.Parallel()
	h := newHall()
	guests := crowd(h, 1000)
	h.again()
	h.call(h.room())
	if got := called(guests); len(got) != hallMost || h.room() != 0 {
		t.Fatalf("%d were called, room for %d more", len(got), h.room())
	}
	h.leave(guests[0]) // it got its frame
	if h.room() != 1 {
		t.Errorf("one is done, and there is room for %d", h.room())
	}
}

// TestAFrameThatAWorkerMayNotHaveIsAnothers has those who are called get
// nothing: in the end everybody was called once, and then nobody until
// something happens.
func TestAFrameThatAWorkerMayNotHaveIsAnothers(t *testing.T) {
	t.Parallel()
	h := newHall()
	guests := crowd(h, 100)
	h.again()
	tries := 0
	for h.room() > 0 {
		h.call(1)
		for _, i := range called(guests) {
			tries++
			h.wait(guests[i])
		}
	}
	if tries != 100 {
		t.Errorf("%d tries by 100 guests", tries)
	}
}

func TestWhatCameWhileAGuestTriedCallsItAgain(t *testing.T) {
	t.Parallel()
	h := newHall()
	g := h.enter()
	h.again()
	h.wait(g)
	if h.room() != 1 {
		t.Error("a frame that came while the guest tried is missed")
	}
}

func TestAGuestWhoLeavesWhenCalledFreesItsPlace(t *testing.T) {
	t.Parallel()
	h := newHall()
	guests := crowd(h, 2)
	h.again()
	h.call(1)
	h.leave(guests[0]) // its time was over at the same moment
	if h.trying != 0 || h.room() != 1 || len(h.waiting) != 1 {
		t.Errorf("%d are trying, %d wait", h.trying, len(h.waiting))
	}
}
