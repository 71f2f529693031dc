package ratelimit

import "time"

// Policy is how many requests a client may make. The zero Policy lets every request
// pass; Decide and Every must not be called on it.
type Policy struct {
	PerMinute int // requests a minute in the long run
	Burst     int // requests at once, 1 or more
}

// Unlimited reports whether the policy lets every request pass.
func (p Policy) Unlimited() bool { return p.PerMinute <= 0 }

// Every is the time in which a client earns one request back.
func (p Policy) Every() time.Duration { return time.Minute / time.Duration(p.PerMinute) }

// span is how far ahead of now a client's arrival time may lie after a request, in
// microseconds: the time in which a whole burst is earned.
func (p Policy) span() int64 { return int64(p.Burst) * p.Every().Microseconds() }

// Decision is the outcome of one request, and what the RateLimit headers need.
type Decision struct {
	Allowed   bool
	Remaining int           // further requests that would pass right now
	Retry     time.Duration // until the next one passes; 0 while some remain
	Full      time.Duration // until the whole burst is earned back
}

// Decide is the whole rule (GCRA). arrival is the client's theoretical arrival
// time, 0 for a new client, and now the time of this request, both in microseconds.
// next is the arrival time to store. A refused request costs nothing: next is then
// arrival.
//
// The statement RateTake does the same in SQL; a test holds the two together.
func (p Policy) Decide(arrival, now int64) (next int64, d Decision) {
	next = max(arrival, now) + p.Every().Microseconds()
	if next > now+p.span() {
		return arrival, p.decision(false, arrival, now)
	}
	return next, p.decision(true, next, now)
}

// decision describes the state of a client with this arrival time. Retry is
// measured from the arrival time and not from now, so that a refused client that
// waits exactly that long passes.
func (p Policy) decision(allowed bool, arrival, now int64) Decision {
	every, ahead := p.Every().Microseconds(), max(0, arrival-now)
	d := Decision{
		Allowed:   allowed,
		Remaining: int(max(0, p.span()-ahead) / every),
		Full:      time.Duration(ahead) * time.Microsecond,
	}
	if d.Remaining == 0 {
		d.Retry = time.Duration(ahead+every-p.span()) * time.Microsecond
	}
	return d
}
