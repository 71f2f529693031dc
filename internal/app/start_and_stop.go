package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/door/agent"
	"svc.example/internal/door/api"
	"svc.example/internal/door/farm"
	"svc.example/internal/door/web"
	"svc.example/internal/front"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/idempotency"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/openid"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/watch"
	"svc.example/internal/work/webhook"
	"svc.example/internal/work/worker"
)

// Bounds and intervals of the background work.
const (
	// reapEvery is how often lapsed leases are taken back.
	reapEvery = time.Second
	// sweepEvery is how often the blobs are compared with the rows.
	sweepEvery = time.Hour
	// packParallel is how many ZIPs are written at once: the disk is the limit.
	packParallel = 2
	// fetchParallel is how many files are fetched at once; the hosts they come
	// from may be slow.
	fetchParallel = 8
	// linkParallel is how many sign-in links are sent at once; a mail server
	// may be slow.
	linkParallel = 4
	// headerTimeout bounds how long a client may take to send its headers.
	headerTimeout = 10 * time.Second
	// idleTimeout closes a kept connection that sends no further request.
	idleTimeout = 2 * time.Minute
	// cancelTimeout is how long cancelled requests may take to end before their
	// connections are closed.
	cancelTimeout = 3 * time.Second
)

// Serve serves requests and runs the background work until ctx ends; then it
// stops in order and returns nil. It returns an error when it cannot start, or
// when the listener or the embedded worker ends by itself.
//
// The order of a stop: readiness goes off, and long polls and event streams
// end. The embedded worker finishes its frame or releases it. Running requests
// get until Config.StopTimeout from the beginning of the stop; what is left is
// cancelled. The background work ends last.
func (a *App) Serve(ctx context.Context) error {
	listener, err := net.Listen("tcp", a.Config.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.Config.Listen, err)
	}
	local := "http://" + reachable(listener.Addr())
	public := cmp.Or(a.Config.PublicURL, local)
	if err := a.prepareLog(ctx, public); err != nil {
		return errors.Join(err, listener.Close())
	}
	a.warnOfWebhooks()
	at := a.Links(public)
	p := a.parts(at)
	in := a.intake(outbound.New(a.Config.FileURLs))

	mux := http.NewServeMux()
	errs := &front.Errors{Log: a.Config.Log, Page: web.ErrorPage}
	a.doors(mux, errs, p, in)
	workers := a.workersDoor(errs, p)
	workers.Routes(mux)
	counter := ratelimit.NewCounter(a.DB, a.Config.Log)

	// One context for each step of a stop. None of them descends from ctx,
	// whose end begins the stop but must not cancel what is to finish in order.
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	requests, endRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endRequests(nil)
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	front.Probes(serving, mux, errs, a.reachesDatabase)
	server := &http.Server{
		Handler: a.front(serving, mux, errs, counter), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	var background sync.WaitGroup
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	for _, run := range a.background(p, in, workers, counter) {
		background.Go(func() { run(work) })
	}
	worked := make(chan error, 1)
	workerCtx, stopWorker := context.WithCancel(context.WithoutCancel(ctx))
	go func() { worked <- a.embedded(workerCtx, local) }()
	if a.Config.Announce != nil {
		a.Config.Announce(local)
	}

	// Serve runs until ctx ends, or until a part ends by itself, which is an
	// error.
	select {
	case <-ctx.Done():
	case err = <-served:
		err = fmt.Errorf("serve: %w", err)
	case err = <-worked:
		worked <- nil // so that the wait below finds it ended
		if err != nil {
			err = fmt.Errorf("embedded worker: %w", err)
		}
	}
	stopServing()
	drained, giveUp := context.WithTimeout(context.WithoutCancel(ctx), a.Config.StopTimeout)
	defer giveUp()
	stopWorker()
	<-worked // it reports to the workers' door, so this closes after it
	if server.Shutdown(drained) != nil {
		a.cutOff(server, endRequests)
	}
	stopWork()
	background.Wait()
	return err
}

// background returns the work that no request waits for. Each function runs
// until its context ends. New background work belongs in this list and nowhere
// else, so that a stop can wait for it.
func (a *App) background(p parts, in *intake.Intake, workers *farm.Server, counter *ratelimit.Counter) []func(context.Context) {
	queues := a.queues(p)
	return []func(context.Context){
		a.runner(queues[job.PackageQueue], packParallel, p.artifacts.Package).Run,
		a.runner(queues[lease.ExpireQueue], 1, expire(p, in)).Run,
		a.runner(queues[intake.FetchQueue], fetchParallel, in.Fetch).Run,
		a.runner(queues[identity.LinkQueue], linkParallel, a.signInLinks(p.at).Send).Run,
		workers.WakeWorkers,
		a.runner(queues[webhook.Queue], webhook.Lanes, a.webhooks.Drive).Run,
		a.runner(queues[webhook.NoticeQueue], 1, a.notices().Notify).Run,
		counter.Run,
		a.reaper(queues),
		a.sweeper(p.artifacts),
	}
}

// cutOff cancels the requests that did not end within the stop timeout, and
// closes the connections of those that do not even react to that.
func (a *App) cutOff(server *http.Server, cancelRequests context.CancelCauseFunc) {
	cancelRequests(front.ErrStopping)
	ctx, giveUp := context.WithTimeout(context.Background(), cancelTimeout)
	defer giveUp()
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	a.Config.Log.Warn("requests that did not end in time were cut off", "stop_timeout", a.Config.StopTimeout, "error", err)
}

// reachesDatabase is the check of the readiness probe.
func (a *App) reachesDatabase(ctx context.Context) error {
	return a.DB.Read(ctx, func(*db.Tx) error { return nil })
}

// parts holds the work packages that handlers and background work share. There
// is one of each per process, since some keep caches and counts.
type parts struct {
	at        links.Links
	jobs      *job.Jobs
	artifacts *artifact.Artifacts
	watch     *watch.Reader
	frames    *frames.Frames
	workers   *dispatch.Workers
	board     *leaderboard.Board
}

// parts makes the shared work packages.
func (a *App) parts(at links.Links) parts {
	jobs := a.Jobs(at)
	workers := &dispatch.Workers{DB: a.DB, Log: a.Config.Log}
	return parts{
		at: at, jobs: jobs, watch: a.Watch(jobs), workers: workers, board: a.Board(at),
		artifacts: &artifact.Artifacts{DB: a.DB, Blobs: a.Blobs, Links: at, Jobs: jobs},
		frames:    &frames.Frames{DB: a.DB, Jobs: jobs, Workers: workers, LeaseLife: a.Config.LeaseLife, Log: a.Config.Log},
	}
}

// workersDoor makes the workers' API. It warns when synthetic renderers are
// admitted.
func (a *App) workersDoor(errs *front.Errors, p parts) *farm.Server {
	if a.Config.AllowSynthetic {
		a.Config.Log.Warn("synthetic renderers are let in, as --allow-synthetic says: this is no service to buy from")
	}
	return &farm.Server{DB: a.DB, Frames: p.frames, Workers: p.workers, Board: p.board, Blobs: a.Blobs, AllowSynthetic: a.Config.AllowSynthetic, Errors: errs, Log: a.Config.Log}
}

// front makes what every request passes on its way to a handler.
func (a *App) front(serving context.Context, mux *http.ServeMux, errs *front.Errors, counter *ratelimit.Counter) *front.Front {
	return &front.Front{
		Routes: mux, Errors: errs, Log: a.Config.Log, Count: counter.Take,
		Rate: a.Config.Rate, FarmRate: a.Config.FarmRate, TrustedHops: a.Config.TrustedHops,
		Serving: serving, WriteStall: a.Config.WriteStall,
	}
}

// intake receives uploads, and fetches files from addresses that guard permits.
func (a *App) intake(guard *outbound.Guard) *intake.Intake {
	return &intake.Intake{DB: a.DB, Blobs: a.Blobs, Envelope: a.Config.Envelope, Guard: guard, Fetcher: guard.Client(intake.FetchLimits())}
}

// doors adds the routes of the API, the MCP tools and the pages. The API comes
// first, because the API reference shows its OpenAPI document.
func (a *App) doors(mux *http.ServeMux, errs *front.Errors, p parts, in *intake.Intake) {
	pages := a.pages(errs, p)
	document := api.Routes(mux, api.Config{
		DB: a.DB, Jobs: p.jobs, Artifacts: p.artifacts, Watch: p.watch, Board: p.board, Intake: in, Blobs: a.Blobs, Webhooks: a.webhooks, Sealed: a.sealed,
		Links: p.at, Rate: a.Config.Rate, UploadStall: a.Config.UploadStall, OpenID: a.openID(p.at), Pages: pages, Errors: errs, Log: a.Config.Log,
	})
	agent.Routes(mux, agent.Config{
		DB: a.DB, Jobs: p.jobs, Artifacts: p.artifacts, Watch: p.watch, Intake: in, Webhooks: a.webhooks, Sealed: a.sealed,
		Links: p.at, UploadStall: a.Config.UploadStall, Errors: errs, Log: a.Config.Log,
	})
	pages.Routes(mux, document)
}

// pages makes the HTML pages.
func (a *App) pages(errs *front.Errors, p parts) *web.Site {
	c := web.Config{DB: a.DB, Board: p.board, Webhooks: a.webhooks, Proofs: p.jobs, Links: p.at, Errors: errs}
	if a.Config.OpenID != nil {
		c.OpenIDStart = links.OpenIDStartPath
	}
	return web.New(c)
}

// prepareLog publishes the signing keys of this process and names the receipt
// log. Both happen before the first request: a receipt must not be signed by a
// key that nobody can look up.
func (a *App) prepareLog(ctx context.Context, public string) error {
	origin := a.Config.LogOrigin
	if origin == "" {
		_, host, _ := strings.Cut(public, "://")
		origin = host + "/log"
	}
	return a.DB.Write(ctx, func(tx *db.Tx) error {
		if err := a.Keys.Register(ctx, tx); err != nil {
			return err
		}
		return receiptlog.Name(ctx, tx, origin)
	})
}

// runner returns the runner of a queue. Its holder is new for each start, so
// that a restarted process is not mistaken for the one that died.
func (a *App) runner(queue lease.Queue, parallel int, work func(context.Context, lease.Lease) error) lease.Runner {
	return lease.Runner{DB: a.DB, Queue: queue, Holder: id.New("SRV-"), Parallel: parallel, Work: work, Log: a.Config.Log}
}

// expire returns the handler of the expire queue, which dispatches on the kind
// in a lease's subject ("<kind>/<id>"). The packages that add such work carry
// it out.
func expire(p parts, in *intake.Intake) func(context.Context, lease.Lease) error {
	return func(ctx context.Context, l lease.Lease) error {
		kind, thing, _ := strings.Cut(l.Subject, "/")
		switch kind {
		case intake.ExpireUpload:
			return in.Expire(ctx, l, thing)
		case intake.ExpireBlob:
			return in.RemoveBlob(ctx, l, thing)
		case job.ExpireSubmit:
			return p.jobs.CancelUnsubmitted(ctx, l, thing)
		case job.ExpireFrames:
			return p.artifacts.ClearFrames(ctx, l, thing)
		case job.ExpireArtifact:
			return p.artifacts.Expire(ctx, l, thing)
		}
		return fmt.Errorf("nothing of kind %q expires", kind)
	}
}

// openID returns the issuer that people can sign in by; nil when none is
// configured.
func (a *App) openID(at links.Links) *openid.Issuer {
	if a.Config.OpenID == nil {
		return nil
	}
	return openid.New(*a.Config.OpenID, at.To(links.OpenIDCallbackPath))
}

// signInLinks returns the sender of sign-in links: by mail, or into the log for
// the operator to pass on.
func (a *App) signInLinks(at links.Links) identity.Links {
	deliver := func(_ context.Context, email, link string) error {
		a.Config.Log.Info("sign-in link: no mail server is configured, so pass it on yourself", "email", email, "link", link)
		return nil
	}
	if a.Config.Mail != nil {
		deliver = a.Config.Mail.Deliver
	}
	return identity.Links{DB: a.DB, Address: at, Deliver: deliver}
}

// reaper returns the loop that takes back lapsed leases. It waits one lease's
// life after the start: holders could not send heartbeats to a server that was
// down, and would all lose their frames at once.
func (a *App) reaper(queues map[string]lease.Queue) func(context.Context) {
	r := lease.Reaper{DB: a.DB, Queues: slices.Collect(maps.Values(queues)), Log: a.Config.Log}
	return func(ctx context.Context) {
		if !pause(ctx, a.Config.LeaseLife) {
			return
		}
		for pause(ctx, reapEvery) {
			n, err := r.Run(ctx)
			if err != nil && ctx.Err() == nil {
				a.Config.Log.Error("cannot take back lapsed leases", "error", err)
			}
			if n > 0 {
				a.Config.Log.Warn("leases lapsed", "count", n)
			}
		}
	}
}

// sweeper returns the loop that removes blobs that a crash left without a row,
// and rows that are out of date.
func (a *App) sweeper(artifacts *artifact.Artifacts) func(context.Context) {
	return func(ctx context.Context) {
		for pause(ctx, sweepEvery) {
			n, err := artifacts.Sweep(ctx)
			if err != nil && ctx.Err() == nil {
				a.Config.Log.Error("cannot sweep the blobs", "error", err)
			}
			if n > 0 {
				a.Config.Log.Warn("stray blobs removed", "count", n)
			}
			a.forget(ctx)
		}
	}
}

// forget deletes rows whose retention is over. One failure does not keep the
// others from being deleted; the next hour tries again.
func (a *App) forget(ctx context.Context) {
	for what, forget := range map[string]func(context.Context, *db.DB) (int64, error){
		"answers kept for idempotency keys": idempotency.Forget, "clients of the rate limit": ratelimit.Forget,
		"uploads that never came": intake.Forget, "links that were never sent": identity.ForgetUnsent, "webhooks": func(ctx context.Context, _ *db.DB) (int64, error) { return a.webhooks.Forget(ctx) },
	} {
		if _, err := forget(ctx, a.DB); err != nil && ctx.Err() == nil {
			a.Config.Log.Error("cannot forget "+what, "error", err)
		}
	}
}

// pause waits for d and reports whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// embeddedName is the name of the embedded worker and of its key.
const embeddedName = "embedded"

// embedded runs the worker inside the server until ctx ends. Without one it
// only waits. The worker uses the workers' HTTP API like any other, so there is
// no second way to report a frame.
func (a *App) embedded(ctx context.Context, local string) error {
	e := a.Config.Embedded
	if e == nil {
		<-ctx.Done()
		return nil
	}
	key, err := a.embeddedKey(ctx)
	if err != nil {
		return err
	}
	return worker.New(worker.Config{
		Farm: farmapi.NewClient(local, key), Renderer: e.Renderer, WorkDir: filepath.Join(a.Config.Data, "worker"), Name: embeddedName, Log: a.Config.Log,
		Device: e.Device, Denoise: e.Denoise, AllowBlenderVersion: e.AllowBlenderVersion, Jitter: rand.Float64,
	}).Run(ctx)
}

// embeddedKey returns the node key of the embedded worker. The key stays the
// same over restarts, so that frames that the worker had rendered when the
// server went down still belong to it. A key that the database does not know is
// replaced.
func (a *App) embeddedKey(ctx context.Context) (string, error) {
	path := filepath.Join(a.Config.Data, "keys", "embedded-node.key")
	if secret, err := os.ReadFile(path); err == nil {
		if _, err := identity.Node(ctx, a.DB, "Bearer "+string(secret)); err == nil {
			return string(secret), nil
		}
	}
	var key identity.NewKey
	err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = identity.ReplaceNodeKey(ctx, tx, embeddedName)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := atomicfile.Replace(path, []byte(key.Secret), 0o600); err != nil {
		return "", fmt.Errorf("keep the embedded worker's key: %w", err)
	}
	return key.Secret, nil
}
