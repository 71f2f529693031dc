package watch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"svc.example/internal/work/job"
)

// feed is what this process tells of one job, to all who watch it here: however
// many they are, a change is read from the database once, and a preview made
// once. It lives while somebody watches.
type feed struct {
	reader *Reader
	jobID  string

	begun chan struct{} // closed when it hears of every change
	ended chan struct{} // closed when it has stopped

	watchers int    // guarded by the lock of feeds
	stop     func() // ends it

	mu              sync.Mutex
	previewWatchers int           // watchers who want previews
	events          []*Event      // the newest that were told
	first           int           // how many were told before those
	grown           chan struct{} // closed, and replaced, when there are more
	err             error         // why it has ended; nil also at the job's end

	waiting []row // frames whose preview is to be made
	closing bool  // no more frames come

	more chan struct{} // of capacity 1: something waits, or closing

	making sync.Mutex
	made   map[int64]*Event // the newest previews, by Seq; nil = none can be made
}

// feeds are the jobs that are watched in this process.
type feeds struct {
	mu   sync.Mutex
	open map[string]*feed

	previews budget // of all of them
}

// Bounds of a feed.
const (
	feedKeeps = 2048 // events that a slow watcher may be behind
	// feedPace is the least time between two reads, and progressPace that before
	// one that only progress inside frames asks for.
	feedPace     = 20 * time.Millisecond
	progressPace = 500 * time.Millisecond
	// feedIdle is the longest that a feed goes without looking: that a worker
	// came online, or that all are busy now, is not announced.
	feedIdle = 5 * time.Second
)

// join takes part in the feed of a job, which begins with its first watcher.
func (r *Reader) join(ctx context.Context, jobID string, previews bool) (f *feed, leave func(), err error) {
	all := &r.feeds
	all.mu.Lock()
	f = all.open[jobID]
	if f == nil {
		if all.open == nil {
			all.open = map[string]*feed{}
		}
		f = &feed{
			reader: r, jobID: jobID, begun: make(chan struct{}), ended: make(chan struct{}), grown: make(chan struct{}),
			more: make(chan struct{}, 1), made: map[int64]*Event{},
		}
		var feedCtx context.Context
		feedCtx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
		go f.run(feedCtx)
		all.open[jobID] = f
	}
	f.watchers++
	all.mu.Unlock()
	f.look(previews, 1)
	leave = func() {
		f.look(previews, -1)
		all.mu.Lock()
		f.watchers--
		last := f.watchers == 0
		if last {
			delete(all.open, jobID)
		}
		all.mu.Unlock()
		if last {
			f.stop()
			<-f.ended
			all.previews.release(f)
		}
	}
	select {
	case <-f.begun:
		return f, leave, nil
	case <-ctx.Done():
		leave()
		return nil, nil, ctx.Err()
	}
}

// look counts those who want previews.
func (f *feed) look(previews bool, change int) {
	if !previews {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.previewWatchers += change
}

// mark is where the next event will stand.
func (f *feed) mark() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first + len(f.events)
}

// since gives the events from mark on; grown is closed when there are more.
// behind says that some are no longer kept.
func (f *feed) since(mark int) (events []*Event, grown <-chan struct{}, behind bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if mark < f.first {
		return nil, nil, true, nil
	}
	events = f.events[mark-f.first:]
	if len(events) == 0 {
		err = f.err
	}
	return events, f.grown, false, err
}

// drop forgets an event and those before it. A watcher who has not been told them
// reads from the database what it missed.
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

// publish tells events to all.
func (f *feed) publish(events ...*Event) {
	if len(events) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// Never in place: watchers read slices of what was there.
	f.events = append(f.events[:len(f.events):len(f.events)], events...)
	if over := len(f.events) - feedKeeps; over > 0 {
		f.events, f.first = f.events[over:], f.first+over
	}
	f.wake()
}

func (f *feed) wake() {
	close(f.grown)
	f.grown = make(chan struct{})
}

// run reads the job's changes and tells them until it has ended, or ctx does.
func (f *feed) run(ctx context.Context) {
	defer close(f.ended)
	changed, stopChanged := f.reader.DB.Listen(job.Topic(f.jobID))
	defer stopChanged()
	moved, stopMoved := f.reader.DB.Listen(job.ProgressTopic(f.jobID))
	defer stopMoved()
	var previews sync.WaitGroup
	previews.Go(func() { f.makePreviews(ctx) })
	defer previews.Wait()
	defer f.close()

	n, err := f.reader.newsFor(ctx, "", f.jobID, newest)
	close(f.begun) // what comes behind this read is told
	seq, told := int64(0), job.Object{}
	if err == nil {
		seq, told = n.job.Seq, n.object
	}
	for err == nil && !told.Status.Terminal() {
		if err = f.await(ctx, changed, moved); err != nil {
			break
		}
		if seq, told, err = f.tellNews(ctx, seq, told, &previews); err != nil {
			break
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err != nil {
		f.wake()
	}
}

// newest is a Seq that no job reaches: only the job itself is news.
const newest = 1<<63 - 1

// tellNews reads once, or as often as there are more frames, and tells.
func (f *feed) tellNews(ctx context.Context, seq int64, told job.Object, previews *sync.WaitGroup) (int64, job.Object, error) {
	for {
		n, err := f.reader.newsFor(ctx, "", f.jobID, seq)
		if err != nil {
			return seq, told, err
		}
		f.publish(n.frames...)
		f.show(n.rows)
		if n.job == nil {
			seq = n.rows[len(n.rows)-1].Seq
			continue
		}
		if n.job.Last {
			f.close()
			previews.Wait() // they come before the end
		}
		if n.job.Seq > seq || differs(told, n.object) {
			f.publish(n.job)
		}
		return n.job.Seq, n.object, nil
	}
}

// differs reports whether a job that has not changed looks different all the same.
func differs(was, is job.Object) bool {
	return was.ProgressPercent != is.ProgressPercent || !same(was.WaitingReason, is.WaitingReason) || !same(was.QueuePosition, is.QueuePosition)
}

func same[T comparable](a, b *T) bool {
	return a == b || (a != nil && b != nil && *a == *b)
}

// await returns when it is time to look again.
func (f *feed) await(ctx context.Context, changed, moved <-chan struct{}) error {
	if err := rest(ctx, feedPace); err != nil {
		return err
	}
	idle := time.NewTimer(feedIdle)
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

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("rest: %w", ctx.Err())
	}
}
