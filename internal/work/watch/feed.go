package watch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
)

// feed distributes the changes of one job to its watchers in this process. It reads each
// change once and makes each preview once, for any number of watchers. It exists while
// the job has a watcher.
type feed struct {
	reader *Reader
	jobID  string

	listening chan struct{} // closed when the feed receives every change
	ended     chan struct{} // closed when run has returned

	watchers int    // guarded by feeds.mu
	stop     func() // ends run; called once, by the last watcher

	// mu guards the fields down to closing.
	mu              sync.Mutex
	previewWatchers int           // watchers that want previews
	events          []*Event      // the newest published ones, never changed in place: watchers share slices of it
	first           int           // the number of events before those
	grown           chan struct{} // closed and replaced when events are added
	err             error         // why the feed ended; nil at the job's end

	waiting []row // frames that wait for their preview
	closing bool  // no more frames come

	more chan struct{} // capacity 1: frames wait, or closing is set

	making sync.Mutex       // held while a preview is made, so that none is made twice
	made   map[int64]*Event // the newest previews, by Seq; nil = none can be made
}

// feeds are the open feeds of this process, by job id. The zero value has none. Each
// process has its own: a change reaches all of them through the database.
type feeds struct {
	mu   sync.Mutex
	open map[string]*feed // nil before the first

	previews budget // of all of them
}

// Bounds of a feed.
const (
	feedEvents = 2048 // events that a slow watcher may miss before it reads the database again
	// feedPace is the shortest time between two reads, and progressPace that before a
	// read for progress inside frames: heartbeats of many workers arrive all the time.
	feedPace     = 20 * time.Millisecond
	progressPace = 500 * time.Millisecond
	// feedReread is the longest time between two reads. Some changes are not announced:
	// that a worker came online, or that all are busy.
	feedReread = 5 * time.Second
	// retryAfterFull is when a watcher beyond the limit may come again.
	retryAfterFull = 5 * time.Second
)

// join adds a watcher to the feed of a job and starts the feed for the first one. It
// returns when the feed receives every change; leave removes the watcher again, and the
// last one stops the feed. The feed outlives the request of its first watcher, so its
// context is cut off from that of the request. leave must be called exactly once. Errors:
// rate_limited, when the job has as many watchers as it may, and ctx's.
func (r *Reader) join(ctx context.Context, jobID string, previews bool) (f *feed, leave func(), err error) {
	all := &r.feeds
	all.mu.Lock()
	f = all.open[jobID]
	if f != nil && r.Watchers > 0 && f.watchers >= r.Watchers {
		all.mu.Unlock()
		return nil, nil, fault.New(fault.RateLimited, "The job has %d event streams, which is the maximum.", r.Watchers).After(retryAfterFull)
	}
	if f == nil {
		if all.open == nil {
			all.open = map[string]*feed{}
		}
		f = &feed{
			reader: r, jobID: jobID, listening: make(chan struct{}), ended: make(chan struct{}), grown: make(chan struct{}),
			more: make(chan struct{}, 1), made: map[int64]*Event{},
		}
		var feedCtx context.Context
		feedCtx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
		go f.run(feedCtx)
		all.open[jobID] = f
	}
	f.watchers++
	all.mu.Unlock()
	f.countPreviewWatchers(previews, 1)
	leave = func() {
		f.countPreviewWatchers(previews, -1)
		all.mu.Lock()
		f.watchers--
		last := f.watchers == 0
		if last {
			// Under the same lock as the count: a watcher that comes now starts a new feed
			// instead of joining one that ends.
			delete(all.open, jobID)
		}
		all.mu.Unlock()
		if last {
			f.stop()
			// Only then: a feed that still runs could add previews after the release.
			<-f.ended
			all.previews.release(f)
		}
	}
	select {
	case <-f.listening:
		return f, leave, nil
	case <-ctx.Done():
		leave()
		return nil, nil, ctx.Err()
	}
}

// countPreviewWatchers adds change to the number of watchers that want previews.
func (f *feed) countPreviewWatchers(previews bool, change int) {
	if !previews {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.previewWatchers += change
}

// mark is the index of the next event. It counts all events that the feed ever had, so it
// stays valid when old ones are dropped.
func (f *feed) mark() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first + len(f.events)
}

// eventsFrom returns the events from mark on. grown is closed when more are added; behind
// means that the feed has dropped some of them. The caller must not change the slice.
// After the job's last event grown is never closed again; the caller has seen Last by
// then. err comes only after all events before it.
func (f *feed) eventsFrom(mark int) (events []*Event, grown <-chan struct{}, behind bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The events in between are gone; the database still has what they said.
	if mark < f.first {
		return nil, nil, true, nil
	}
	events = f.events[mark-f.first:]
	if len(events) == 0 {
		err = f.err
	}
	return events, f.grown, false, err
}

// drop forgets an event and those before it. A watcher that has not received them is
// behind and reads the database.
func (f *feed) drop(e *Event) {
	f.mu.Lock()
	if i := slices.Index(f.events, e); i >= 0 {
		f.events, f.first = slices.Clone(f.events[i+1:]), f.first+i+1
	}
	f.mu.Unlock()
	f.making.Lock()
	defer f.making.Unlock()
	if f.made[e.Seq] == e {
		delete(f.made, e.Seq)
	}
}

// publish adds events and wakes all watchers. All watchers see the same pointers, so an
// event is encoded once.
func (f *feed) publish(events ...*Event) {
	if len(events) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// A full slice expression copies on append: watchers still read the old array.
	f.events = append(f.events[:len(f.events):len(f.events)], events...)
	if over := len(f.events) - feedEvents; over > 0 {
		f.events, f.first = f.events[over:], f.first+over
	}
	f.wake()
}

// wake wakes every watcher that waits. The caller holds mu.
func (f *feed) wake() {
	close(f.grown)
	f.grown = make(chan struct{})
}

// run reads the job's changes and publishes them until the job or ctx ends. It listens
// before its first read, so that no change falls between the two.
func (f *feed) run(ctx context.Context) {
	defer close(f.ended)
	changed, stopChanged := f.reader.DB.Listen(job.Topic(f.jobID))
	defer stopChanged()
	moved, stopMoved := f.reader.DB.Listen(job.ProgressTopic(f.jobID))
	defer stopMoved()
	var previews sync.WaitGroup
	// Previews are made concurrently with the reads: a large picture must not delay
	// the events of frames.
	previews.Go(func() { f.makePreviews(ctx) })
	defer previews.Wait()
	defer f.close()

	// This first read publishes nothing. It is the state from which differences count; each
	// watcher catches up from the database itself.
	n, err := f.reader.readUpdate(ctx, "", f.jobID, afterEverySeq)
	close(f.listening) // every change after this read is published
	seq, shown := int64(0), job.Object{}
	if err == nil {
		seq, shown = n.job.Seq, n.object
	}
	for err == nil && !shown.Status.Terminal() {
		if err = f.waitForChange(ctx, changed, moved); err != nil {
			break
		}
		if seq, shown, err = f.publishUpdates(ctx, seq, shown, &previews); err != nil {
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err != nil {
		f.wake()
	}
}

// afterEverySeq is above the Seq of any job: a read after it returns the job alone.
const afterEverySeq = 1<<63 - 1

// publishUpdates reads the job's changes after seq and publishes them. At the job's end it
// waits for the previews, which come before the last event. It returns the new seq and the
// job as last shown. Frames come in batches, so it reads until the job itself is in the
// answer.
func (f *feed) publishUpdates(ctx context.Context, seq int64, shown job.Object, previews *sync.WaitGroup) (int64, job.Object, error) {
	for {
		n, err := f.reader.readUpdate(ctx, "", f.jobID, seq)
		if err != nil {
			return seq, shown, err
		}
		f.publish(n.frames...)
		f.queuePreviews(n.rows)
		if n.job == nil {
			seq = n.rows[len(n.rows)-1].Seq
			continue
		}
		if n.job.Last {
			f.close()
			previews.Wait() // they come before the end
		}
		// Heartbeats cause reads that change nothing a caller can see.
		if n.job.Seq > seq || differs(shown, n.object) {
			f.publish(n.job)
		}
		return n.job.Seq, n.object, nil
	}
}

// differs reports whether a job looks different although its row has not changed: by
// progress, by workers, or by the jobs before it in the queue.
func differs(was, is job.Object) bool {
	return was.ProgressPercent != is.ProgressPercent || !same(was.WaitingReason, is.WaitingReason) || !same(was.QueuePosition, is.QueuePosition) ||
		!same(was.PausedBy, is.PausedBy) || !same(was.Priority, is.Priority)
}

// same compares what two pointers point to; nil equals only nil.
func same[T comparable](a, b *T) bool {
	return a == b || (a != nil && b != nil && *a == *b)
}

// waitForChange returns when the job should be read again. It returns at the earliest
// after feedPace, so that many changes at once cost one read; a progress waits longer than
// a frame.
func (f *feed) waitForChange(ctx context.Context, changed, moved <-chan struct{}) error {
	if err := sleep(ctx, feedPace); err != nil {
		return err
	}
	idle := time.NewTimer(feedReread)
	defer idle.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
		return nil
	case <-idle.C:
		return nil
	case <-moved:
	}
	pause := time.NewTimer(progressPace - feedPace)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-pause.C:
	}
	return nil
}

// sleep waits for d. Error: ctx's, when ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sleep: %w", ctx.Err())
	}
}
