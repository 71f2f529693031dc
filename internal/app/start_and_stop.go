package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"svc.example/internal/door/agent"
	"svc.example/internal/door/farm"
	"svc.example/internal/door/web/page"
	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/alert"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/inflight"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/process"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/webhook"
)

// Bounds and intervals of the background work.
const (
	// reapEvery is how often lapsed leases are taken back.
	reapEvery = time.Second
	// judgeEvery is how often the node keys of workers are compared, and the failures
	// decided that waited for another key.
	judgeEvery = 5 * time.Second
	// sweepEvery is how often the blobs are compared with the rows.
	sweepEvery = time.Hour
	// packParallel is how many ZIPs are written at once: the disk is the limit.
	packParallel = 2
	// jobMailParallel is how many mails about jobs are sent at once: nobody waits for one.
	jobMailParallel = 2
	// linkParallel is how many sign-in links are sent at once; a mail server
	// may be slow.
	linkParallel = 4
	// headerTimeout bounds how long a client may take to send its headers.
	headerTimeout = 10 * time.Second

	// maxHeaders bounds a request's headers, in bytes. They stay in memory, several times as
	// large, until the request is over, which for a stream can be hours. It is what nginx takes.
	maxHeaders = 32 << 10
	// idleTimeout closes a kept connection to the metrics that sends no further request.
	idleTimeout = 2 * time.Minute
	// cancelTimeout is how long cancelled requests may take to end before their
	// connections are closed.
	cancelTimeout = 3 * time.Second
)

// Serve serves requests and runs the background work until ctx ends; then it
// stops in order and returns nil. It returns an error when it cannot start, or
// when the listener or the embedded worker ends unexpectedly.
//
// The order of a stop: readiness goes off, and long polls and event streams
// end. The port stays open for Config.DrainDelay. The embedded worker finishes its frame
// or releases it. Running requests get Config.StopTimeout from then on; what is left is
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
	register := process.Register{DB: a.DB, Log: a.Config.Log}
	if err := register.Enter(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	a.warnOfWebhooks()
	p := a.parts(a.Links(public))
	in := a.intake(outbound.New(a.Config.FileURLs))

	mux := http.NewServeMux()
	a.worlds = a.newTestWorlds(public, mux, in)
	errs := &front.Errors{Log: a.Config.Log, Page: page.ErrorPages{DB: a.DB, TestMode: !a.Config.TestMode.Off}.Write, Agent: agent.Answer}
	a.doors(mux, errs, p, in)
	workers := a.workersDoor(errs, p)
	workers.Routes(mux)
	counter := ratelimit.NewCounter(a.DB, a.Config.Log)
	open := &inflight.Requests{DB: a.DB, Log: a.Config.Log, Most: a.Config.OpenRequests}

	// One context for each step of a stop. None of them descends from ctx,
	// whose end begins the stop but must not cancel what must finish in order.
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	requests, endRequests := context.WithCancelCause(context.WithoutCancel(ctx))
	defer endRequests(nil)
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	front.Probes(serving, mux, errs, a.ready)
	if a.Config.Routes != nil {
		a.Config.Routes(mux)
	}
	server := &http.Server{
		Handler: a.front(serving, mux, errs, counter, open, p.at.Secure()), ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: maxHeaders, IdleTimeout: a.Config.KeepAlive,
		BaseContext: func(net.Listener) context.Context { return requests }, ConnState: front.LimitConnections(a.Config.Connections, a.connectionShare()),
	}
	stopMetrics, err := a.serveMetrics(serving, errs)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stopMetrics()
	var background sync.WaitGroup
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	for _, run := range append(a.background(p, in, workers, counter, open), register.Run) {
		background.Go(func() { run(work) })
	}
	worked := make(chan error, 1)
	workerCtx, stopWorker := context.WithCancel(context.WithoutCancel(ctx))
	go func() { worked <- a.embedded(workerCtx, local) }()
	if a.Config.Announce != nil {
		a.Config.Announce(local)
	}

	err = ended(ctx, served, worked)
	a.Config.Log.Info("stopping", "stop_timeout", a.Config.StopTimeout)
	stopServing()
	if err == nil {
		a.drain(served)
	}
	drained, giveUp := context.WithTimeout(context.WithoutCancel(ctx), a.Config.StopTimeout)
	defer giveUp()
	stopWorker()
	<-worked // it reports to the workers' API, so this closes after it
	if server.Shutdown(drained) != nil {
		a.cutOff(server, endRequests)
	}
	a.worlds.stop()
	stopWork()
	background.Wait()
	a.Config.Log.Info("stopped")
	return err
}

// ended waits until ctx ends, or until the server or the worker ends unexpectedly, which
// is an error. The worker's channel still tells its end afterwards.
func ended(ctx context.Context, served <-chan error, worked chan error) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case err := <-worked:
		worked <- nil
		if err != nil {
			return fmt.Errorf("embedded worker: %w", err)
		}
		return nil
	}
}

// drain keeps the listener open for a while: /readyz already answers 503, and a balancer
// that asks it sends no more requests when the port closes.
func (a *App) drain(served chan error) {
	select {
	case <-time.After(a.Config.DrainDelay):
	case err := <-served:
		served <- err
	}
}

// background returns the work that no request waits for. Each function runs
// until its context ends. New background work belongs in this list, so that a
// stop can wait for it.
func (a *App) background(p parts, in *intake.Intake, workers *farm.Server, counter *ratelimit.Counter, open *inflight.Requests) []func(context.Context) {
	queues := a.queues(p)
	return append(a.work(p, in, workers),
		a.runner(queues[identity.LinkQueue], linkParallel, a.signInLinks(p.at).Send).Run,
		a.runner(queues[identity.InvitationQueue], 1, a.invitations(p.at).Deliver).Run,
		a.runner(queues[webhook.NoticeQueue], 1, a.notices().Notify).Run,
		a.runner(queues[alert.NoticeQueue], 1, a.lowWallets(p.at).Notify).Run,
		a.runner(queues[notice.Queue], jobMailParallel, a.jobMails(p).Notify).Run,
		a.runner(queues[operators.Queue], 1, a.trouble(p.at).Notify).Run,
		a.lookForTrouble(p.at),
		counter.Run,
		open.Run,
		a.sweepPayments(p.payments),
		a.checkPublicURL(p.at.PublicURL),
		a.checkMail,
		a.watchCertificate(p.at.PublicURL),
		a.askWitnesses,
		a.watchOutages,
		a.worlds.tend,
	)
}

// work is the part of background that every service has, test worlds too: what becomes of
// jobs, files and webhooks.
func (a *App) work(p parts, in *intake.Intake, workers *farm.Server) []func(context.Context) {
	queues := a.queues(p)
	pack, heard := p.artifacts.Package, workers.Heard
	if a.test {
		pack, heard = a.packTested(p), nil
	}
	return []func(context.Context){
		a.runner(queues[job.PackageQueue], packParallel, pack).Run,
		a.runner(queues[lease.ExpireQueue], 1, expire(p, in)).Run,
		a.runner(queues[intake.FetchQueue], intake.MostFetches, in.Fetch).Run,
		workers.WakeWorkers,
		a.runner(queues[webhook.Queue], webhook.Drivers, a.webhooks.Drive).Run,
		a.reaper(queues, heard),
		a.judge(p),
		a.sweeper(p.artifacts),
	}
}

// askWitnesses has the log's checkpoints co-signed, where witnesses are configured.
func (a *App) askWitnesses(ctx context.Context) {
	if a.witnesses != nil {
		a.witnesses.Run(ctx)
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
	a.Config.Log.Warn("requests that did not end in time were cut off", "stop_timeout", a.Config.StopTimeout, "err", err)
}

// prepareLog publishes the signing keys of this process and names the receipt
// log. Both happen before the first request: a receipt must not be signed by a
// key that cannot be looked up.
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
