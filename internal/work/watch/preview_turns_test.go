package watch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"svc.example/internal/test/await"
)

// wantedOf returns how many callers want a preview of a job, or wait for one.
func (t *turns) wantedOf(jobID string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if job := t.jobs[jobID]; job != nil {
		return job.wanted
	}
	return 0
}

// TestAJobsPreviewsAreMadeOneAtATime has fifty callers want five previews of a job at
// once: five are made, one after the other, and all callers get theirs.
func TestAJobsPreviewsAreMadeOneAtATime(t *testing.T) {
	t.Parallel()
	var ts turns
	var made, at, most atomic.Int64
	open := make(chan struct{})
	var all sync.WaitGroup
	for i := range 50 {
		key := previewKey{fmt.Sprint(i % 5), 480}
		all.Go(func() {
			got, err := ts.share(t.Context(), "JOB-1", key, func() ([]byte, error) {
				most.Store(max(most.Load(), at.Add(1)))
				<-open
				made.Add(1)
				at.Add(-1)
				return []byte(key.sha256), nil
			})
			if err != nil || string(got) != key.sha256 {
				t.Errorf("preview %s is %q, %v", key.sha256, got, err)
			}
		})
	}
	await.Until(t, "all callers", func() bool { return ts.wantedOf("JOB-1") == 50 })
	close(open)
	all.Wait()
	if made.Load() != 5 || most.Load() != 1 {
		t.Errorf("%d were made, up to %d at once; want 5, one at a time", made.Load(), most.Load())
	}
	if len(ts.jobs) != 0 {
		t.Errorf("%d jobs are remembered", len(ts.jobs))
	}
}

// TestPreviewsAtOnceAreAsManyAsProcessors wants one of each of many jobs.
func TestPreviewsAtOnceAreAsManyAsProcessors(t *testing.T) {
	t.Parallel()
	var ts turns
	var at, most atomic.Int64
	open := make(chan struct{})
	var all sync.WaitGroup
	processors := runtime.GOMAXPROCS(0)
	for i := range 4 * processors {
		all.Go(func() {
			_, err := ts.share(t.Context(), fmt.Sprint(i), previewKey{"a", 480}, func() ([]byte, error) {
				n := at.Add(1)
				for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
				}
				<-open
				at.Add(-1)
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	await.Until(t, "the first previews", func() bool { return at.Load() == int64(processors) })
	close(open)
	all.Wait()
	if most.Load() != int64(processors) {
		t.Errorf("%d were made at once on %d processors", most.Load(), processors)
	}
}

// TestAMadePreviewWaitsForNoProcessor wants a preview that was made a moment ago, while
// previews of other jobs take every processor.
func TestAMadePreviewWaitsForNoProcessor(t *testing.T) {
	t.Parallel()
	var ts turns
	key := previewKey{"a", 480}
	ts.enter("JOB-1", key) // another caller wants it, so it is kept
	paint := func() ([]byte, error) { return []byte("made"), nil }
	if _, err := ts.share(t.Context(), "JOB-1", key, paint); err != nil {
		t.Fatal(err)
	}
	for range cap(ts.process) {
		ts.process <- struct{}{}
	}
	done := make(chan string, 1)
	go func() {
		got, err := ts.share(t.Context(), "JOB-1", key, paint)
		done <- fmt.Sprint(string(got), err)
	}()
	if got := await.Next(t, done, "the preview"); got != "made<nil>" {
		t.Errorf("the preview is %s", got)
	}
}

// TestACallerWhoLeavesTakesNobodyAlong: who waits for the same preview makes it.
func TestACallerWhoLeavesTakesNobodyAlong(t *testing.T) {
	t.Parallel()
	var ts turns
	key := previewKey{"a", 480}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := ts.share(ctx, "JOB-1", key, func() ([]byte, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		ended <- err
	}()
	<-began
	patient := make(chan string, 1)
	go func() {
		got, err := ts.share(t.Context(), "JOB-1", key, func() ([]byte, error) { return []byte("made"), nil })
		if err != nil {
			t.Error(err)
		}
		patient <- string(got)
	}()
	await.Until(t, "the second caller", func() bool { return ts.wantedOf("JOB-1") == 2 })
	leave()
	if err := await.Next(t, ended, "the first caller's end"); !errors.Is(err, context.Canceled) {
		t.Errorf("the first caller got %v", err)
	}
	if got := await.Next(t, patient, "the preview"); got != "made" {
		t.Errorf("the second caller got %q", got)
	}
}
