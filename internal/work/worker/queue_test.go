package worker

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWorkerPrefetchesSecondsOfWorkAndHalfOfTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := frameQueue{
			tasks:   make([]*task, rapid.IntRange(0, 20).Draw(t, "queued")),
			waiting: rapid.IntRange(0, 10000).Draw(t, "waiting"),
			pace:    time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "pace")),
		}
		n := q.prefetchCount()
		if n < 0 || n > 0 && (n > (q.waiting+1)/2 || len(q.tasks)+n > prefetchMax) {
			t.Fatalf("asks for %d with %d queued and %d waiting", n, len(q.tasks), q.waiting)
		}
		if n > 0 && q.pace*time.Duration(len(q.tasks)+n) > prefetchTime {
			t.Fatalf("%d frames of %s each are more than %s of work", len(q.tasks)+n, q.pace, prefetchTime)
		}
	})
}

func TestPausesGrowToALimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 1<<30).Draw(t, "try")
		jitter := rapid.Float64Range(0, 0.999).Draw(t, "jitter")
		d := pause(n, jitter)
		if d < firstPause/2 || d > lastPause {
			t.Fatalf("pause %s", d)
		}
		if d > pause(n+1, jitter) {
			t.Fatalf("try %d waits %s, the next %s", n, d, pause(n+1, jitter))
		}
	})
}
