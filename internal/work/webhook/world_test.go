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
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// world is a house of webhooks with a clock that a test moves.
type world struct {
	*webhook.Hooks
	t         *testing.T
	url       string // of the database
	keys      *seal.Keys
	workspace string
	later     *atomic.Int64
	commits   atomic.Int64
	// afterCommit, when set, is told the number of each commit.
	afterCommit atomic.Pointer[func(n int64)]
	roots       *x509.CertPool
	holder      int
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.EachURL(t, func(t *testing.T, url string) { test(t, newWorld(t, url)) })
}

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	w := &world{t: t, url: url, later: &atomic.Int64{}, roots: x509.NewCertPool()}
	d := dbtest.Open(t, db.Config{
		URL: url, Log: slog.New(slog.DiscardHandler), Skew: func() time.Duration { return time.Duration(w.later.Load()) },
		AfterCommit: func() {
			n := w.commits.Add(1)
			if tell := w.afterCommit.Load(); tell != nil {
				(*tell)(n)
			}
		},
	})
	key, err := seal.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if w.keys, err = seal.Parse(key); err != nil {
		t.Fatal(err)
	}
	w.Hooks = webhook.New(webhook.Config{
		DB: d, Keys: w.keys, Random: rand.Reader, Life: contract.WebhookRetention, LeaseLife: 20 * time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Jitter: alternating(), Guard: outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: w.roots}),
	})
	w.write(func(ctx context.Context, tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "owner@example.com")
		w.workspace = p.WorkspaceID
		return err
	})
	return w
}

// alternating is a jitter that goes from one end to the other.
func alternating() func() float64 {
	var n atomic.Int64
	return func() float64 { return float64(n.Add(1)%10) / 10 }
}

// run drives the lanes until the test ends, or stop is called.
func (w *world) run() (stop func()) { return w.runWith(webhook.Lanes, w.Drive) }

// runWith is run by a process that drives so many lanes at once, each by work.
func (w *world) runWith(lanes int, work func(context.Context, lease.Lease) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w.holder++
	r := lease.Runner{
		DB: w.DB, Queue: lease.Queue{Name: webhook.Queue, Life: 20 * time.Second, LongestPause: time.Second},
		Holder: fmt.Sprintf("test-%d", w.holder), Parallel: lanes, Work: work, Log: w.Log,
	}
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-ended })
	w.t.Cleanup(stop)
	return stop
}

func (w *world) write(do func(ctx context.Context, tx *db.Tx) error) {
	w.t.Helper()
	if err := w.DB.Write(context.Background(), func(tx *db.Tx) error { return do(context.Background(), tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// bare opens the same database without the house.
func (w *world) bare() *sql.DB {
	w.t.Helper()
	driver := "pgx"
	if w.DB.Engine() == "sqlite" {
		driver = "sqlite"
	}
	bare, err := sql.Open(driver, w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = bare.Close() })
	return bare
}

// raw runs a statement that the house has not.
func (w *world) raw(statement string) {
	w.t.Helper()
	if _, err := w.bare().ExecContext(context.Background(), statement); err != nil {
		w.t.Fatal(err)
	}
}

// count is how many rows a table has.
func (w *world) count(table string) (n int) {
	w.t.Helper()
	if err := w.bare().QueryRowContext(context.Background(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// now is the house's clock.
func (w *world) now() (at time.Time) {
	w.t.Helper()
	w.write(func(_ context.Context, tx *db.Tx) error { at = tx.Time(); return nil })
	return at
}

// pass lets time pass, and wakes who waits for it.
func (w *world) pass(d time.Duration) {
	w.later.Add(int64(d))
	w.write(func(_ context.Context, tx *db.Tx) error { tx.Announce(lease.Topic(webhook.Queue)); return nil })
}

// tell ends a job of the workspace.
func (w *world) tell() (jobID string) {
	w.t.Helper()
	jobID = id.New(id.Job)
	w.write(func(ctx context.Context, tx *db.Tx) error {
		return webhook.Tell(ctx, tx, webhook.Event{WorkspaceID: w.workspace, JobID: jobID, Type: contract.EventFailed, Data: map[string]string{"job_id": jobID}})
	})
	return jobID
}

// tellTarget ends a job that has a target of its own.
func (w *world) tellTarget(url, secret string) (jobID string) {
	w.t.Helper()
	target, err := w.Target(w.t.Context(), url, secret)
	if err != nil {
		w.t.Fatal(err)
	}
	jobID = id.New(id.Job)
	w.write(func(ctx context.Context, tx *db.Tx) error {
		if _, err := target.Arm(ctx, tx, w.workspace, jobID); err != nil {
			return err
		}
		return webhook.Tell(ctx, tx, webhook.Event{WorkspaceID: w.workspace, JobID: jobID, Type: contract.EventCompleted, Data: map[string]string{"job_id": jobID}})
	})
	return jobID
}

// endpoint makes an endpoint of the workspace.
func (w *world) endpoint(url, secret string) (webhook.Endpoint, string) {
	w.t.Helper()
	e, made, err := w.Create(w.t.Context(), w.workspace, webhook.NewEndpoint{URL: url, Secret: secret})
	if err != nil {
		w.t.Fatal(err)
	}
	return e, made
}

// await waits until the only delivery of a job is as wanted.
func (w *world) await(jobID string, want func(webhook.Delivery) bool) (d webhook.Delivery) {
	w.t.Helper()
	await.Until(w.t, "a delivery", func() bool {
		all, err := w.OfJob(w.t.Context(), jobID)
		if err != nil || len(all) != 1 {
			w.t.Fatalf("%d deliveries, %v", len(all), err)
		}
		d = all[0]
		return want(d)
	})
	return d
}

// awaitDisabled waits until an endpoint is disabled.
func (w *world) awaitDisabled(endpointID string) (e webhook.Endpoint) {
	w.t.Helper()
	await.Until(w.t, "an endpoint to be disabled", func() (disabled bool) {
		var err error
		if e, err = w.Get(w.t.Context(), w.workspace, endpointID); err != nil {
			w.t.Fatal(err)
		}
		return !e.Enabled
	})
	return e
}

// notify works off the notices.
func (w *world) notify(send func(ctx context.Context, to, subject, text string) error) {
	w.t.Helper()
	var got []lease.Lease
	w.write(func(ctx context.Context, tx *db.Tx) (err error) {
		got, err = lease.Claim(ctx, tx, webhook.NoticeQueue, "test", 10, time.Minute)
		return err
	})
	for _, l := range got {
		if err := (webhook.Notices{DB: w.DB, Send: send, Log: w.Log}).Notify(context.Background(), l); err != nil {
			w.t.Error(err)
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
func (w *world) audit() {
	w.t.Helper()
	for _, b := range w.breaches() {
		w.t.Errorf("breach of %q at %s: %s", b.Rule, b.Thing, b.Detail)
	}
}

func (w *world) breaches() (found []webhook.Breach) {
	w.t.Helper()
	err := w.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		found, err = webhook.Audit(context.Background(), tx, w.keys)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// hit is a call that a receiver got.
type hit struct {
	id     string
	header http.Header
	body   []byte
}

// receiver is an HTTPS server of somebody who wants to be told.
type receiver struct {
	*httptest.Server
	hits chan hit
}

// receiver answers by answer, which may be nil for 204. It is closed when the test
// ends, which waits for each answer: one that is held is held by hold.
func (w *world) receiver(answer http.HandlerFunc) *receiver {
	w.t.Helper()
	r := &receiver{hits: make(chan hit, 1000)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		select {
		case r.hits <- hit{q.Header.Get("webhook-id"), q.Header.Clone(), body}:
		default: // waiting here would keep the server from closing, for good
			w.t.Errorf("more calls than %d that nobody looked at", cap(r.hits))
		}
		if answer == nil {
			rw.WriteHeader(http.StatusNoContent)
			return
		}
		answer(rw, q)
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	w.t.Cleanup(r.Close)
	w.roots.AddCert(r.Certificate())
	return r
}

// hold waits for a word of the test, or until the caller has gone: a test that
// fails says no word any more.
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

// signedWith checks a call's signature; the time is the house's, which a test
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
