package ratelimit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Spent is what a workspace or an address has cost a process since a full hour began.
type Spent struct {
	Who string // workspace id or address
	// Busy is how long its requests worked: their time without what they waited for the
	// caller, for events, or to be held back. No process can tell the CPU time of one.
	Busy     time.Duration
	Stored   int64 // bytes of files and rows that were stored
	Received int64 // bytes that arrived, each of which is hashed
	Requests int64
}

// ReceivedMB is Received in megabytes.
func (s Spent) ReceivedMB() float64 { return float64(s.Received) / 1e6 }

// StoredMB is Stored in megabytes.
func (s Spent) StoredMB() float64 { return float64(s.Stored) / 1e6 }

// Ledger says who costs a process how much. Counts begin again with each hour, and are kept
// of ledgerMost at most; everybody beyond is others. The zero value is ready, with Most set
// before the first call. It is safe for concurrent use.
type Ledger struct {
	// Most is how long the requests of a workspace or of an address may work within an hour;
	// 0 is no limit.
	Most time.Duration
	// Clock is the time; nil is time.Now.
	Clock func() time.Time

	mu    sync.Mutex
	hour  time.Time
	spent map[string]*Spent
}

// ledgerMost bounds whom a ledger knows, at some hundred bytes each.
const ledgerMost = 10_000

// now returns the time, and forgets what was spent in an earlier hour. The caller holds mu.
func (l *Ledger) now() time.Time {
	now := time.Now()
	if l.Clock != nil {
		now = l.Clock()
	}
	if hour := now.Truncate(time.Hour); l.spent == nil || !hour.Equal(l.hour) {
		l.hour, l.spent = hour, map[string]*Spent{}
	}
	return now
}

// Refuses reports whether somebody has spent what it may, and for how long that lasts.
func (l *Ledger) Refuses(who string) (retry time.Duration, refused bool) {
	if l == nil || l.Most <= 0 {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if s := l.spent[who]; s == nil || s.Busy < l.Most {
		return 0, false
	}
	return l.hour.Add(time.Hour).Sub(now), true
}

// Charge adds what a request has cost.
func (l *Ledger) Charge(s Spent) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now()
	sum := l.spent[s.Who]
	if sum == nil && len(l.spent) >= ledgerMost {
		l.forgetCheap()
	}
	if sum == nil && len(l.spent) >= ledgerMost {
		s.Who = others
		sum = l.spent[others]
	}
	if sum == nil {
		sum = &Spent{Who: s.Who}
		l.spent[s.Who] = sum
	}
	sum.Busy += s.Busy
	sum.Stored += s.Stored
	sum.Received += s.Received
	sum.Requests++
}

// forgetCheap makes room by forgetting whoever has cost next to nothing, so that a crowd of
// addresses hides nobody. The caller holds mu.
func (l *Ledger) forgetCheap() {
	maps.DeleteFunc(l.spent, func(_ string, s *Spent) bool { return s.Busy < cheap && s.Received+s.Stored < cheapBytes })
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
	for _, s := range l.spent {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(b.Busy, a.Busy), cmp.Compare(b.Received+b.Stored, a.Received+a.Stored), cmp.Compare(a.Who, b.Who))
	})
	return all[:min(n, len(all))]
}

// Account collects what one request costs. It is safe for concurrent use.
type Account struct {
	idle   atomic.Int64 // nanoseconds
	stored atomic.Int64
}

type accountKey struct{}

// With returns a context whose work is charged to the account.
func (a *Account) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// Idle tells the account of ctx that its request has only waited since a time.
func Idle(ctx context.Context, since time.Time) {
	a, _ := ctx.Value(accountKey{}).(*Account)
	a.Idle(since)
}

// Idle says that the request has only waited since a time. A nil account ignores it.
func (a *Account) Idle(since time.Time) {
	if a != nil {
		a.idle.Add(int64(time.Since(since)))
	}
}

// Store tells the account of ctx that so many bytes of files and rows are stored.
func Store(ctx context.Context, bytes int64) {
	if a, ok := ctx.Value(accountKey{}).(*Account); ok {
		a.stored.Add(bytes)
	}
}

// Spent is what the request has cost that began at a time and received so many bytes.
func (a *Account) Spent(who string, began time.Time, received int64) Spent {
	busy := max(0, time.Since(began)-time.Duration(a.idle.Load()))
	return Spent{Who: who, Busy: busy, Stored: a.stored.Load(), Received: received}
}
