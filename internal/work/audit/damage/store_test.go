package damage_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/payment/stripeapi"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/webhook"
)

// store is what a service leaves that has done everything that it can do. It does not
// serve any more.
type store struct {
	*testing.T
	app  *app.App
	url  string
	raw  *sql.DB // next to the service, without its constraints
	skew atomic.Int64

	receiver *httptest.Server // of webhooks: /ok, /broken, /gone
	provider *stripetest.Provider
	topUps   *payment.Payments
	gpu, cpu farmWorker
}

// newStore makes the store through the service itself, so that its rows are those that a
// service writes. A part of it is forty days old, so everything with a lifetime has
// ended.
func newStore(t *testing.T, database string) *store {
	t.Helper()
	s := &store{T: t}
	answers := map[string]int{"/ok": http.StatusOK, "/broken": http.StatusBadGateway, "/gone": http.StatusGone}
	s.receiver = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(answers[r.URL.Path]) }))
	t.Cleanup(s.receiver.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.receiver.Certificate())
	opened, err := app.Open(t.Context(), app.Config{
		Listen: "127.0.0.1:0", PublicURL: "https://renders.example.com", Data: t.TempDir(), Database: database, AllowSynthetic: true, LeaseLife: time.Hour,
		Rate: ratelimit.Policy{PerMinute: 60_000, Burst: 60_000}, Log: slog.New(slog.DiscardHandler), StopTimeout: 3 * time.Second,
		Skew:     func() time.Duration { return time.Duration(s.skew.Load()) },
		Webhooks: outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.app = opened
	s.provider = stripetest.New(t)
	s.topUps = &payment.Payments{
		DB: opened.DB, Provider: stripeapi.New(stripetest.Key, s.provider.URL, "credit"), Secrets: []string{stripetest.Secret}, Log: slog.New(slog.DiscardHandler),
		Pages: func(string) (string, string) { return "https://renders.example.com/a", "https://renders.example.com/b" },
	}
	t.Cleanup(func() {
		apptest.Audit(t, s.app) // every damage was repaired
		if err := s.app.Close(); err != nil {
			t.Error(err)
		}
	})
	s.raw = openRaw(t, s.app.Config.DatabaseURL())
	s.skew.Store(-int64(40 * 24 * time.Hour))
	stop := s.serve()
	old := s.endedLongAgo()
	stop()
	s.skew.Store(0)
	stop = s.serve()
	s.awaitExpiry(old)
	s.people()
	s.erased()
	s.previews()
	last, sampled, long := s.jobs()
	s.benchmarks()
	s.awaitDeliveries()
	gpu := s.gpu
	s.worker("GPU", contract.RendererID) // can confirm the other's picture
	stop()
	gpu.accept(last, frames.Sample{})
	gpu.accept(sampled, frames.Sample{Percent: 100})
	s.cut(long)
	s.deadLetter()
	s.passing(old.workspace)
	return s
}

func (s *store) serve() (stop func()) {
	s.Helper()
	s.url, stop = apptest.Serve(s.T, s.app)
	s.Cleanup(stop)
	s.gpu, s.cpu = s.worker("GPU", contract.RendererID), s.worker("CPU", contract.SyntheticRenderer)
	return stop
}

// write runs do in a transaction of the store.
func (s *store) write(do func(ctx context.Context, tx *db.Tx) error) {
	s.Helper()
	if err := s.app.DB.Write(s.Context(), func(tx *db.Tx) error { return do(s.Context(), tx) }); err != nil {
		s.Fatal(err)
	}
}

// awaitNone waits until no row is left of which condition holds.
func (s *store) awaitNone(table, condition string, values ...any) {
	s.Helper()
	await.Until(s.T, "the rows of "+table+" in which "+condition, func() bool {
		var n int
		if err := s.raw.QueryRow("SELECT count(*) FROM "+table+" WHERE "+condition, values...).Scan(&n); err != nil {
			s.Fatal(err)
		}
		return n == 0
	})
}

// endedLongAgo makes what expires: an artifact, a job without its submit, an upload, and
// events of webhooks.
func (s *store) endedLongAgo() caller {
	s.Helper()
	c := s.caller(1_000)
	c.endpoint("/ok")
	done := c.start(demo.Scene(), client.StartRequest{}, 1, 2, 1)
	s.gpu.render(done, 2)
	c.await(done, client.StatusCompleted)
	c.upload(map[string]string{"frame_start": "1", "frame_count": "2"})
	c.quote(apptest.PlainScene(s.T), 1, 1, 1)
	s.awaitNone("webhook_delivery", "workspace_id = $1 AND status = 'pending'", c.workspace) // one that ends later is not old
	return c
}

// awaitExpiry waits until what is over has been removed.
func (s *store) awaitExpiry(c caller) {
	s.Helper()
	s.awaitNone("job", "workspace_id = $1 AND (status = 'awaiting_submit' OR (status = 'completed' AND artifact_removed_at = 0))", c.workspace)
	s.awaitNone("upload", "workspace_id = $1 AND removed_at = 0 AND NOT EXISTS (SELECT 1 FROM job WHERE job.upload_id = upload.upload_id)", c.workspace)
	hooks := webhook.New(webhook.Config{DB: s.app.DB, Guard: outbound.New(outbound.Config{}), Life: contract.WebhookRetention, Log: s.app.Config.Log})
	if n, err := hooks.Forget(s.Context()); n == 0 || err != nil {
		s.Fatalf("%d events of webhooks are forgotten: %v", n, err)
	}
}

// people makes people who sign in each way, and keys of each kind, some of them revoked.
func (s *store) people() {
	s.Helper()
	var program string
	var one identity.Opened
	s.write(func(ctx context.Context, tx *db.Tx) error {
		used, err := identity.CreateSignInLink(ctx, tx, "one@example.com")
		if err != nil {
			return err
		}
		if one, err = identity.SignIn(ctx, tx, used, ""); err != nil {
			return err
		}
		two, err := identity.Domains{}.SignIn(ctx, tx, identity.Login{Issuer: "https://issuer.example.com", Subject: "2", Email: "two@example.com", EmailVerified: true}, "")
		if err != nil {
			return err
		}
		three, err := identity.Domains{}.SignIn(ctx, tx, identity.Login{Issuer: "https://other.example.com", Subject: "3", Email: "two@example.com", EmailVerified: true}, "")
		if err != nil {
			return err
		}
		for _, email := range []string{"one@example.com", "three@example.com"} {
			if _, err := identity.CreateSignInLink(ctx, tx, email); err != nil {
				return err
			}
		}
		limit := int64(5_000)
		for _, workspace := range []string{one.Person.WorkspaceID, two.Person.WorkspaceID, three.Person.WorkspaceID} {
			_, limited := identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "limited", SpendLimitCents: &limit})
			agent, agentErr := identity.CreateAgentKey(ctx, tx, workspace, identity.AgentTerms{Name: "revoked"})
			account, accountErr := identity.CreateAccountKey(ctx, tx, workspace, "revoked")
			node, nodeErr := identity.CreateNodeKey(ctx, tx, "revoked")
			_, ends := identity.CreateOperatorKey(ctx, tx, "ends", identity.OperatorWrites, time.Hour)
			program, programErr := identity.CreateOperatorKey(ctx, tx, "revoked", identity.OperatorReads, 0)
			if err := errors.Join(limited, agentErr, accountErr, nodeErr, ends, programErr); err != nil {
				return err
			}
			for _, key := range []string{agent.KeyID, account.KeyID, node.KeyID, program.KeyID} {
				if err := identity.Revoke(ctx, tx, key); err != nil {
					return err
				}
			}
		}
		if err := identity.SetProofPages(ctx, tx, one.Person.WorkspaceID, false); err != nil {
			return err
		}
		program = two.Person.WorkspaceID
		return operate(ctx, tx, one, two.Person.WorkspaceID)
	})
	s.letIn(program)
	s.team(one)
	s.write(func(ctx context.Context, tx *db.Tx) error {
		return operator.RecordAudit(ctx, tx, operator.AuditRun{BeganAt: time.Now(), BreachCount: 1, Breaches: []operator.Breach{{Rule: "a rule", Subject: "a row", Detail: "why"}}})
	})
}

// operate makes a person an operator, who freezes a workspace.
func operate(ctx context.Context, tx *db.Tx, person identity.Opened, workspaceID string) error {
	act, err := operator.SetOperator(ctx, tx, person.Person.Email, true)
	if err == nil {
		err = act.Perform(ctx, tx, operator.Account("root"))
	}
	if err != nil {
		return err
	}
	by, err := operator.Person(identity.Principal{Credential: identity.Credential{Email: person.Person.Email}, Operator: true})
	if err != nil {
		return err
	}
	if act, err = operator.FreezeWorkspace(ctx, tx, workspaceID, "its card was stolen"); err == nil {
		err = act.Perform(ctx, tx, by)
	}
	return err
}

// erased makes a workspace with jobs that have ended, and erases it.
func (s *store) erased() {
	s.Helper()
	c := s.caller(1_000)
	c.endpoint("/ok")
	done := c.start(demo.Scene(), client.StartRequest{WebhookURL: s.receiver.URL + "/ok"}, 1, 2, 1)
	s.gpu.render(done, 2)
	c.await(done, client.StatusCompleted)
	cancelled := c.start(demo.Scene(), client.StartRequest{}, 1, 1, 1)
	if _, err := c.Cancel(s.Context(), cancelled); err != nil {
		s.Fatal(err)
	}
	var files erase.Files
	s.write(func(ctx context.Context, tx *db.Tx) (err error) {
		files, err = erase.Workspace(ctx, tx, c.workspace)
		return err
	})
	if err := files.Remove(s.Context(), s.app.Blobs); err != nil {
		s.Fatal(err)
	}
}

// jobs makes a job in each state. last and sampled are the one frame of a job each, which
// a worker holds.
func (s *store) jobs() (last, sampled, long claimed) {
	s.Helper()
	c, other := s.caller(10_000), s.caller(500)
	for _, path := range []string{"/ok", "/broken", "/gone"} {
		c.endpoint(path)
	}
	other.delete(other.endpoint("/ok"))
	plain := apptest.PlainScene(s.T)
	reuse := s.reuse(plain)

	completed := c.start(demo.Scene(), client.StartRequest{WebhookURL: s.receiver.URL + "/ok", WebhookSecret: "sixteen letters!"}, 1, 5, 2)
	s.gpu.fail("out_of_memory", false) // another worker renders it
	s.cpu.deliver(s.cpu.claim(completed), "deep/x.png", "y.png")
	s.cpu.render(completed, 2)
	c.await(completed, client.StatusCompleted)
	c.share(completed)
	paid := other.start(plain, client.StartRequest{}, 3, 4, 1)
	s.cpu.render(paid, 1)
	s.gpu.render(paid, 1)
	other.await(paid, client.StatusCompleted)
	s.write(func(ctx context.Context, tx *db.Tx) error {
		if _, err := wallet.Refund(ctx, tx, paid, "one frame was too dark", 1); err != nil {
			return err
		}
		return wallet.Credit(ctx, tx, other.workspace, "a gift", 7)
	})
	s.payments(other.workspace)

	failed := c.start(plain, client.StartRequest{WebhookURL: s.receiver.URL + "/broken"}, 1, 2, 1)
	s.gpu.fail("blender_crashed", false)
	s.cpu.fail("blender_crashed", true)
	s.gpu.fail("blender_crashed", true) // a job fails by two keys
	c.await(failed, client.StatusFailed)
	cancelled := other.start(demo.Scene(), client.StartRequest{WebhookURL: s.receiver.URL + "/broken"}, 1, 1, 1)
	if _, err := other.Cancel(s.Context(), cancelled); err != nil {
		s.Fatal(err)
	}
	c.upload(map[string]string{"frame_start": "2", "frame_count": "3"})
	for _, key := range []string{"one", "two"} {
		again := `{"upload_id":"` + c.quote(plain, 1, 3, 1).UploadID + `"}`
		c.call(http.MethodPost, links.RendersPath, map[string]string{"Idempotency-Key": key}, "application/json", []byte(again))
	}
	c.awaitUploads()
	c.quote(demo.Scene(), 1, 9, 4)

	packaged := c.start(plain, client.StartRequest{}, 2, 2, 1)
	last = s.gpu.claim(packaged)
	sampled = s.gpu.claim(c.start(plain, client.StartRequest{}, 5, 5, 1))
	rendering := c.start(demo.Scene(), client.StartRequest{}, 1, 7, 3)
	s.cpu.deliver(s.cpu.claim(rendering))
	long = s.cpu.claim(rendering)
	for range 2 { // queued
		c.start(demo.Scene(), client.StartRequest{}, 10, 12, 1)
	}
	reuse(6)
	s.indebted()
	return last, sampled, long
}

// awaitUploads makes an upload link without a file, and one whose file was refused.
func (c caller) awaitUploads() {
	c.Helper()
	in := &intake.Intake{DB: c.app.DB, Blobs: c.app.Blobs, Envelope: c.app.Config.Envelope}
	if _, err := in.Await(c.Context(), c.workspace, ""); err != nil {
		c.Fatal(err)
	}
	refused, err := in.Await(c.Context(), c.workspace, "")
	if err != nil {
		c.Fatal(err)
	}
	if _, err := in.ReceiveAwaited(c.Context(), refused.UploadID, intake.File{Name: "a.blend", Body: bytes.NewReader([]byte("no scene"))}); err == nil {
		c.Fatal("a file without a scene was taken")
	}
	received, err := in.Await(c.Context(), c.workspace, "")
	if err != nil {
		c.Fatal(err)
	}
	if _, err := in.ReceiveAwaited(c.Context(), received.UploadID, intake.File{Name: "a.blend", Body: bytes.NewReader(demo.Scene())}); err != nil {
		c.Fatal(err)
	}
}

// previews makes a free preview in each state.
func (s *store) previews() {
	s.Helper()
	c, plain := s.caller(0), apptest.PlainScene(s.T)
	order := func(uploadID string, frame int) *client.UploadPreview {
		p, err := c.OrderPreview(s.Context(), uploadID, frame)
		if err != nil {
			s.Fatal(err)
		}
		return p
	}
	shown, other, gone := c.quote(plain, 1, 9, 1).UploadID, c.quote(demo.Scene(), 1, 3, 1).UploadID, c.quote(plain, 2, 4, 1).UploadID
	for _, uploadID := range []string{shown, gone} {
		order(uploadID, 2)
		s.gpu.deliverPreview()
	}
	if err := (&intake.Intake{DB: s.app.DB, Blobs: s.app.Blobs}).Delete(s.Context(), c.workspace, gone); err != nil {
		s.Fatal(err)
	}
	order(other, 0)
	s.cpu.failPreview("blender_crashed")
	order(shown, 3)
	s.cpu.claimPreview()
	order(shown, 0)
}

// benchmarks submits results of two GPUs and a CPU, one that is hidden, and one that is not
// believed.
func (s *store) benchmarks() {
	s.Helper()
	fleet, err := leaderboardtest.NewFleet(s.Context(), s.app.Board(s.app.Links(s.url)))
	if err != nil {
		s.Fatal(err)
	}
	now := time.Now()
	for i, gpu := range []string{"NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "NVIDIA Tesla T4"} {
		if _, err := fleet.Submit(s.Context(), leaderboardtest.Run(gpu, 16, float64(3000+i), now)); err != nil {
			s.Fatal(err)
		}
	}
	if _, err := fleet.Submit(s.Context(), leaderboardtest.CPURun("AMD Ryzen 9 7950X", 212, now)); err != nil {
		s.Fatal(err)
	}
	made, err := fleet.Submit(s.Context(), leaderboardtest.Run("NVIDIA L40", 48, 8000, now))
	if err != nil {
		s.Fatal(err)
	}
	err = s.app.DB.Write(s.Context(), func(tx *db.Tx) error {
		_, err := leaderboard.Hide(s.Context(), tx, []string{made.ResultID}, "it was made up")
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	wrong, err := fleet.Sign(s.Context(), leaderboardtest.Run("NVIDIA L4", 24, 9000, now))
	if err != nil {
		s.Fatal(err)
	}
	if _, err := fleet.Board.Draw(s.Context(), wrong.NodeKeyID, wrong.WorkerID, ""); err != nil {
		s.Fatal(err)
	}
	wrong.Worker.DeviceName = "NVIDIA T400"
	if judged, err := fleet.Board.Submit(s.Context(), wrong); err != nil || judged.Reason == "" {
		s.Fatalf("%+v, %v", judged, err)
	}
}

// fillTile submits benchmarks until the receipt log has a full tile.
func (s *store) fillTile() {
	s.Helper()
	fleet, err := leaderboardtest.NewFleet(s.Context(), s.app.Board(s.app.Links(s.url)))
	if err != nil {
		s.Fatal(err)
	}
	one, err := fleet.NewMachine(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	fleet = fleet.As(one)
	for i := 0; ; i++ {
		var n int
		if err := s.raw.QueryRow("SELECT count(*) FROM receipt_log_node").Scan(&n); err != nil {
			s.Fatal(err)
		}
		if n > 0 {
			return
		}
		if _, err := fleet.Submit(s.Context(), leaderboardtest.Run("NVIDIA Tesla T4", 16, float64(1000+i), time.Now())); err != nil {
			s.Fatal(err)
		}
	}
}

// awaitDeliveries waits until each delivery was tried.
func (s *store) awaitDeliveries() {
	s.Helper()
	s.awaitNone("webhook_delivery", "tries = 0")
	s.awaitNone("lease", "queue = 'webhook_notice'")
}

// deadLetter makes a sign-in link that could not be sent.
func (s *store) deadLetter() {
	s.Helper()
	queue := lease.Queue{Name: identity.LinkQueue, Life: time.Minute, LongestPause: time.Minute, MaxFailures: 1}
	s.write(func(ctx context.Context, tx *db.Tx) error { return identity.RequestLink(ctx, tx, "nobody@example.com") })
	s.write(func(ctx context.Context, tx *db.Tx) error {
		got, err := lease.Claim(ctx, tx, identity.LinkQueue, "holder", 1, time.Minute)
		if err != nil || len(got) == 0 {
			return errors.Join(err, errors.New("there is no link to send"))
		}
		_, err = queue.Fail(ctx, tx, got[0], "internal", "no mail server")
		return err
	})
	s.write(func(ctx context.Context, tx *db.Tx) error {
		return identity.RequestLink(ctx, tx, "somebody@example.com")
	})
}

// passing makes the rows that a service removes soon: a request in progress, and one that
// is counted. It also makes the standing of a key.
func (s *store) passing(workspace string) {
	s.Helper()
	hold := query.IdempotencyHoldParams{WorkspaceID: workspace, Route: "POST /v1/renders", Key: "held", Fingerprint: "f", Holder: "HLD-1"}
	hold.RowSum = rowsum.Table[query.Idempotency]{Name: "idempotency", Except: []string{"LapsesAt"}}.Of(hold)
	workers := dispatch.Workers{DB: s.app.DB, Log: s.app.Config.Log}
	var ended string // a job of the workspace
	if err := s.raw.QueryRow("SELECT max(job_id) FROM job WHERE workspace_id = $1", workspace).Scan(&ended); err != nil {
		s.Fatal(err)
	}
	s.write(func(ctx context.Context, tx *db.Tx) error {
		hold.LapsesAt = tx.Now + time.Minute.Microseconds()
		_, held := tx.IdempotencyHold(ctx, hold)
		_, counted := tx.RateAdd(ctx, query.RateAddParams{Client: "203.0.113.9", Now: tx.Now, Cost: time.Minute.Microseconds()})
		people, err := tx.MembersOf(ctx, workspace)
		if err != nil {
			return err
		}
		waits := errors.Join(notice.Verified(ctx, tx, people[0].PersonID), notice.Add(ctx, tx, workspace, ended, time.Hour), notice.AddComment(ctx, tx, workspace, ended, time.Hour))
		return errors.Join(held, counted, waits, workers.RecordCompared(ctx, tx, "", 1, []dispatch.Compared{{WorkerID: s.gpu.id, KeyID: s.gpu.keyID, Confirmed: true}}))
	})
}
