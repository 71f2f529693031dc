package dispatch

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// every gives the times of n frames accepted one each d since start, newest first.
func every(start time.Time, d time.Duration, n int) []time.Time {
	at := make([]time.Time, n)
	for i := range at {
		at[i] = start.Add(d * time.Duration(n-i))
	}
	return at
}

func TestAnEvenPaceHasAnExactForecast(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	for _, done := range []int{2, ETAFrames, 500} {
		all := every(start, 3*time.Second, done)
		now := all[0]
		eta, span, ok := EstimateEnd(now, start, all[:min(done, ETAFrames)], int64(done), 0, 10)
		if !ok || eta != 30 || span.LowSeconds != 30 || span.HighSeconds != 30 {
			t.Errorf("after %d frames of 3 s, 10 frames take %v (%v), %v", done, eta, span, ok)
		}
	}
}

func TestTheFirstFramesForecastFollowsItsProgress(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	if _, _, ok := EstimateEnd(start.Add(time.Second), start, nil, 0, 0.01, 3.99); ok {
		t.Error("there is a forecast for a frame that has hardly started")
	}
	eta, span, ok := EstimateEnd(start.Add(5*time.Second), start, nil, 0, 0.5, 3.5)
	if !ok || eta != 35 || span.LowSeconds >= eta || span.HighSeconds <= eta {
		t.Errorf("half a frame in 5 s: %v (%v), %v", eta, span, ok)
	}
}

func TestAForecastGrowsWhileNoFrameIsAccepted(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	all := every(start, time.Second, 4)
	soon, _, _ := EstimateEnd(all[0], start, all, 4, 0, 10)
	late, _, _ := EstimateEnd(all[0].Add(time.Minute), start, all, 4, 0, 10)
	if late <= soon {
		t.Errorf("a minute without a frame: %v, before %v", late, soon)
	}
}

func TestAForecastIsInsideItsRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(1000, 0)
		at := start
		var accepted []time.Time
		for range rapid.IntRange(0, 40).Draw(t, "frames") {
			at = at.Add(time.Duration(rapid.IntRange(0, 100000).Draw(t, "gap")) * time.Millisecond)
			accepted = append([]time.Time{at}, accepted...)
		}
		done := int64(len(accepted))
		now := at.Add(time.Duration(rapid.IntRange(0, 100000).Draw(t, "since")) * time.Millisecond)
		left := rapid.Float64Range(0, 10000).Draw(t, "left")
		eta, span, ok := EstimateEnd(now, start, accepted[:min(len(accepted), ETAFrames)], done, rapid.Float64Range(0, 8).Draw(t, "begun"), left)
		if ok && !(0 <= span.LowSeconds && span.LowSeconds <= eta && eta <= span.HighSeconds) {
			t.Fatalf("%v is not in %v", eta, span)
		}
	})
}
