package ratelimit

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPageReaderEarnsRequestsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l Local
		p := Policy{PerMinute: 60, Burst: 3}
		for n := range 5 {
			if d := l.Take(p, "a", 1); d.Allowed != (n < 3) {
				t.Errorf("request %d: %+v", n, d)
			}
		}
		if !l.Take(p, "b", 1).Allowed {
			t.Error("another client is refused")
		}
		<-time.After(time.Second)
		if first, second := l.Take(p, "a", 1), l.Take(p, "a", 1); !first.Allowed || second.Allowed {
			t.Errorf("a second later: %+v, %+v", first, second)
		}
		<-time.After(time.Minute)
		l.Take(p, "c", 1)
		if len(l.clients) != 1 {
			t.Errorf("%d clients are kept", len(l.clients))
		}
	})
}

func TestMoreClientsThanHavePlaceShareOneCount(t *testing.T) {
	t.Parallel()
	var l Local
	p := Policy{PerMinute: 1, Burst: 1}
	for n := range knownMost {
		l.Take(p, fmt.Sprint(n), 1)
	}
	if first, second := l.Take(p, "new", 1), l.Take(p, "newer", 1); !first.Allowed || second.Allowed || len(l.clients) > knownMost+1 {
		t.Errorf("%+v, %+v of %d clients", first, second, len(l.clients))
	}
}

// TestAClockThatIsSetBackRefusesNoReader: what was counted while the clock was an hour ahead.
func TestAClockThatIsSetBackRefusesNoReader(t *testing.T) {
	t.Parallel()
	var l Local
	p := Policy{PerMinute: 60, Burst: 3}
	l.Take(p, "a", 1)
	l.clients["a"].arrival += time.Hour.Microseconds()
	if d := l.Take(p, "a", 1); !d.Allowed || d.Remaining != 2 {
		t.Errorf("%+v", d)
	}
}
