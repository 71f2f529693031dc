package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"svc.example/internal/door/agent"
	"svc.example/internal/door/api"
	"svc.example/internal/door/api/admin"
	"svc.example/internal/door/farm"
	"svc.example/internal/door/grant"
	"svc.example/internal/door/web"
	"svc.example/internal/door/web/console"
	"svc.example/internal/door/web/page"
	"svc.example/internal/door/web/public"
	"svc.example/internal/door/web/shared"
	"svc.example/internal/front"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/seal"
	"svc.example/internal/ground/sharing"
	"svc.example/internal/render/blendfile/memory"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/delivery"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/identity/inflight"
	"svc.example/internal/work/identity/openid"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/movie"
	"svc.example/internal/work/notice/mailer"
	"svc.example/internal/work/oauth"
	"svc.example/internal/work/overview"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/recheck"
	"svc.example/internal/work/reuse/source"
	"svc.example/internal/work/share"
	"svc.example/internal/work/split"
	"svc.example/internal/work/watch"
)

// parts holds the work packages that handlers and background work share. There
// is one of each per process, since some keep caches and counts.
type parts struct {
	at        links.Links
	jobs      *job.Jobs
	artifacts *artifact.Artifacts
	watch     *watch.Reader
	frames    *frames.Frames
	previews  *preview.Previews
	overviews *overview.Overviews
	movies    *movie.Movies
	workers   *dispatch.Workers
	cuts      *split.Cuts
	rechecks  *recheck.Rechecks
	board     *leaderboard.Board
	payments  *payment.Payments
	shares    *share.Shares
}

// parts makes the shared work packages.
func (a *App) parts(at links.Links) parts {
	jobs := a.Jobs(at)
	workers := &dispatch.Workers{DB: a.DB, Log: a.Config.Log}
	cuts := &split.Cuts{DB: a.DB, Blobs: a.Blobs, Workers: workers, Above: *a.Config.SplitAbove, LeaseLife: a.Config.LeaseLife, FrameTime: a.Config.FrameTime, Log: a.Config.Log}
	frames := &frames.Frames{
		DB: a.DB, Jobs: jobs, Cuts: cuts, Workers: workers, LeaseLife: a.Config.LeaseLife, FrameTime: a.Config.FrameTime, PlayTime: a.Config.PlayTime, Log: a.Config.Log,
		Accepted: a.metrics.FrameAccepted, Failed: a.metrics.FrameFailed,
		DoubleRender: frames.Sample{Percent: a.Config.DoubleRender, Key: a.linkKey},
	}
	rechecks := &recheck.Rechecks{
		DB: a.DB, Frames: frames, Blobs: a.Blobs, Whole: &a.whole, LeaseLife: a.Config.LeaseLife, FrameTime: a.Config.FrameTime, Compared: a.metrics.ReuseCompared, Log: a.Config.Log,
	}
	watch := a.Watch(jobs)
	return parts{
		at: at, jobs: jobs, watch: watch, workers: workers, cuts: cuts, rechecks: rechecks, board: a.Board(at), payments: a.payments(at), shares: a.shares(at),
		overviews: &overview.Overviews{DB: a.DB, Blobs: a.Blobs, Pictures: watch, Limits: a.Config.Overviews, Making: sharing.Maker[string]{Most: overview.AtOnce()}, Log: a.Config.Log},
		movies:    &movie.Movies{DB: a.DB, Blobs: a.Blobs, Whole: &a.whole, LeaseLife: a.Config.LeaseLife, Log: a.Config.Log},
		artifacts: &artifact.Artifacts{DB: a.DB, Blobs: a.Blobs, Whole: &a.whole, Links: at, Jobs: jobs, Frames: frames, Reuse: a.comparer()}, frames: frames,
		previews: &preview.Previews{
			DB: a.DB, Blobs: a.Blobs, Whole: &a.whole, Links: at, Limits: *a.Config.FreePreviews, Forecasts: jobs.Queue, LeaseLife: a.Config.LeaseLife, Log: a.Config.Log,
		},
	}
}

// shares makes and opens the links of shared jobs.
func (a *App) shares(at links.Links) *share.Shares {
	return &share.Shares{DB: a.DB, Links: at, Most: *a.Config.Shares, Comments: *a.Config.Comments, Pause: *a.Config.JobMail}
}

// workersDoor makes the workers' API. It warns when synthetic renderers are
// admitted.
func (a *App) workersDoor(errs *front.Errors, p parts) *farm.Server {
	if a.Config.AllowSynthetic && !a.test {
		a.Config.Log.Warn("synthetic renderers are let in, as --allow-synthetic says: this is no service to buy from")
	}
	desk := delivery.New(p.frames, a.Blobs)
	p.cuts.Hold, p.rechecks.Hold = desk.Hold, desk.Hold
	return &farm.Server{DB: a.DB, Cuts: p.cuts, Rechecks: p.rechecks, Frames: p.frames, Previews: p.previews, Movies: p.movies, Workers: p.workers, Board: p.board, Desk: desk, Blobs: a.Blobs, Whole: &a.whole, AllowSynthetic: a.Config.AllowSynthetic, FrameTime: a.Config.FrameTime, PlayTime: a.Config.PlayTime, Outputs: a.Config.Outputs, Errors: errs, Log: a.Config.Log}
}

// connectionShare is how many connections one address may have open: a tenth of all. With
// proxies in front all connections are theirs, so there is no bound.
func (a *App) connectionShare() int {
	if a.Config.TrustedHops > 0 {
		return 0
	}
	return max(20, a.Config.Connections/10)
}

// front makes what every request passes on its way to a handler.
func (a *App) front(serving context.Context, mux *http.ServeMux, errs *front.Errors, counter *ratelimit.Counter, open *inflight.Requests, https bool) *front.Front {
	return &front.Front{
		Routes: mux, Elsewhere: a.worlds, Errors: errs, Log: a.Config.Log, Count: counter.Take, WorkspaceOf: counter.WorkspaceOf, Ledger: a.ledger,
		Rate: a.Config.Rate, FarmRate: a.Config.FarmRate, TrustedHops: a.Config.TrustedHops,
		Serving: serving, Follow: open.Follow, Observe: a.metrics.Request, WriteStall: a.Config.WriteStall, HTTPS: https,
	}
}

// inspectMemory is what inspections of a process keep together beyond 1 MiB each, in
// bytes, if the configuration does not set it: four of the largest files at once.
const inspectMemory = 512 << 20

// reuse reads what frames come from, with the memory that inspections share.
func (a *App) comparer() *source.Reader {
	a.comparingOnce.Do(func() {
		a.comparing.DB, a.comparing.Blobs, a.comparing.Memory = a.DB, a.Blobs, memory.NewBudget(cmp.Or(a.Config.InspectMemory, inspectMemory))
	})
	return &a.comparing
}

// finding is what looks for frames to take over; nil where the operator wants none.
func (a *App) finding() intake.Comparer {
	if *a.Config.ReusedFrames == 0 {
		return nil
	}
	return a.comparer()
}

// intake receives uploads, and fetches files from addresses that guard permits.
func (a *App) intake(guard *outbound.Guard) *intake.Intake {
	return &intake.Intake{DB: a.DB, Blobs: a.Blobs, Envelope: a.Config.Envelope, Book: a.Config.Book, FrameTime: a.Config.FrameTime, FrameOutputs: a.Config.Outputs.Files, Unstarted: a.Config.Unstarted, Unpaid: a.Config.Unpaid, ProjectSize: a.Config.ProjectSize, Memory: a.comparer().Memory, Reuse: a.finding(), Ledger: a.ledger, Guard: guard, Fetcher: guard.Client(intake.FetchLimits())}
}

// doors adds the routes of the API, the MCP tools and the pages. The API comes
// first, because the API reference shows its OpenAPI document.
func (a *App) doors(mux *http.ServeMux, errs *front.Errors, p parts, in *intake.Intake) {
	var registry *seal.Keys
	if a.Config.Registration {
		registry = a.sealed
	}
	signIn := &oauth.Server{DB: a.DB, Links: p.at, Clients: oauth.NewClients(outbound.New(a.Config.Programs), registry)}
	grant.Routes(mux, signIn, errs)
	pages := a.pages(errs, p, in, signIn)
	document := api.Routes(mux, api.Config{
		DB: a.DB, Witnesses: a.witnesses, Jobs: p.jobs, Artifacts: p.artifacts, Watch: p.watch, Board: p.board, Intake: in, Previews: p.previews, Overviews: p.overviews, Movies: p.movies, Shares: p.shares, Blobs: a.Blobs, Webhooks: a.webhooks, Payments: p.payments, Sealed: a.sealed,
		Links: p.at, Rate: a.Config.Rate, Unstarted: a.Config.Unstarted, ProjectSize: a.Config.ProjectSize, FrameTime: a.Config.FrameTime, UploadStall: a.Config.UploadStall, OpenID: a.openID(p.at), Domains: a.domains(), Pages: pages, TestMode: !a.Config.TestMode.Off, Clock: a.clock, Errors: errs, Log: a.Config.Log,
	})
	if a.Config.OperatorAPI && !a.test {
		(&admin.Server{
			DB: a.DB, Jobs: p.jobs, PublicURL: p.at.PublicURL, Errors: errs, Erase: a.erasure, Reconcile: p.payments.Reconcile,
			WorldSize: func(ctx context.Context, workspaceID string) (int64, error) {
				return TestWorldBytes(ctx, a.Config, workspaceID)
			},
		}).Routes(mux)
	}
	agent.Routes(mux, agent.Config{
		DB: a.DB, Jobs: p.jobs, Artifacts: p.artifacts, Watch: p.watch, Previews: p.previews, Overviews: p.overviews, Intake: in, Webhooks: a.webhooks, Sealed: a.sealed,
		Links: p.at, UploadStall: a.Config.UploadStall, Errors: errs, Log: a.Config.Log,
	})
	pages.Routes(mux, document)
}

// pages makes the HTML pages.
func (a *App) pages(errs *front.Errors, p parts, in *intake.Intake, signIn *oauth.Server) *web.Site {
	c := web.Config{
		Shared: page.Shared{DB: a.DB, Test: a.test, TestMode: !a.Config.TestMode.Off, Links: p.at, Errors: errs, Log: a.Config.Log},
		Console: console.Config{
			Jobs: p.jobs, Watch: p.watch, Artifacts: p.artifacts, Overviews: p.overviews, Movies: p.movies, Previews: p.previews, Intake: in, Webhooks: a.webhooks, Payments: p.payments, OAuth: signIn, Shares: p.shares, Cuts: p.cuts,
			Invitations: a.invitations(p.at), Domains: a.domains(),
			Leave: a.leave, Mails: a.Config.Mail != nil && *a.Config.JobMail > 0, UploadStall: a.Config.UploadStall,
		},
		Public: public.Config{Intake: in, Board: p.board, Proofs: p.jobs, Terms: a.Config.Terms, Downloads: a.Config.Downloads},
		ByLink: shared.Config{Jobs: p.jobs, Watch: p.watch, Overviews: p.overviews, Artifacts: p.artifacts, Intake: in, Shares: p.shares},
		Ledger: a.ledger,
	}
	if a.Config.OpenID != nil {
		c.OpenIDStart = links.OpenIDStartPath
	}
	return web.New(c)
}

// leave erases a workspace for its person: its rows in one transaction, then its files.
// What a crash in between leaves, the sweep removes. Errors: workspace_frozen, and those of
// erase.Workspace.
func (a *App) leave(ctx context.Context, workspaceID string) error {
	var files erase.Files
	err := a.DB.Write(ctx, func(tx *db.Tx) (err error) {
		// The operator may still need to know whose a frozen workspace is.
		if err = freeze.Require(ctx, tx, workspaceID); err == nil {
			files, err = erase.Workspace(ctx, tx, workspaceID)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := files.Remove(ctx, a.Blobs); err != nil {
		a.Config.Log.Error("files of a workspace that has left are not removed; the sweep tries again", "workspace_id", workspaceID, "err", err)
	}
	return nil
}

// erasure makes the act by which an operator erases a workspace. Errors: those of erase.Check.
func (a *App) erasure(ctx context.Context, tx *db.Tx, workspaceID string) (admin.Erasure, error) {
	var files erase.Files
	act, plan, err := erase.Propose(ctx, tx, workspaceID, &files)
	return admin.Erasure{
		Act: act, After: plan.After(workspaceID, tx.Time()), RemoveFiles: func(ctx context.Context) error { return files.Remove(ctx, a.Blobs) },
	}, err
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
		case preview.ExpirePreview:
			return p.previews.Expire(ctx, l, thing)
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

// signInLinks returns the sender of sign-in links by mail. Without a mail server it logs the
// address that requested a link, but never the link itself: anyone reading the log could
// sign in with it.
func (a *App) signInLinks(at links.Links) identity.Links {
	deliver := func(_ context.Context, email, _ string) error {
		a.Config.Log.Warn("a sign-in link is asked for and no mail server is configured: make one with svc admin sign-in-link and pass it on", "email", email)
		return nil
	}
	if a.Config.Mail != nil {
		deliver = a.Config.Mail.Deliver
	}
	return identity.Links{DB: a.DB, Address: at, Deliver: deliver, Mailed: a.Config.Mail != nil}
}

// invitations brings people into workspaces.
func (a *App) invitations(at links.Links) identity.Invitations {
	i := identity.Invitations{DB: a.DB, Address: at}
	if a.Config.Mail != nil {
		i.Send = a.Config.Mail.Send
	}
	return i
}

// domains has people join workspaces when they sign in by the issuer.
func (a *App) domains() identity.Domains {
	if a.Config.OpenID == nil {
		return identity.Domains{}
	}
	return identity.Domains{Issuer: a.Config.OpenID.Issuer, Barred: a.Config.NoDomains}
}

// jobMails mails people how their jobs ended.
func (a *App) jobMails(p parts) *mailer.Mailer {
	m := &mailer.Mailer{DB: a.DB, Jobs: p.jobs, Watch: p.watch, Links: p.at, Pause: p.jobs.NoticePause}
	if a.Config.Mail != nil {
		m.Send = a.Config.Mail.SendMessage
	}
	return m
}
