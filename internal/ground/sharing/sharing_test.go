package sharing

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

// wantedOf returns how many callers want a thing of an owner, or wait for one.
func (m *Maker[K]) wantedOf(ownerID string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own := m.owners[ownerID]; own != nil {
		return own.wanted
	}
	return 0
}

// TestTheThingsOfAnOwnerAreMadeOneAtATime has fifty callers want five pictures of a job at
// once: five are made, one after the other, and all callers get theirs.
func TestTheThingsOfAnOwnerAreMadeOneAtATime(t *testing.T) {
	t.Parallel()
	var ts Maker[string]
	var made, at, most atomic.Int64
	open := make(chan struct{})
	var all sync.WaitGroup
	for i := range 50 {
		key := fmt.Sprint(i % 5)
		all.Go(func() {
			got, err := ts.Share(t.Context(), "JOB-1", key, func() ([]byte, error) {
				most.Store(max(most.Load(), at.Add(1)))
				<-open
				made.Add(1)
				at.Add(-1)
				return []byte(key), nil
			})
			if err != nil || string(got) != key {
				t.Errorf("picture %s is %q, %v", key, got, err)
			}
		})
	}
	await.Until(t, "all callers", func() bool { return ts.wantedOf("JOB-1") == 50 })
	close(open)
	all.Wait()
	if made.Load() != 5 || most.Load() != 1 {
		t.Errorf("%d were made, up to %d at once; want 5, one at a time", made.Load(), most.Load())
	}
	if len(ts.owners) != 0 {
		t.Errorf("%d jobs are remembered", len(ts.owners))
	}
}

// TestThingsAtOnceAreAsManyAsProcessors wants one of each of many jobs.
func TestThingsAtOnceAreAsManyAsProcessors(t *testing.T) {
	t.Parallel()
	var ts Maker[string]
	var at, most atomic.Int64
	open := make(chan struct{})
	var all sync.WaitGroup
	processors := runtime.GOMAXPROCS(0)
	for i := range 4 * processors {
		all.Go(func() {
			_, err := ts.Share(t.Context(), fmt.Sprint(i), "a", func() ([]byte, error) {
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
	await.Until(t, "the first pictures", func() bool { return at.Load() == int64(processors) })
	close(open)
	all.Wait()
	if most.Load() != int64(processors) {
		t.Errorf("%d were made at once on %d processors", most.Load(), processors)
	}
}

// TestNoMoreAreMadeAtOnceThanABoundSays wants one of each of many jobs.
func TestNoMoreAreMadeAtOnceThanABoundSays(t *testing.T) {
	t.Parallel()
	ts := Maker[string]{Most: 1}
	var at, most atomic.Int64
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			_, err := ts.Share(t.Context(), fmt.Sprint(i), "a", func() ([]byte, error) {
				most.Store(max(most.Load(), at.Add(1)))
				runtime.Gosched()
				at.Add(-1)
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d were made at once", most.Load())
	}
}

// TestAMadeThingWaitsForNoProcessor wants a picture that was made a moment ago, while
// pictures of other jobs take every processor.
func TestAMadeThingWaitsForNoProcessor(t *testing.T) {
	t.Parallel()
	var ts Maker[string]
	key := "a"
	ts.enter("JOB-1", key) // another caller wants it, so it is kept
	paint := func() ([]byte, error) { return []byte("made"), nil }
	if _, err := ts.Share(t.Context(), "JOB-1", key, paint); err != nil {
		t.Fatal(err)
	}
	for range cap(ts.process) {
		ts.process <- struct{}{}
	}
	done := make(chan string, 1)
	go func() {
		got, err := ts.Share(t.Context(), "JOB-1", key, paint)
		done <- fmt.Sprint(string(got), err)
	}()
	if got := await.Next(t, done, "the picture"); got != "made<nil>" {
		t.Errorf("the picture is %s", got)
	}
}

// TestACallerWhoLeavesTakesNobodyAlong: another caller for the same picture
// makes it.
func TestACallerWhoLeavesTakesNobodyAlong(t *testing.T) {
	t.Parallel()
	var ts Maker[string]
	key := "a"
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := ts.Share(ctx, "JOB-1", key, func() ([]byte, error) {
			close(began)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		ended <- err
	}()
	<-began
	patient := make(chan string, 1)
	go func() {
		got, err := ts.Share(t.Context(), "JOB-1", key, func() ([]byte, error) { return []byte("made"), nil })
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
	if got := await.Next(t, patient, "the picture"); got != "made" {
		t.Errorf("the second caller got %q", got)
	}
}
