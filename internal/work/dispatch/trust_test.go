package dispatch

import (
	"testing"
	"time"
)

func TestAWorkerIsSuspendedQuicklyAndRecoversSlowly(t *testing.T) {
	t.Parallel()
	now := int64(1)
	var s trust
	for range 2 {
		if s = s.withFault(now); s.until != 0 {
			t.Fatalf("%+v after two faults", s)
		}
	}
	want := firstSuspension
	for range 10 {
		s = s.withFault(now)
		if got := time.Duration(s.until-now) * time.Microsecond; got != want {
			t.Fatalf("suspended for %s, want %s", got, want)
		}
		if again := s.withFault(now); again != s {
			t.Fatalf("a fault during a suspension makes %+v of %+v", again, s)
		}
		now, want = s.until, min(2*want, longestSuspension)
	}
	for range suspendAt - faultWeight {
		s = s.withGoodFrame()
	}
	if s.faults != 0 || s.suspensions != 0 {
		t.Errorf("%+v after enough good frames to clear it", s)
	}
}
