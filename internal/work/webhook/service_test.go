package webhook_test

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/seal"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/nametest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// service is the webhooks of one database, with a clock that the test moves.
type service struct {
	*webhook.Hooks
	t         *testing.T
	url       string // of the database
	keys      *seal.Keys
	workspace string
	later     *atomic.Int64
	names     *nametest.Names // of receivers
	commits   atomic.Int64
	// afterCommit, when set, is called with the number of each commit.
	afterCommit atomic.Pointer[func(n int64)]
	roots       *x509.CertPool
	holder      int
}

func each(t *testing.T, test func(t *testing.T, s *service)) {
	t.Helper()
	dbtest.EachURL(t, func(t *testing.T, url string) { test(t, newService(t, url)) })
}

func newService(t *testing.T, url string) *service {
	t.Helper()
	s := &service{t: t, url: url, later: &atomic.Int64{}, roots: x509.NewCertPool(), names: nametest.Serve(t, map[string][]string{"example.com": {"127.0.0.1"}})}
	d := dbtest.Open(t, db.Config{
		URL: url, Log: slog.New(slog.DiscardHandler), Skew: func() time.Duration { return time.Duration(s.later.Load()) },
		AfterCommit: func() {
			n := s.commits.Add(1)
			if notify := s.afterCommit.Load(); notify != nil {
				(*notify)(n)
			}
		},
	})
	key, err := seal.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if s.keys, err = seal.Parse(key); err != nil {
		t.Fatal(err)
	}
	s.Hooks = webhook.New(webhook.Config{
		DB: d, LockWorkspace: identity.LockWorkspace, Keys: s.keys, Random: rand.Reader, Life: contract.WebhookRetention, LeaseLife: 20 * time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Jitter: alternating(), Guard: outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: s.roots, Resolver: s.names.Resolver()}),
	})
	s.write(func(ctx context.Context, tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "owner@example.com")
		s.workspace = p.WorkspaceID
		return err
	})
	return s
}

// alternating is a jitter that goes from one end to the other.
func alternating() func() float64 {
	var n atomic.Int64
	return func() float64 { return float64(n.Add(1)%10) / 10 }
}

// run drives the delivery queues until the test ends, or stop is called.
func (s *service) run() (stop func()) { return s.runWith(webhook.Drivers, s.Drive) }

// runWith is run by a process that drives so many delivery queues at once, each by work.
func (s *service) runWith(queues int, work func(context.Context, lease.Lease) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s.holder++
	r := lease.Runner{
		DB: s.DB, Queue: lease.Queue{Name: webhook.Queue, Life: 20 * time.Second, LongestPause: time.Second},
		Holder: fmt.Sprintf("test-%d", s.holder), Parallel: queues, Work: work, Log: s.Log,
	}
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	s.t.Cleanup(stop)
	return stop
}

func (s *service) write(do func(ctx context.Context, tx *db.Tx) error) {
	s.t.Helper()
	if err := s.DB.Write(context.Background(), func(tx *db.Tx) error { return do(context.Background(), tx) }); err != nil {
		s.t.Fatal(err)
	}
}

// bare opens the same database without the service.
func (s *service) bare() *sql.DB {
	s.t.Helper()
	driver := "pgx"
	if s.DB.Engine() == "sqlite" {
		driver = "sqlite"
	}
	bare, err := sql.Open(driver, s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = bare.Close() })
	return bare
}

// raw runs a statement that the service has no query for.
func (s *service) raw(statement string) {
	s.t.Helper()
	if _, err := s.bare().ExecContext(context.Background(), statement); err != nil {
		s.t.Fatal(err)
	}
}

// count is how many rows a table has.
func (s *service) count(table string) (n int) {
	s.t.Helper()
	if err := s.bare().QueryRowContext(context.Background(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// now is the time of the service's clock.
func (s *service) now() (at time.Time) {
	s.t.Helper()
	s.write(func(_ context.Context, tx *db.Tx) error { at = tx.Time(); return nil })
	return at
}

// pass lets time pass, and wakes those waiting for it.
func (s *service) pass(d time.Duration) {
	s.later.Add(int64(d))
	s.write(func(_ context.Context, tx *db.Tx) error { tx.Announce(lease.Topic(webhook.Queue)); return nil })
}

// endJob ends a job of the workspace.
func (s *service) endJob() (jobID string) {
	s.t.Helper()
	jobID = id.New(id.Job)
	s.write(func(ctx context.Context, tx *db.Tx) error {
		return webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: s.workspace, JobID: jobID, Type: contract.EventFailed, Data: map[string]string{"job_id": jobID}})
	})
	return jobID
}

// endJobWithTarget ends a job that has a target of its own.
func (s *service) endJobWithTarget(url, secret string) (jobID string) {
	s.t.Helper()
	target, err := s.Target(s.t.Context(), url, secret)
	if err != nil {
		s.t.Fatal(err)
	}
	jobID = id.New(id.Job)
	s.write(func(ctx context.Context, tx *db.Tx) error {
		if _, err := target.Attach(ctx, tx, s.workspace, jobID); err != nil {
			return err
		}
		return webhook.Publish(ctx, tx, webhook.Event{WorkspaceID: s.workspace, JobID: jobID, Type: contract.EventCompleted, Data: map[string]string{"job_id": jobID}})
	})
	return jobID
}

// endpoint makes an endpoint of the workspace.
func (s *service) endpoint(url, secret string) (webhook.Endpoint, string) {
	s.t.Helper()
	e, made, err := s.Create(s.t.Context(), s.workspace, webhook.NewEndpoint{URL: url, Secret: secret})
	if err != nil {
		s.t.Fatal(err)
	}
	return e, made
}

// await waits until the only delivery of a job is as wanted.
func (s *service) await(jobID string, want func(webhook.Delivery) bool) (d webhook.Delivery) {
	s.t.Helper()
	await.Until(s.t, "a delivery", func() bool {
		all, err := s.OfJob(s.t.Context(), jobID)
		if err != nil || len(all) != 1 {
			s.t.Fatalf("%d deliveries, %v", len(all), err)
		}
		d = all[0]
		return want(d)
	})
	return d
}

// awaitDisabled waits until an endpoint is disabled.
func (s *service) awaitDisabled(endpointID string) (e webhook.Endpoint) {
	s.t.Helper()
	await.Until(s.t, "an endpoint to be disabled", func() (disabled bool) {
		var err error
		if e, err = s.Get(s.t.Context(), s.workspace, endpointID); err != nil {
			s.t.Fatal(err)
		}
		return !e.Enabled
	})
	return e
}

// notify works off the notices.
func (s *service) notify(send func(ctx context.Context, to, subject, text string) error) {
	s.t.Helper()
	var got []lease.Lease
	s.write(func(ctx context.Context, tx *db.Tx) (err error) {
		got, err = lease.Claim(ctx, tx, webhook.NoticeQueue, "test", 10, time.Minute)
		return err
	})
	for _, l := range got {
		if err := (webhook.Notices{DB: s.DB, Send: send, Log: s.Log}).Notify(context.Background(), l); err != nil {
			s.t.Error(err)
		}
	}
}

func tried(n int) func(webhook.Delivery) bool {
	return func(d webhook.Delivery) bool { return d.Tries == n }
}

func isNow(s webhook.Status) func(webhook.Delivery) bool {
	return func(d webhook.Delivery) bool { return d.Status == s }
}

// audit wants no breach.
func (s *service) audit() {
	s.t.Helper()
	for _, b := range s.breaches() {
		s.t.Errorf("breach of %q at %s: %s", b.Rule, b.Subject, b.Detail)
	}
}

// breach is one finding of an audit.
type breach struct{ Rule, Subject, Detail string }

func (s *service) breaches() (found []breach) {
	s.t.Helper()
	err := s.DB.Read(context.Background(), func(tx *db.Tx) error {
		found = nil
		return webhook.Audit(context.Background(), tx, s.keys, func(rule, subject, format string, args ...any) {
			found = append(found, breach{rule, subject, fmt.Sprintf(format, args...)})
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// hit is a call that a receiver got.
type hit struct {
	id     string
	header http.Header
	body   []byte
}

// receiver is an HTTPS server of a customer.
type receiver struct {
	*httptest.Server
	hits chan hit
}

// receiver answers by answer, which may be nil for 204. It is closed when the test
// ends, which waits for each answer: one that is held is held by hold.
func (s *service) receiver(answer http.HandlerFunc) *receiver {
	s.t.Helper()
	r := &receiver{hits: make(chan hit, 1000)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		select {
		case r.hits <- hit{q.Header.Get("webhook-id"), q.Header.Clone(), body}:
		default: // waiting here would keep the server from closing, for good
			s.t.Errorf("more than %d unread calls", cap(r.hits))
		}
		if answer == nil {
			rw.WriteHeader(http.StatusNoContent)
			return
		}
		answer(rw, q)
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	s.t.Cleanup(r.Close)
	s.roots.AddCert(r.Certificate())
	return r
}

// hold waits for the test, or until the caller has gone, because a test that
// fails never answers.
func hold[T any](q *http.Request, word <-chan T) (said T) {
	select {
	case said = <-word:
	case <-q.Context().Done():
	}
	return said
}

func (r *receiver) next(t *testing.T) hit {
	t.Helper()
	return await.Next(t, r.hits, "a call")
}

// signedWith checks a call's signature; the time is the service's, which a test
// moves.
func (h hit) signedWith(secret string, raw bool) error {
	wh, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if !raw {
		wh, err = standardwebhooks.NewWebhook(secret)
	}
	if err != nil {
		return err
	}
	return wh.VerifyIgnoringTimestamp(h.body, h.header)
}
