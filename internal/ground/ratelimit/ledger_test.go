package ratelimit_test

import (
	"fmt"
	"testing"
	"time"

	"svc.example/internal/ground/ratelimit"
)

func TestWhoeverHasWorkedTheServiceForTooLongWaitsForTheNextHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 40, 0, 0, time.UTC)
	l := &ratelimit.Ledger{Most: 10 * time.Minute, Clock: func() time.Time { return now }}
	l.Charge(ratelimit.Spent{Who: "WSP-1", Busy: 9 * time.Minute, Stored: 5, Received: 7})
	if _, refused := l.Refuses("WSP-1"); refused {
		t.Error("refused below the limit")
	}
	l.Charge(ratelimit.Spent{Who: "WSP-1", Busy: time.Minute})
	l.Charge(ratelimit.Spent{Who: "198.51.100.7", Busy: time.Second})
	if r, refused := l.Refuses("WSP-1"); !refused || r.Retry != 20*time.Minute {
		t.Errorf("at the limit: %v, %v", r, refused)
	}
	if _, refused := l.Refuses("198.51.100.7"); refused {
		t.Error("another one is refused")
	}
	top := l.Top(1)
	if want := (ratelimit.Spent{Who: "WSP-1", Busy: 10 * time.Minute, Stored: 5, Received: 7, Requests: 2}); len(top) != 1 || top[0] != want {
		t.Errorf("the top spender is %+v", top)
	}
	now = now.Add(20 * time.Minute)
	if _, refused := l.Refuses("WSP-1"); refused || len(l.Top(5)) != 0 {
		t.Errorf("in the next hour: %v, %+v", refused, l.Top(5))
	}
}

func TestALedgerIsBounded(t *testing.T) {
	t.Parallel()
	l := &ratelimit.Ledger{Most: time.Hour}
	for n := range 20_000 {
		l.Charge(ratelimit.Spent{Who: fmt.Sprint(n), Busy: time.Second})
	}
	if top := l.Top(20_000); len(top) > 10_001 || top[0].Who != "others" {
		t.Errorf("%d spenders are kept, the first is %+v", len(top), top[0])
	}
}

func TestACrowdHidesNobody(t *testing.T) {
	t.Parallel()
	l := &ratelimit.Ledger{Most: time.Hour}
	for n := range 25_000 {
		l.Charge(ratelimit.Spent{Who: fmt.Sprint(n), Busy: time.Millisecond})
	}
	l.Charge(ratelimit.Spent{Who: "WSP-1", Busy: 2 * time.Hour})
	if _, refused := l.Refuses("WSP-1"); !refused {
		t.Errorf("the crowd hides it: %+v", l.Top(2))
	}
}

func TestProcessorTimeBeyondTheBoundIsMadeUpForByWaiting(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 59, 0, 0, time.UTC)
	l := &ratelimit.Ledger{MostCPU: 30 * time.Second, Clock: func() time.Time { return now }}
	l.Charge(ratelimit.Spent{Who: "WSP-1", CPU: 29 * time.Second})
	if _, refused := l.Refuses("WSP-1"); refused {
		t.Error("refused below the bound")
	}
	l.Charge(ratelimit.Spent{Who: "WSP-1", CPU: 31 * time.Second})
	l.Charge(ratelimit.Spent{Who: "WSP-2", CPU: time.Second})
	if r, refused := l.Refuses("WSP-1"); !refused || r.Retry != 61*time.Second {
		t.Errorf("at twice the bound: %v, %v", r, refused)
	}
	if _, refused := l.Refuses("WSP-2"); refused {
		t.Error("another one is refused")
	}
	now = now.Add(59 * time.Second)
	if r, refused := l.Refuses("WSP-1"); !refused || r.Retry > 3*time.Second {
		t.Errorf("before the minute is over: %v, %v", r, refused)
	}
	if top := l.Top(1); len(top) != 1 || top[0].CPU != time.Minute {
		t.Errorf("the top spender is %+v", top)
	}
	now = now.Add(time.Second) // a full hour begins; what is owed stays
	l.Charge(ratelimit.Spent{Who: "WSP-1", CPU: time.Second})
	if _, refused := l.Refuses("WSP-1"); !refused || l.Top(1)[0].CPU != time.Second {
		t.Errorf("in the next hour: %v, %+v", refused, l.Top(1))
	}
	now = now.Add(3 * time.Second)
	if _, refused := l.Refuses("WSP-1"); refused {
		t.Error("refused after it has waited")
	}
	l.Charge(ratelimit.Spent{Who: "WSP-1", CPU: time.Hour})
	if r, refused := l.Refuses("WSP-1"); !refused || r.Retry > 10*time.Minute {
		t.Errorf("after an hour of processor time: %v, %v", r, refused)
	}
}
