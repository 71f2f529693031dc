package ratelimit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Spent is what a workspace or an address has cost a process since a full hour began.
type Spent struct {
	Who string // workspace id or address
	// Busy is how long its requests worked: their time without what they waited for the
	// caller, for events, or to be held back. CPU is the processor time of their costly
	// sections; see Work.
	Busy, CPU time.Duration
	Stored    int64 // bytes of files and rows that were stored
	Received  int64 // bytes that arrived, each of which is hashed
	Requests  int64
}

// ReceivedMB is Received in megabytes.
func (s Spent) ReceivedMB() float64 { return float64(s.Received) / 1e6 }

// StoredMB is Stored in megabytes.
func (s Spent) StoredMB() float64 { return float64(s.Stored) / 1e6 }

// Ledger says who costs a process how much. Counts begin again with each hour, and are kept
// of ledgerMost at most; everybody beyond is others. The zero value is ready, with its
// exported fields set before the first call. It is safe for concurrent use.
type Ledger struct {
	// Most is how long the requests of a workspace or of an address may work within an hour;
	// 0 is no limit.
	Most time.Duration
	// MostCPU is the processor time that they may use within a minute; 0 is no limit. A request
	// that has begun is not cut off. What it uses beyond is made up for by waiting.
	MostCPU time.Duration
	// Clock is the time; nil is time.Now.
	Clock func() time.Time
	// Thread is the clock of threads; nil is the system's.
	Thread Thread

	mu    sync.Mutex
	hour  time.Time
	spent map[string]*entry
}

// entry is what is known of one spender.
type entry struct {
	Spent
	// owed is the processor time that was used and that time has not made up for, at a time.
	owed time.Duration
	at   time.Time
}

// mostMinutes bounds how long a spender waits after one request that used very much.
const mostMinutes = 10

// settle lets the time pass for what an entry owes.
func (e *entry) settle(now time.Time, most time.Duration) {
	e.owed = max(0, e.owed-time.Duration(float64(most)*now.Sub(e.at).Minutes()))
	e.at = now
}

// ledgerMost bounds whom a ledger knows, at some hundred bytes each.
const ledgerMost = 10_000

// now returns the time, and forgets what was spent in an earlier hour, but not what is owed.
// The caller holds mu.
func (l *Ledger) now() time.Time {
	now := time.Now()
	if l.Clock != nil {
		now = l.Clock()
	}
	if hour := now.Truncate(time.Hour); l.spent == nil || !hour.Equal(l.hour) {
		earlier := l.spent
		l.hour, l.spent = hour, map[string]*entry{}
		for who, e := range earlier {
			if e.settle(now, l.MostCPU); e.owed > 0 && l.MostCPU > 0 {
				l.spent[who] = &entry{Spent: Spent{Who: who}, owed: e.owed, at: e.at}
			}
		}
	}
	return now
}

// Refusal says that a spender has used what it may, and when it may use more.
type Refusal struct {
	Used  string // what it has used up, as the end of a sentence
	Retry time.Duration
}

// Refuses reports whether somebody has spent what it may.
func (l *Ledger) Refuses(who string) (r Refusal, refused bool) {
	if l == nil {
		return r, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	e := l.spent[who]
	if e == nil {
		return r, false
	}
	if l.Most > 0 && e.Busy >= l.Most {
		r, refused = Refusal{fmt.Sprintf("kept this service busy for %s in this hour", l.Most), l.hour.Add(time.Hour).Sub(now)}, true
	}
	if e.settle(now, l.MostCPU); l.MostCPU > 0 && e.owed >= l.MostCPU {
		retry := time.Duration(float64(e.owed-l.MostCPU)/float64(l.MostCPU)*float64(time.Minute)) + time.Second
		if retry > r.Retry {
			r, refused = Refusal{fmt.Sprintf("used %s of processor time within a minute", l.MostCPU), retry}, true
		}
	}
	return r, refused
}

// Charge adds what a request has cost.
func (l *Ledger) Charge(s Spent) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	sum := l.spent[s.Who]
	if sum == nil && len(l.spent) >= ledgerMost {
		l.forgetCheap()
	}
	if sum == nil && len(l.spent) >= ledgerMost {
		s.Who = others
		sum = l.spent[others]
	}
	if sum == nil {
		sum = &entry{Spent: Spent{Who: s.Who}, at: now}
		l.spent[s.Who] = sum
	}
	sum.settle(now, l.MostCPU)
	sum.owed = min(sum.owed+s.CPU, mostMinutes*l.MostCPU)
	sum.Busy += s.Busy
	sum.CPU += s.CPU
	sum.Stored += s.Stored
	sum.Received += s.Received
	sum.Requests++
}

// forgetCheap makes room by forgetting whoever has cost next to nothing, so that a crowd of
// addresses hides nobody. The caller holds mu.
func (l *Ledger) forgetCheap() {
	maps.DeleteFunc(l.spent, func(_ string, e *entry) bool {
		return e.Busy < cheap && e.CPU < cheap && e.owed < cheap && e.Received+e.Stored < cheapBytes
	})
}

// What is next to nothing.
const (
	cheap      = time.Second
	cheapBytes = 1 << 20
)

// Top returns those who have spent the most in this hour, the first of all first.
func (l *Ledger) Top(n int) []Spent {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now()
	all := make([]Spent, 0, len(l.spent))
	for _, e := range l.spent {
		if e.Requests > 0 {
			all = append(all, e.Spent)
		}
	}
	slices.SortFunc(all, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(b.CPU+b.Busy, a.CPU+a.Busy), cmp.Compare(b.Received+b.Stored, a.Received+a.Stored), cmp.Compare(a.Who, b.Who))
	})
	return all[:min(n, len(all))]
}
