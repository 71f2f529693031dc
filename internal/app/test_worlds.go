package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/blendfile/memory"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/work/identity"
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
	// Keep is how long a world is kept that nobody uses; 0 means a week.
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

// testWorlds has the test worlds that this process has open, and leads requests to them. A
// world is opened by the first request for it and closed when none came for a while, so a
// service that nobody tests has none. It is safe for concurrent use.
type testWorlds struct {
	app    *App
	public string         // the service's own address
	real   http.Handler   // the service's own routes
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
func (a *App) newTestWorlds(public string, real http.Handler, in *intake.Intake) *testWorlds {
	return &testWorlds{
		app: a, public: public, real: real, memory: in.Memory, files: in.Guard,
		pace: pace{every: time.Second / time.Duration(a.Config.TestMode.Rate)}, open: map[string]*openWorld{},
	}
}

const (
	// closeAfter is how long a world stays open that nobody uses.
	closeAfter = 5 * time.Minute
	// openTimeout bounds the opening of a world.
	openTimeout = time.Minute
	// tendEvery is how often worlds are closed and removed.
	tendEvery = 30 * time.Second
)

// testPrefix begins the paths that links of test worlds have: a workspace's id follows.
const testPrefix = "/test/"

// testPath is the path of a link of a test world.
var testPath = regexp.MustCompile(`^/test/(WSP-[0-9a-f]{32})(/.*)$`)

// linkedKey finds in a request's context the workspace that its path names.
type linkedKey struct{}

// Of implements front.Elsewhere: requests with a key of test mode, requests under the address
// of a test world, and those of a browser whose person has switched test mode on.
func (t *testWorlds) Of(r *http.Request) (*http.Request, bool) {
	if m := testPath.FindStringSubmatch(r.URL.Path); m != nil {
		inside := r.WithContext(context.WithValue(r.Context(), linkedKey{}, m[1]))
		address := *r.URL
		address.Path, address.RawPath = m[2], ""
		if raw, found := strings.CutPrefix(r.URL.RawPath, testPrefix+m[1]); found {
			address.RawPath = raw
		}
		inside.URL = &address
		return inside, true
	}
	header := r.Header.Get("Authorization")
	return r, identity.IsTestKey(header) || (header == "" && switchedOn(r) && ofBrowsers(r.URL.Path))
}

// switchedOn reports whether the browser of a signed-in person is in test mode.
func switchedOn(r *http.Request) bool {
	mode, err := r.Cookie(contract.ModeCookie)
	_, session := r.Cookie(contract.SessionCookie)
	return err == nil && session == nil && mode.Value == contract.ModeTest
}

// ofBrowsers reports whether a path leads a browser in test mode to the test world: what
// shows or changes jobs, money and webhooks.
func ofBrowsers(path string) bool {
	return hasPrefix(path, "/console", "/v1/", "/node/v1/") && !ofWorkspace(path)
}

// ofWorkspace reports whether a path is about the workspace itself, whatever the mode: its
// keys, its people and its settings.
func ofWorkspace(path string) bool {
	return hasPrefix(path, "/console/keys", "/console/settings", "/console/sign-", "/console/mode", "/v1/auth/", "/v1/api-keys", "/v1/agent-keys", "/v1/workspace/proof-pages")
}

// hasTestSide reports whether a path exists in test worlds.
func hasTestSide(path string) bool {
	return hasPrefix(path, "/console", "/v1/", "/node/v1/", links.AgentPath, "/log/", links.ProofPath, links.OpenAPIPath, "/assets/")
}

func hasPrefix(path string, any ...string) bool {
	return slices.ContainsFunc(any, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

// Serve implements front.Elsewhere. The credential is checked in the service's own store,
// and only there: the world knows its guests and none of their ends. Errors: unauthenticated,
// route_not_found, wrong_mode, unavailable.
func (t *testWorlds) Serve(w http.ResponseWriter, r *http.Request) error {
	ctx, header := r.Context(), r.Header.Get("Authorization")
	linked, _ := ctx.Value(linkedKey{}).(string)
	switch {
	case t.app.Config.TestMode.Off:
		return fault.New(fault.WrongMode, "This service has no test mode.")
	case ofWorkspace(r.URL.Path):
		return fault.New(fault.WrongMode, "This is not part of test mode: keys and people belong to the workspace.")
	case !hasTestSide(r.URL.Path):
		return fault.New(fault.RouteNotFound, "There is no route %s in test mode.", r.URL.Path)
	}
	guest, err := t.guest(r, header, linked)
	if fault.Is(err, fault.Unauthenticated) && header == "" && linked == "" {
		t.real.ServeHTTP(w, r) // the sign-in page, or its refusal
		return nil
	}
	if err != nil {
		return err
	}
	inside := r.Clone(ctx)
	inside.Header.Del("Authorization")
	if guest != nil && header != "" {
		inside.Header.Set("Authorization", identity.WorldHeader(header))
	}
	workspaceID := linked
	if guest != nil {
		workspaceID = guest.WorkspaceID
	}
	world, leave, err := t.visit(ctx, workspaceID, guest != nil)
	if err != nil {
		return err
	}
	defer leave()
	if guest != nil {
		if err := world.enter(ctx, *guest); err != nil {
			return err
		}
	}
	world.routes.ServeHTTP(w, inside)
	return nil
}

// guest authenticates the caller of a request; nil for nobody, as behind a link that
// authorises itself. Error: unauthenticated.
func (t *testWorlds) guest(r *http.Request, header, linked string) (*identity.Guest, error) {
	if identity.IsTestKey(header) {
		who, err := identity.TestKey(r.Context(), t.app.DB, header)
		if err == nil && linked != "" && who.WorkspaceID != linked {
			err = fault.New(fault.Unauthenticated, "This address is of another workspace's test world.")
		}
		return &identity.Guest{Principal: who, Secret: strings.TrimPrefix(identity.WorldHeader(header), "Bearer ")}, err
	}
	token, err := identity.SessionToken(r)
	if header != "" || (linked != "" && err != nil) {
		return nil, nil
	}
	var who identity.Principal
	if err == nil {
		who, err = identity.Session(r.Context(), t.app.DB, token)
	}
	if linked != "" && (err != nil || who.WorkspaceID != linked) {
		return nil, nil
	}
	return &identity.Guest{Principal: who, Secret: token}, err
}

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
		return nil, fault.New(fault.Unavailable, "%d workspaces use test mode right now, as many as this server can.", len(t.open)).After(10 * time.Second)
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
		err = fault.New(fault.Unavailable, "The test world does not open.").After(5 * time.Second).Wrap(err)
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

// tend closes worlds that nobody uses, and removes those that have ended, until ctx ends.
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

// used begins to close the worlds that were idle for long, and lists those whose use is to be
// noted.
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

// removeTestWorld removes the store of a test world that has ended, which no process has open
// any more, and takes it off the list.
func (a *App) removeTestWorld(ctx context.Context, workspaceID string) error {
	cfg := testConfig(a.Config, workspaceID, "")
	if cfg.Blobs != "" {
		files, err := readBlobs(ctx, cfg)
		if err == nil {
			err = files.List(ctx, "", func(key string, _ time.Time) error { return files.Delete(ctx, key) })
		}
		if err != nil {
			return fmt.Errorf("remove the files of a test world: %w", err)
		}
	}
	if onPostgres(cfg) {
		if err := db.DropSchema(ctx, cfg.Database, testSchema(workspaceID)); err != nil {
			return fmt.Errorf("remove a test world: %w", err)
		}
	}
	if err := os.RemoveAll(cfg.Data); err != nil {
		return fmt.Errorf("remove a test world: %w", err)
	}
	a.Config.Log.Info("the test world of a workspace is removed", "workspace_id", workspaceID)
	return a.DB.Write(ctx, func(tx *db.Tx) error { return testmode.Removed(ctx, tx, workspaceID) })
}

// pace spaces the frames that all worlds of a process paint. It is safe for concurrent use.
type pace struct {
	every time.Duration // 0 does not wait

	mu   sync.Mutex
	next time.Time
}

// wait waits until the caller may paint a frame. A second in which nobody painted may be made
// up for at once, so a few frames never wait.
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
