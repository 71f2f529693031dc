package ratelimit

import "time"

// Policy is how many requests a client may make. The zero Policy lets every request
// pass; Decide and Every must not be called on it.
type Policy struct {
	PerMinute int // requests a minute in the long run, MostPerMinute at most
	Burst     int // requests at once, 1 or more
}

// MostPerMinute is the highest rate: one request a microsecond, the unit of all
// times here.
const MostPerMinute = int(time.Minute / time.Microsecond)

// Limits are what a request counts against: its client's limit and, where it has a
// workspace and that limit is not the zero Policy, its workspace's.
type Limits struct{ Client, Workspace Policy }

// Unlimited reports whether the policy lets every request pass.
func (p Policy) Unlimited() bool { return p.PerMinute <= 0 }

// Times returns a policy of n times the rate and n times the burst.
func (p Policy) Times(n int) Policy { return Policy{PerMinute: p.PerMinute * n, Burst: p.Burst * n} }

// Every is the time in which a client earns one request back.
func (p Policy) Every() time.Duration { return time.Minute / time.Duration(p.PerMinute) }

// cost is the time in which a client earns n requests back, in microseconds.
func (p Policy) cost(n int) int64 { return int64(n) * p.Every().Microseconds() }

// span is how far ahead of now a client's arrival time may lie after a request, in
// microseconds: the time in which a whole burst is earned.
func (p Policy) span() int64 { return p.cost(p.Burst) }

// farthest is how far ahead of now an arrival time can lie, in microseconds: requests that
// processes have counted in memory put it beyond the span, by half of one each. A time that
// lies farther was stored before the clock was set back, and would refuse the client until the
// clock is there again.
func (p Policy) farthest() int64 { return 4 * p.span() }

// Decision is the outcome of one request, and what the RateLimit headers need. If
// two limits count a request, it describes the nearer one.
type Decision struct {
	Allowed   bool
	Remaining int           // further requests that would pass right now
	Retry     time.Duration // until a refused request passes, or the next one; 0 while some remain
	Full      time.Duration // until the whole burst is earned back
	Workspace bool          // it is about the workspace's limit
	Hold      time.Duration // how long to hold the refusal back; 0 for a client that waits as asked
}

// Decide is the whole rule (GCRA). arrival is the client's theoretical arrival
// time, 0 for a new client, and now the time of this request, both in microseconds.
// n is how many requests it counts as, 1 or more. next is the arrival time to store.
// A refused request costs nothing: next is then arrival.
//
// The statement RateTake does the same in SQL; a test holds the two together.
func (p Policy) Decide(arrival, now int64, n int) (next int64, d Decision) {
	next = max(arrival, now) + p.cost(n)
	if next > now+p.span() {
		return arrival, p.decision(false, arrival, now, n)
	}
	return next, p.decision(true, next, now, n)
}

// decision describes the state of a client with this arrival time. Retry is measured
// from the arrival time and not from now, so that a refused client that waits
// exactly that long passes. A cost of more than a burst never passes; it is told to
// wait for a whole one.
func (p Policy) decision(allowed bool, arrival, now int64, n int) Decision {
	every, ahead := p.cost(1), max(0, arrival-now)
	d := Decision{
		Allowed:   allowed,
		Remaining: int(max(0, p.span()-ahead) / every),
		Full:      time.Duration(ahead) * time.Microsecond,
	}
	wanted := 1
	if !allowed {
		wanted = min(n, p.Burst)
	}
	if d.Remaining < wanted {
		d.Retry = time.Duration(ahead+p.cost(wanted)-p.span()) * time.Microsecond
	}
	if n > p.Burst {
		d.Retry = max(d.Retry, p.Every())
	}
	return d
}

// nearest returns the decision of the limit that is nearer: the one with the longest
// wait if any refuse, otherwise the one with the fewest requests left.
func nearest(decisions []Decision) Decision {
	near := decisions[0]
	for _, d := range decisions[1:] {
		switch {
		case d.Allowed != near.Allowed:
			if !d.Allowed {
				near = d
			}
		case !d.Allowed && d.Retry > near.Retry, d.Allowed && d.Remaining < near.Remaining:
			near = d
		}
	}
	return near
}
