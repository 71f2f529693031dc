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

// hall is where the workers at this process's door wait for frames. When frames
// come, as many workers are called as there are frames, those first who have
// waited longest: of a thousand that are idle, one frame wakes one.
type hall struct {
	mu      sync.Mutex
	waiting []*guest // the longest first
	trying  int      // called, and not done yet
	round   int      // counts the occasions to try again
	look    chan struct{}
}

// guest is a worker's call for frames.
type guest struct {
	called chan struct{} // of capacity 1
	tried  int           // the round in which it last tried
	turn   bool          // it was called, and is not done
}

const (
	// hallMost is how many try at once: enough to share commits, too few to be
	// in each other's way.
	hallMost = 32
	// hallLook is how often work is looked for that becomes due without an
	// announcement.
	hallLook = time.Second
)

func newHall() *hall { return &hall{look: make(chan struct{}, 1)} }

// enter brings in a guest, who tries at once, without being called.
func (h *hall) enter() *guest {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &guest{called: make(chan struct{}, 1), tried: h.round}
}

// wait is for a guest that tried in vain: it is called when there is work that
// came up since.
func (h *hall) wait(g *guest) (called <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done(g)
	h.waiting = append(h.waiting, g)
	h.nudge()
	return g.called
}

// leave takes a guest out. What it was called for is another's then.
func (h *hall) leave(g *guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.waiting, g); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
	}
	h.done(g)
	h.nudge()
}

func (h *hall) done(g *guest) {
	if g.turn {
		g.turn = false
		h.trying--
	}
}

func (h *hall) nudge() {
	select {
	case h.look <- struct{}{}:
	default:
	}
}

// again begins a round: everybody may be called once more.
func (h *hall) again() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.round++
}

// room is how many may be called now.
func (h *hall) room() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range h.waiting {
		if n == hallMost-h.trying {
			break
		}
		if g.tried < h.round {
			n++
		}
	}
	return n
}

// call calls n guests who have not tried in this round.
func (h *hall) call(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = slices.DeleteFunc(h.waiting, func(g *guest) bool {
		if n == 0 || g.tried == h.round {
			return false
		}
		n--
		g.tried, g.turn = h.round, true
		h.trying++
		g.called <- struct{}{}
		return true
	})
}

// Call calls waiting workers when there is work, until ctx ends.
func (s *Server) Call(ctx context.Context) {
	come, stop := s.DB.Listen(lease.Topic(dispatch.FrameQueue))
	defer stop()
	tick := time.NewTicker(hallLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-come:
			s.hall.again()
		case <-tick.C:
			s.hall.again()
		case <-s.hall.look:
		}
		room := s.hall.room()
		if room == 0 {
			continue
		}
		var due int
		err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
			due, err = lease.CountDue(ctx, tx, dispatch.FrameQueue, room)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Error("cannot look for waiting frames", "error", err)
		}
		s.hall.call(due)
	}
}
