// Package inflight knows the requests that a process has open, by the credential and the
// workspace that they were authenticated with. Package front holds them, and identity ties them
// to their credentials.
//
// What always holds: a request ends soon after its credential has ended, whichever process ended
// it, and a workspace has at most so many open as Requests.Most. It authenticates nobody: that is
// left to identity. Start reading at Requests.
package inflight

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// ErrEnded is why a request ends whose credential has ended while it ran. It is
// unauthenticated, as the next request with that credential is.
var ErrEnded error = fault.New(fault.Unauthenticated, "The key was revoked or the session ended during the request.")

// lookEvery is how often a process looks for credentials that have ended. A request is
// ended at the second look that finds its credential gone: 1.5 to 3 s after the
// revocation. The pause lets a request answer that revokes its own credential, as signing
// out does.
const lookEvery = 1500 * time.Millisecond

// lookMost is how many credentials one statement asks for.
const lookMost = 500

// Requests holds the authenticated requests that this process has open, by their
// credential, and ends those whose credential has ended: revoked by any process, signed
// out, or expired. Long polls, event streams and downloads would otherwise outlive it.
//
// It asks the database instead of waiting for a message from the process that revokes,
// because messages can get lost. Each check is one statement for any number of requests,
// and none while there are no requests. Its memory is bounded by the open connections.
//
// It also bounds how many requests a workspace has open here at once: event streams and
// slow uploads cost nothing in the rate limit while they last. It is safe for concurrent
// use.
type Requests struct {
	DB  *db.DB
	Log *slog.Logger
	// Most is how many requests of one workspace may be open at once in this process; 0
	// is any number. Workers belong to no workspace and are not counted.
	Most int

	mu    sync.Mutex
	held  map[string]*heldCredential // by key id, or by the hash of a session's token
	count map[string]int             // open requests by workspace; no entry is 0
}

// heldCredential is a credential with open requests. Requests.mu guards it.
type heldCredential struct {
	requests map[*request]struct{}
	gone     bool // the last look did not find it
}

// request is one request; Requests.mu guards credential and workspace.
type request struct {
	of         *Requests
	credential string // "" before authentication
	workspace  string // of the credential; "" of a worker's
	end        func(cause error)
}

type requestKey struct{}

// Follow returns the context by which authentication ties a request to its credential. end
// is called with ErrEnded when the credential has ended, perhaps more than once, and must
// not block. Call done when the request is over.
func (o *Requests) Follow(ctx context.Context, end func(cause error)) (followed context.Context, done func()) {
	r := &request{of: o, end: end}
	return context.WithValue(ctx, requestKey{}, r), func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.drop(r)
	}
}

// Hold ties the request of ctx to the credential that it has authenticated with, and to the
// credential's workspace, which is "" for a worker's. Without a request in ctx it does
// nothing. Error: rate_limited, when the workspace has too many requests open.
func Hold(ctx context.Context, credential, workspace string) error {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r.of.take(r, credential, workspace)
	}
	return nil
}

// retryAfterOpen is when a refused workspace may ask again: a request that is no stream
// ends soon.
const retryAfterOpen = 5 * time.Second

// take ties a request to a credential, in place of the one before. Error: rate_limited.
func (o *Requests) take(r *request, credential, workspace string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop(r)
	if workspace != "" && o.Most > 0 && o.count[workspace] >= o.Most {
		return fault.New(fault.RateLimited, "The workspace has %d open requests, which is the maximum. Close an event stream, an upload or a download first.", o.Most).
			After(retryAfterOpen)
	}
	if o.held == nil {
		o.held, o.count = map[string]*heldCredential{}, map[string]int{}
	}
	c := o.held[credential]
	if c == nil {
		c = &heldCredential{requests: map[*request]struct{}{}}
		o.held[credential] = c
	}
	c.requests[r] = struct{}{}
	r.credential, r.workspace = credential, workspace
	o.count[workspace]++
	return nil
}

// drop unties a request from its credential; without one it does nothing. The caller holds
// o.mu.
func (o *Requests) drop(r *request) {
	c := o.held[r.credential]
	if c == nil {
		return
	}
	delete(c.requests, r)
	if len(c.requests) == 0 {
		delete(o.held, r.credential)
	}
	if o.count[r.workspace]--; o.count[r.workspace] == 0 {
		delete(o.count, r.workspace)
	}
	r.credential, r.workspace = "", ""
}

// Run ends requests whose credential has ended, until ctx ends. Exactly one call runs per
// process. An error only delays: the next look asks again.
func (o *Requests) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := o.look(ctx); err != nil && ctx.Err() == nil {
			o.Log.Error("cannot look for revoked keys and ended sessions", "err", err)
		}
	}
}

// look asks which of the held credentials still open something, and ends the requests of
// those that did not at the look before either.
func (o *Requests) look(ctx context.Context) error {
	o.mu.Lock()
	held := slices.Collect(maps.Keys(o.held))
	o.mu.Unlock()
	for some := range slices.Chunk(held, lookMost) {
		list, err := json.Marshal(some)
		if err != nil {
			return fmt.Errorf("list credentials: %w", err)
		}
		var alive []string
		err = o.DB.Read(ctx, func(tx *db.Tx) (err error) {
			alive, err = tx.CredentialsAlive(ctx, query.CredentialsAliveParams{Ids: string(list), Now: tx.Now})
			return err
		})
		if err != nil {
			return fmt.Errorf("read credentials: %w", err)
		}
		for _, r := range o.judge(some, alive) {
			r.end(ErrEnded)
		}
	}
	return nil
}

// judge marks what the look found, and returns the requests to end.
func (o *Requests) judge(asked, alive []string) (over []*request) {
	lives := map[string]bool{}
	for _, id := range alive {
		lives[id] = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range asked {
		c := o.held[id]
		if c == nil {
			continue // its requests are over
		}
		if c.gone && !lives[id] {
			over = slices.AppendSeq(over, maps.Keys(c.requests))
		}
		c.gone = !lives[id]
	}
	return over
}
