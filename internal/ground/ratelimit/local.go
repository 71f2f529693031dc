package ratelimit

import (
	"sync"
	"time"
)

// Local counts the requests of clients in this process alone, without a database: for pages
// that anyone may read, whose cost is the process's own. The zero value is ready. It is safe
// for concurrent use.
type Local struct {
	mu      sync.Mutex
	clients map[string]*counts
	swept   time.Time
}

// others is the client of everyone for whom there is no place in memory.
const others = "others"

// Take counts n requests, 1 or more, of a client. p must not be unlimited.
func (l *Local) Take(p Policy, client string, n int) Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.sweep(now)
	k := l.clients[client]
	if k == nil && len(l.clients) >= knownMost {
		client = others
		k = l.clients[client]
	}
	if k == nil {
		k = &counts{}
		l.clients[client] = k
	}
	if k.arrival > now.UnixMicro()+p.farthest() { // the clock was set back
		k.arrival = 0
	}
	next, d := p.Decide(k.arrival, now.UnixMicro(), n)
	k.arrival = next
	if !d.Allowed {
		d.Hold = k.refuse(p.Burst, now)
	}
	return d
}

// sweep forgets clients that have earned their burst back, now and then.
func (l *Local) sweep(now time.Time) {
	if l.clients == nil {
		l.clients = map[string]*counts{}
	}
	if now.Sub(l.swept) < knownFor {
		return
	}
	l.swept = now
	for client, k := range l.clients {
		if k.arrival <= now.UnixMicro() && now.Sub(k.refusedAt) > knownFor {
			delete(l.clients, client)
		}
	}
}
