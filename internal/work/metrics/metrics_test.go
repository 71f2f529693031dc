package metrics_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/metrics"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/webhook"
)

// scrape reads metrics from a handler.
func scrape(t testing.TB, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics answers %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// get reads a URL.
func get(t testing.TB, url string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// want reports lines that a scrape does not have.
func want(t testing.TB, found string, lines ...string) {
	t.Helper()
	all := strings.Split(found, "\n")
	for _, line := range lines {
		if !slices.Contains(all, line) {
			name, _, _ := strings.Cut(line, " ")
			name, _, _ = strings.Cut(name, "{")
			has := slices.DeleteFunc(slices.Clone(all), func(l string) bool { return !strings.HasPrefix(l, name) })
			t.Errorf("there is no line %q, but %q", line, has)
		}
	}
}

// open makes metrics over a database.
func open(t testing.TB, d *db.DB) *metrics.Metrics {
	t.Helper()
	folder := t.TempDir()
	ring, err := signing.Open(folder, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), func(tx *db.Tx) error { return ring.Register(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
	m := metrics.New(metrics.Config{DB: d, Keys: ring, Folder: folder, Probe: func() (database, files error) { return nil, nil }, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(m.Close)
	return m
}

// TestFiguresOfTheStoreFollowTheQueue: of frames, workers, jobs and money.
func TestFiguresOfTheStoreFollowTheQueue(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		m := open(t, w.DB)
		want(t, scrape(t, m.Handler()), "svc_store_up 1", "svc_frames_ready 0", "svc_frames_oldest_seconds 0", `svc_workers{state="idle"} 0`,
			`svc_ledger_cents{account="reserved"} 0`, "svc_reserved_oldest_seconds 0", "svc_audit_end_timestamp_seconds 0", "svc_signing_key_end_timestamp_seconds +Inf")
		workspace := w.Workspace(t)
		w.Job(t, workspace, 3)
		worker := w.Worker(t)
		w.Worker(t)
		w.Seen(worker)
		w.ClaimOne(worker)
		m = open(t, w.DB) // its figures are not kept from before
		want(t, scrape(t, m.Handler()), "svc_frames_ready 2", "svc_frames_leased 1", `svc_workers{state="rendering"} 1`, `svc_workers{state="idle"} 1`,
			`svc_jobs{state="rendering"} 1`, `svc_jobs{state="packaging"} 0`, `svc_ledger_cents{account="reserved"} 3`)
	})
}

// TestAFrameCountsOnceWhateverIsRepeated: a report whose answer was lost comes again.
func TestAFrameCountsOnceWhateverIsRepeated(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		m := open(t, w.DB)
		w.Frames.Accepted, w.Frames.Failed = m.FrameAccepted, m.FrameFailed
		w.Job(t, w.Workspace(t), 2)
		worker := w.Worker(t)
		w.Fail(w.ClaimOne(worker), fault.OutOfMemory)
		l := w.ClaimOne(worker)
		for range 2 {
			w.Deliver(t, l, 3*time.Second)
		}
		want(t, scrape(t, m.Handler()), `svc_frames_failed_total{code="out_of_memory"} 1`, "svc_frames_accepted_total 1", "svc_render_seconds_sum 3")
	})
}

// TestAHangingDatabaseDelaysAScrapeByTwoSeconds, however many ask, and one read waits for it.
func TestAHangingDatabaseDelaysAScrapeByTwoSeconds(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t, "postgres")
	m := open(t, dbtest.Open(t, db.Config{URL: url}))
	h := m.Handler()
	hand := dbtest.Raw(t, url)
	lock, err := hand.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.Exec("LOCK TABLE job IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	answers := make(chan string, 8)
	for range cap(answers) {
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			answers <- fmt.Sprint(w.Code, " ", w.Body)
		}()
	}
	waiting := 0
	await.Until(t, "a read that waits for the lock", func() bool {
		err := hand.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()").Scan(&waiting)
		return err == nil && waiting > 0
	})
	if waiting != 1 {
		t.Errorf("%d reads wait for the lock, want 1", waiting)
	}
	for range cap(answers) {
		answer := await.Next(t, answers, "an answer")
		if !strings.HasPrefix(answer, "200") || !strings.Contains(answer, "\nsvc_store_up 0\n") || strings.Contains(answer, "svc_jobs{") || !strings.Contains(answer, "\ngo_goroutines ") {
			t.Errorf("while the database hangs: %.200s", answer)
		}
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the figures again", func() bool { return strings.Contains(scrape(t, h), "\nsvc_store_up 1\n") })
}

// TestNoLabelIsACallersChoice: routes are patterns, whatever path or method comes.
func TestNoLabelIsACallersChoice(t *testing.T) {
	t.Parallel()
	_, url, metricsURL := start(t, "sqlite")
	lines := func() int { // of the histogram
		_, found := get(t, metricsURL+"/metrics")
		return strings.Count(found, "\nsvc_http_seconds_count{")
	}
	ask := func(method, path string) {
		t.Helper()
		r, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Path = path
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	attack := func(n int) {
		for i := range n {
			secret := fmt.Sprintf("made-up-%d", i)
			for _, path := range []string{"/" + secret, "/v1/renders/" + secret, "/v1/renders/" + secret + "/", "//v1/" + secret, "/console/jobs/" + secret, "/guide/" + secret, "/log/tile/" + secret} {
				for _, method := range []string{"GET", "PUT", "OPTIONS", "CONNECT", "MADEUP" + fmt.Sprint(i)} {
					ask(method, path)
				}
			}
		}
	}
	attack(1)
	before := lines()
	attack(4)
	if after := lines(); after != before || before == 0 {
		t.Errorf("there are %d lines after the attack, %d before", after, before)
	}
	if _, found := get(t, metricsURL+"/metrics"); strings.Contains(found, "made-up") || strings.Contains(found, "MADEUP") {
		t.Error("a metric has what a caller has made up")
	}
}

// TestAFailureCodeThatAWorkerMadeUpIsNoLabel: codes come from workers.
func TestAFailureCodeThatAWorkerMadeUpIsNoLabel(t *testing.T) {
	t.Parallel()
	m := open(t, dbtest.Open(t, db.Config{URL: dbtest.URL(t, "sqlite")}))
	m.FrameFailed("made_up")
	m.FrameFailed(fault.OutOfMemory)
	m.FrameAccepted(3*time.Second, receipt.Times{Sync: 0.5, Render: 2, Encode: 0.5})
	m.FrameAccepted(0, receipt.Times{}) // of a worker that does not report them
	m.WebhookAttempt(webhook.VerdictRefused)
	want(t, scrape(t, m.Handler()), `svc_frames_failed_total{code="internal_error"} 1`, `svc_frames_failed_total{code="out_of_memory"} 1`, "svc_frames_accepted_total 2",
		`svc_frame_part_seconds_sum{part="render"} 2`, `svc_frame_part_seconds_count{part="waiting"} 1`,
		`svc_render_seconds_bucket{le="5"} 2`, `svc_render_seconds_bucket{le="2"} 1`, `svc_webhook_attempts_total{outcome="refused"} 1`)
}

// TestMetricsAreNotOnThePublicAddress, and probes are on both.
func TestMetricsAreNotOnThePublicAddress(t *testing.T) {
	t.Parallel()
	_, url, metricsURL := start(t, "sqlite")
	for path, wants := range map[string][2]int{"/metrics": {404, 200}, "/livez": {200, 200}, "/readyz": {200, 200}, "/v1/capabilities": {200, 404}} {
		public, _ := get(t, url+path)
		own, _ := get(t, metricsURL+path)
		if public != wants[0] || own != wants[1] {
			t.Errorf("%s: %d on the public address and %d on that of metrics, want %v", path, public, own, wants)
		}
	}
}

// TestTheEndOfACertificateIsReadUnchecked: also of an untrusted one.
func TestTheEndOfACertificateIsReadUnchecked(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it would log callers that ask nothing
	server.StartTLS()
	defer server.Close()
	end, err := metrics.CertificateEnd(t.Context(), server.URL+"/svc")
	if err != nil || !end.Equal(server.Certificate().NotAfter) {
		t.Errorf("the certificate ends at %v, error %v", end, err)
	}
	if end, err := metrics.CertificateEnd(t.Context(), "http://127.0.0.1:1"); !end.IsZero() || err != nil {
		t.Errorf("of an address without TLS: %v, %v", end, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := metrics.CertificateEnd(ctx, server.URL); err == nil {
		t.Error("an address that is not reached has a certificate")
	}
}

// start runs a service with metrics.
func start(t *testing.T, engine string) (service *app.App, url, metricsURL string) {
	t.Helper()
	cfg := app.Config{MetricsListen: "127.0.0.1:0", AnnounceMetrics: func(address string) { metricsURL = address }}
	if engine == "postgres" {
		cfg.Database = dbtest.URL(t, engine)
	}
	service, url = apptest.Start(t, cfg)
	return service, url, metricsURL
}
