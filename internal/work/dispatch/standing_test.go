package dispatch

import (
	"testing"
	"time"
)

func TestAStandingFallsFastAndRisesSlowly(t *testing.T) {
	t.Parallel()
	now := int64(1)
	var s standing
	for range 2 {
		if s = s.struck(now); s.until != 0 {
			t.Fatalf("%+v after two faults", s)
		}
	}
	want := firstAside
	for range 10 {
		s = s.struck(now)
		if got := time.Duration(s.until-now) * time.Microsecond; got != want {
			t.Fatalf("set aside for %s, want %s", got, want)
		}
		if again := s.struck(now); again != s {
			t.Fatalf("a fault while it is set aside makes %+v of %+v", again, s)
		}
		now, want = s.until, min(2*want, lastAside)
	}
	for range strikesMost - strikeWorth {
		s = s.cleared()
	}
	if s.strikes != 0 || s.asides != 0 {
		t.Errorf("%+v after as many good frames as make up for it", s)
	}
}
