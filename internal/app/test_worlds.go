package app

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"svc.example/internal/door/agent"
	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/testmode"
)

// TestMode bounds test mode, in which a workspace pays nothing. The zero value is usable.
type TestMode struct {
	// Off refuses every key of test mode.
	Off bool
	// Storage bounds what a workspace's test world takes, in bytes; 0 means 512 MiB.
	Storage int64
	// Frames bounds the frames of a job; 0 means 1000.
	Frames int
	// Rate is how many frames are painted in a second, by all worlds of this process
	// together; 0 means 20.
	Rate int
	// Open is how many worlds this process has open at once; 0 means 8.
	Open int
	// Worlds is how many workspaces may have a world; 0 means 100.
	Worlds int
	// Keep is how long an unused world is kept; 0 means a week.
	Keep time.Duration
}

// withDefaults fills in the defaults.
func (m TestMode) withDefaults() TestMode {
	if m.Storage == 0 {
		m.Storage = 512 << 20
	}
	if m.Frames == 0 {
		m.Frames = 1000
	}
	if m.Rate == 0 {
		m.Rate = 20
	}
	if m.Open == 0 {
		m.Open = 8
	}
	if m.Worlds == 0 {
		m.Worlds = 100
	}
	if m.Keep == 0 {
		m.Keep = 7 * 24 * time.Hour
	}
	return m
}

// testWorlds holds the test worlds that this process has open, and routes requests to
// them. A world is opened by its first request and closed when none came for a while, so a
// service without test users has none. It is safe for concurrent use.
type testWorlds struct {
	app    *App
	public string         // the service's own address
	real   http.Handler   // the service's own routes
	errs   *front.Errors  // of requests that reach no world
	memory *memory.Budget // of inspections, shared with the service
	files  *outbound.Guard
	pace   pace

	mu   sync.Mutex
	open map[string]*openWorld // by workspace
	end  bool                  // the service stops
}

// openWorld is a world that is open, or on its way to be or to be closed; testWorlds.mu
// guards it, except world and err, which are set before ready is closed.
type openWorld struct {
	ready  chan struct{}
	world  *testWorld
	err    error
	users  int // requests under way
	usedAt time.Time
	gone   chan struct{} // not nil while it closes
}

// newTestWorlds makes the test worlds of a service with these routes and uploads.
func (a *App) newTestWorlds(public string, routes http.Handler, in *intake.Intake) *testWorlds {
	return &testWorlds{
		app: a, public: public, real: routes, errs: &front.Errors{Log: a.Config.Log, Page: page.ErrorPages{DB: a.DB, Test: true, TestMode: true}.Write, Agent: agent.Answer}, memory: in.Memory, files: in.Guard,
		pace: pace{every: time.Second / time.Duration(a.Config.TestMode.Rate)}, open: map[string]*openWorld{},
	}
}

const (
	// closeAfter is how long an unused world stays open.
	closeAfter = 5 * time.Minute
	// openTimeout bounds the opening of a world.
	openTimeout = time.Minute
	// tendEvery is how often worlds are closed and removed.
	tendEvery = 30 * time.Second
)

// visit returns a world, and opens it if it is not open. A world that does not exist yet is
// made for a guest only. The caller calls leave at the end of the request. Errors: unavailable,
// route_not_found.
func (t *testWorlds) visit(ctx context.Context, workspaceID string, guest bool) (w *testWorld, leave func(), err error) {
	for {
		o, err := t.find(ctx, workspaceID, guest)
		if err != nil {
			return nil, nil, err
		}
		if o.gone != nil {
			select {
			case <-o.gone:
				continue
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		}
		leave := func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			o.users, o.usedAt = o.users-1, time.Now()
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			leave()
			return nil, nil, ctx.Err()
		}
		if o.err != nil {
			leave()
			return nil, nil, o.err
		}
		return o.world, leave, nil
	}
}

// find returns the entry of a world, counts the caller among its users unless the world is
// closing, and begins to open it if there is none.
func (t *testWorlds) find(ctx context.Context, workspaceID string, guest bool) (*openWorld, error) {
	t.mu.Lock()
	o := t.open[workspaceID]
	switch {
	case t.end:
		t.mu.Unlock()
		return nil, fault.New(fault.Unavailable, "The service is stopping.").After(time.Second)
	case o != nil:
		if o.gone == nil {
			o.users++
		}
		t.mu.Unlock()
		return o, nil
	}
	t.mu.Unlock()
	// Not under the lock: the list is in the database.
	note := testmode.Existing
	if guest {
		note = func(ctx context.Context, tx *db.Tx, workspaceID string) error {
			return testmode.Use(ctx, tx, workspaceID, t.app.Config.TestMode.Worlds)
		}
	}
	if err := t.app.DB.Write(ctx, func(tx *db.Tx) error { return note(ctx, tx, workspaceID) }); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.open[workspaceID]; o != nil || t.end { // another request was first
		if o == nil {
			return nil, fault.New(fault.Unavailable, "The service is stopping.").After(time.Second)
		}
		if o.gone == nil {
			o.users++
		}
		return o, nil
	}
	if len(t.open) >= t.app.Config.TestMode.Open && !t.closeOldest() {
		return nil, fault.New(fault.Unavailable, "%d workspaces are using test mode, which is the most that this server can handle.", len(t.open)).After(10 * time.Second)
	}
	o = &openWorld{ready: make(chan struct{}), users: 1}
	t.open[workspaceID] = o
	go t.begin(context.WithoutCancel(ctx), workspaceID, o)
	return o, nil
}

// begin opens a world. One that does not open is forgotten, so that the next request tries
// again.
func (t *testWorlds) begin(ctx context.Context, workspaceID string, o *openWorld) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	w, err := t.start(ctx, workspaceID)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.app.Config.Log.Error("a test world does not open", "workspace_id", workspaceID, "err", err)
		err = fault.New(fault.Unavailable, "The test world could not be opened.").After(5 * time.Second).Wrap(err)
		delete(t.open, workspaceID)
	}
	o.world, o.err = w, err
	close(o.ready)
}

// closeOldest begins to close the world that was not used for the longest time, and reports
// whether there is one. The caller holds t.mu.
func (t *testWorlds) closeOldest() bool {
	var oldest string
	for workspaceID, o := range t.open {
		if o.users == 0 && o.gone == nil && (oldest == "" || o.usedAt.Before(t.open[oldest].usedAt)) {
			oldest = workspaceID
		}
	}
	if oldest == "" {
		return false
	}
	t.close(oldest)
	return true
}

// close begins to close a world that is open and has no users. The caller holds t.mu.
func (t *testWorlds) close(workspaceID string) {
	o := t.open[workspaceID]
	o.gone = make(chan struct{})
	go func() {
		<-o.ready
		if o.world != nil {
			o.world.close()
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, workspaceID)
		close(o.gone)
	}()
}

// tend closes unused worlds, and removes those that have ended, until ctx ends.
func (t *testWorlds) tend(ctx context.Context) {
	for pause(ctx, tendEvery) {
		if err := t.tendOnce(ctx); err != nil && ctx.Err() == nil {
			t.app.Config.Log.Error("cannot tend the test worlds", "err", err)
		}
	}
}

func (t *testWorlds) tendOnce(ctx context.Context) error {
	err := t.app.DB.Write(ctx, func(tx *db.Tx) error { return testmode.EndUnused(ctx, tx, t.app.Config.TestMode.Keep) })
	if err != nil {
		return err
	}
	for _, workspaceID := range t.used(time.Now()) {
		lives := false
		err = errors.Join(err, t.app.DB.Write(ctx, func(tx *db.Tx) (err error) {
			if lives, err = testmode.Lives(ctx, tx, workspaceID); err != nil || !lives {
				return err
			}
			return testmode.Use(ctx, tx, workspaceID, t.app.Config.TestMode.Worlds)
		}))
		if err == nil && !lives {
			t.leave(workspaceID)
		}
	}
	var ended []string
	err = errors.Join(err, t.app.DB.Read(ctx, func(tx *db.Tx) (err error) {
		ended, err = testmode.Ended(ctx, tx)
		return err
	}))
	for _, workspaceID := range ended {
		if t.isOpen(workspaceID) {
			continue // the next time
		}
		err = errors.Join(err, t.app.removeTestWorld(ctx, workspaceID))
	}
	return err
}

// used begins to close the worlds that were idle for long, and lists those whose use must be
// recorded.
func (t *testWorlds) used(now time.Time) (use []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for workspaceID, o := range t.open {
		if o.gone != nil {
			continue
		}
		if o.users == 0 && !o.usedAt.IsZero() && now.Sub(o.usedAt) > closeAfter {
			t.close(workspaceID)
			continue
		}
		use = append(use, workspaceID)
	}
	return use
}

func (t *testWorlds) isOpen(workspaceID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[workspaceID] != nil
}

// leave closes a world that has ended, once its requests have.
func (t *testWorlds) leave(workspaceID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.open[workspaceID]; o != nil && o.gone == nil && o.users == 0 {
		t.close(workspaceID)
	}
}

// stop closes all worlds. No request is under way any more.
func (t *testWorlds) stop() {
	t.mu.Lock()
	t.end = true
	var gone []chan struct{}
	for workspaceID, o := range t.open {
		if o.gone == nil {
			t.close(workspaceID)
		}
		gone = append(gone, o.gone)
	}
	t.mu.Unlock()
	for _, c := range gone {
		<-c
	}
}

// pace spaces the frames that all worlds of a process paint. It is safe for concurrent use.
type pace struct {
	every time.Duration // 0 does not wait

	mu   sync.Mutex
	next time.Time
}

// wait waits until the caller may paint a frame. A second in which no frame was painted may
// be made up for at once, so a few frames never wait.
func (p *pace) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	if least := now.Add(-time.Second); p.next.Before(least) {
		p.next = least
	}
	p.next = p.next.Add(p.every)
	wait := p.next.Sub(now)
	p.mu.Unlock()
	if wait <= 0 || pause(ctx, wait) {
		return nil
	}
	return context.Cause(ctx)
}
