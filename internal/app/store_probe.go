package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/lease"
)

const (
	// probeLife is how long the outcome of a probe is told.
	probeLife = 3 * time.Second
	// probeLimit is how long a probe may take until it counts as failed.
	probeLimit = 2 * time.Second
	// outageCheck is how often the store is probed during an outage. A probe of before the
	// outage is too old to be told by then.
	outageCheck = probeLife
)

// storeProbe finds out whether the database and the store of files can be written. It writes
// a row and a file, at most once in probeLife, however many ask.
type storeProbe struct {
	probes [2]func(context.Context) error

	mu      sync.Mutex
	at      time.Time     // when the last probe ended
	found   [2]error      // of database and files
	pending chan struct{} // closed when the probe that runs has ended; nil for none
}

func (a *App) newStoreProbe() *storeProbe {
	return &storeProbe{probes: [2]func(context.Context) error{
		func(ctx context.Context) error { return lease.Probe(ctx, a.DB) },
		func(ctx context.Context) error { return blob.Probe(ctx, a.Blobs) },
	}}
}

// check returns whether the database and the store of files can be written.
func (p *storeProbe) check() (database, files error) {
	p.mu.Lock()
	if p.pending == nil && time.Since(p.at) >= probeLife {
		p.pending = make(chan struct{})
		go p.run()
	}
	pending := p.pending
	p.mu.Unlock()
	if pending != nil {
		limit := time.NewTimer(probeLimit)
		defer limit.Stop()
		select {
		case <-pending:
		case <-limit.C: // a stalled disk does not even end when it is told to
			return front.ErrNoAnswer, front.ErrNoAnswer
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found[0], p.found[1]
}

// run probes both at once.
func (p *storeProbe) run() {
	ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
	defer cancel()
	var found [2]error
	var both sync.WaitGroup
	for i, probe := range p.probes {
		both.Go(func() { found[i] = probe(ctx) })
	}
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.found = time.Now(), found
	close(p.pending)
	p.pending = nil
}

// ready is the check of the readiness probe.
func (a *App) ready(context.Context) error {
	return errors.Join(a.probe.check())
}

// watchOutages logs when the store can be written again after an outage.
func (a *App) watchOutages(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.outages.Noticed():
		}
		for pause(ctx, outageCheck) {
			if a.ready(ctx) == nil {
				began := a.outages.Over()
				a.Config.Log.Info("the store answers again", "after", time.Since(began).Round(time.Second))
				break
			}
		}
	}
}
