package db

import "sync"

// hub wakes the listeners of a topic in this process. It is safe for concurrent use.
type hub struct {
	mu     sync.Mutex
	topics map[string]map[chan struct{}]struct{}
}

func newHub() *hub { return &hub{topics: map[string]map[chan struct{}]struct{}{}} }

func (h *hub) listen(topic string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.topics[topic] == nil {
		h.topics[topic] = map[chan struct{}]struct{}{}
	}
	h.topics[topic][c] = struct{}{}
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.topics[topic], c)
		if len(h.topics[topic]) == 0 {
			delete(h.topics, topic)
		}
	}
}

func (h *hub) wake(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.topics[topic] {
		nudge(c)
	}
}

// wakeAll wakes every listener. It is for when it is unknown what was announced.
func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, listeners := range h.topics {
		for c := range listeners {
			nudge(c)
		}
	}
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one wake is already pending
	}
}
