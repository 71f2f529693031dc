package workers_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// outage is a store in which, while it lasts, some operations fail.
type outage struct {
	blob.Store
	mu     sync.Mutex
	hits   func(operation, key string) bool // nil when it is over
	failed int
	enough chan struct{} // closed when so many have failed that packing gave a job up before
}

// packings is how often packing fails in an outage: more often than it ever had patience.
const packings = 12

func (o *outage) fails(operation, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hits == nil || !o.hits(operation, key) {
		return nil
	}
	if o.failed++; o.failed == packings {
		close(o.enough)
	}
	return errors.New("the store does not answer")
}

func (o *outage) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hits = nil
}

func (o *outage) Create(ctx context.Context, key string) (blob.Writer, error) {
	if err := o.fails("create", key); err != nil {
		return nil, err
	}
	return o.Store.Create(ctx, key)
}

func (o *outage) Open(ctx context.Context, key string) (blob.Reader, error) {
	if err := o.fails("open", key); err != nil {
		return nil, err
	}
	return o.Store.Open(ctx, key)
}

// TestAnOutageDelaysPackingAndEndsNoJob: however long the store is away, the job waits, no frame
// counts as lost, and the money is captured once.
func TestAnOutageDelaysPackingAndEndsNoJob(t *testing.T) {
	ofPacking := func(key string) bool { return strings.HasPrefix(key, "artifacts/") }
	for name, hits := range map[string]func(operation, key string) bool{
		"nothing can be written": func(operation, key string) bool { return operation == "create" && ofPacking(key) },
		"nothing can be read":    func(operation, _ string) bool { return operation == "open" },
	} {
		t.Run(name, func(t *testing.T) {
			story.Each(t, func(t *testing.T, config app.Config) {
				clock := &story.Hurried{}
				config.Skew, config.LeaseLife = clock.Skew, 365*24*time.Hour
				svc := story.Open(t, config)
				svc.Lone = true // the other processes could pack them
				store := &outage{Store: svc.App.Blobs, enough: make(chan struct{})}
				svc.App.Blobs = store
				svc.Serve()
				c := svc.Caller(story.Credit)
				g := story.BarrierAt(2)
				svc.Worker(&story.Painter{Before: g.Pass})
				job := c.StartFrames(2)
				if _, err := g.Await(story.Patient(t)); err != nil {
					t.Fatal(err)
				}
				// It begins once the last picture is delivered and read.
				delivered := false
				store.mu.Lock()
				store.hits = func(operation, key string) bool {
					delivered = delivered || ofPacking(key)
					return delivered && hits(operation, key)
				}
				store.mu.Unlock()
				clock.On.Store(true) // the pauses between tries to pack pass at once
				g.Open()
				await.Next(t, store.enough, "packing to fail that often")
				store.end()
				c.Fetch(c.Await(job.JobID, client.StatusCompleted), 2)
				if failed := svc.FailedTries(job.JobID); failed != 0 {
					t.Errorf("the log shows %d failed attempts", failed)
				}
				svc.SettledOnce(c, 2)
			})
		})
	}
}

// TestAFrameThatOnlyItselfCannotBeReadIsRenderedAgain: a store that works has lost what it
// cannot read, such as a file on bad sectors.
func TestAFrameThatOnlyItselfCannotBeReadIsRenderedAgain(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		clock := &story.Hurried{}
		config.Skew, config.LeaseLife = clock.Skew, 365*24*time.Hour
		svc := story.Open(t, config)
		svc.Lone = true // the other processes could pack them
		bad, opened := "", false
		store := &outage{Store: svc.App.Blobs, enough: make(chan struct{}), hits: func(operation, key string) bool {
			if operation != "open" || !strings.HasPrefix(key, "frames/") || bad != "" && bad != key {
				return false
			}
			bad = key
			defer func() { opened = true }()
			return opened // the first time is the check of its delivery
		}}
		svc.App.Blobs = store
		svc.Serve()
		c := svc.Caller(story.Credit)
		clock.On.Store(true)
		svc.Worker(&story.Painter{})
		job := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
		store.end()
		c.Fetch(job, 2)
		if failed := svc.FailedTries(job.JobID); failed != 1 {
			t.Errorf("the log shows %d failed attempts, want the lost frame", failed)
		}
		svc.SettledOnce(c, 2)
	})
}

// TestAnOutageDuringTheCheckOfAPictureIsNoBadPicture: the worker sends it again.
func TestAnOutageDuringTheCheckOfAPictureIsNoBadPicture(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Open(t, config)
		svc.Lone = true
		store := &breaking{Store: svc.App.Blobs}
		store.left.Store(4)
		svc.App.Blobs = store
		svc.Serve()
		c := svc.Caller(story.Credit)
		svc.Worker(&story.Painter{})
		job := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
		c.Fetch(job, 2)
		if failed := svc.FailedTries(job.JobID); failed != 0 || store.left.Load() >= 0 {
			t.Errorf("the log shows %d failed attempts; %d reads more were to break", failed, store.left.Load())
		}
		svc.SettledOnce(c, 2)
	})
}

// breaking is a store of which some pictures break off while they are read.
type breaking struct {
	blob.Store
	left atomic.Int64 // how many
}

func (b *breaking) Open(ctx context.Context, key string) (blob.Reader, error) {
	r, err := b.Store.Open(ctx, key)
	if err != nil || !strings.HasPrefix(key, "frames/") || b.left.Add(-1) < 0 {
		return r, err
	}
	return broken{r}, nil
}

type broken struct{ blob.Reader }

func (b broken) Read(p []byte) (int, error) {
	if len(p) > 20 {
		p = p[:20]
	}
	if n, err := b.Reader.Read(p); err != nil {
		return n, err
	}
	return 0, errors.New("the store does not answer")
}
