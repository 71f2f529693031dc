// Package metrics reports the state of the service to Prometheus.
//
// What always holds: what is true of the whole service (what waits, which workers are there,
// how much money) is read from the database on request, at most once a second, and never
// counted by a process; each process counts what it does itself (requests, pictures, calls),
// and Prometheus adds the processes up. No label names a workspace, a job or a path: each
// label has a known, small number of values. A database that does not answer delays a scrape
// by readLimit, and one read waits for it, however many scrapes come.
//
// The package owns no table. Package app serves /metrics, and deploy/prometheus has the
// thresholds. docs/metrics.md explains each metric. Start reading at Metrics, then store.go.
package metrics

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/webhook"
)

// Config is what Metrics read. Every field is required.
type Config struct {
	DB     *db.DB        // the caller closes it, after Metrics.Close
	Keys   *signing.Ring // whose end is told
	Folder string        // the data folder, whose free space is told
	// Probe tells whether the database and the store of files can be written.
	Probe func() (database, files error)
	Log   *slog.Logger
}

// Metrics are the metrics of a process. Make one with New and end it with Close. A nil
// *Metrics counts nothing, for a process without metrics. It is safe for concurrent use.
type Metrics struct {
	registry    *prometheus.Registry
	store       *store
	requests    *prometheus.HistogramVec
	renders     prometheus.Histogram
	parts       *prometheus.HistogramVec
	accepted    prometheus.Counter
	failures    *prometheus.CounterVec
	attempts    *prometheus.CounterVec
	compared    *prometheus.CounterVec
	certificate prometheus.Gauge

	// mu guards known, the lines of requests: finding one there takes a quarter of the time
	// that the library takes to compose it.
	mu    sync.RWMutex
	known map[line]prometheus.Observer
}

// line is what distinguishes the time series of requests.
type line struct {
	route  string
	status int
}

// Bounds of a process's own figures, in seconds. Few: each is a line for every route and
// code.
var (
	requestBounds = []float64{0.005, 0.025, 0.1, 0.5, 2.5, 10, 60}
	partBounds    = []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60, 600}
	renderBounds  = []float64{0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200}
)

// scrapesAtOnce bounds the scrapes that are answered at once; further ones get 503.
const scrapesAtOnce = 8

// New makes the metrics of a process.
func New(c Config) *Metrics {
	m := &Metrics{
		known:    map[line]prometheus.Observer{},
		registry: prometheus.NewRegistry(),
		store:    newStore(func(ctx context.Context) ([]prometheus.Metric, error) { return read(ctx, c) }, c.Probe, c.Log),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "svc_http_seconds", Help: "How long requests took, by route and status. Route is the pattern; - for a request that no route matches.", Buckets: requestBounds,
		}, []string{"route", "code"}),
		renders: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_render_seconds", Help: "How long Blender took for each frame that this process accepted.", Buckets: renderBounds,
		}),
		parts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "svc_frame_part_seconds", Help: "Where the time of each frame that this process accepted went, as its worker tells.", Buckets: partBounds,
		}, []string{"part"}),
		accepted: prometheus.NewCounter(prometheus.CounterOpts{Name: "svc_frames_accepted_total", Help: "Frames that this process accepted."}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_frames_failed_total", Help: "Attempts at frames that failed, as this process was told, by the code of the failure.",
		}, []string{"code"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_webhook_attempts_total", Help: "Calls of webhook endpoints that this process made: delivered (2xx), refused (any other answer) or unanswered.",
		}, []string{"outcome"}),
		compared: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_reuse_compared_total", Help: "Reused frames that were rendered again for this process, by whether they showed the same or something else (different).",
		}, []string{"outcome"}),
		certificate: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "svc_certificate_end_timestamp_seconds", Help: "When the first certificate ends that the public URL shows, as seconds since 1970; +Inf when it was not seen.",
		}),
	}
	for _, v := range webhook.Verdicts() {
		m.attempts.WithLabelValues(string(v))
	}
	for _, p := range (receipt.Times{}).Parts() {
		m.parts.WithLabelValues(p.Name)
	}
	m.compared.WithLabelValues("same")
	m.compared.WithLabelValues("different")
	m.SetCertificateEnd(time.Time{})
	m.failures.WithLabelValues(string(fault.WorkerLost)) // so that a rate has a beginning
	m.registry.MustRegister(m.store, m.requests, m.renders, m.parts, m.accepted, m.failures, m.attempts, m.compared, m.certificate,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Close waits for a read that is in progress.
func (m *Metrics) Close() {
	if m != nil {
		m.store.close()
	}
}

// Handler serves the metrics in Prometheus' text format. It answers 503 while scrapesAtOnce
// others are answered.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce})
}

// Request counts a request that was answered. route is the pattern of a ServeMux, "" for
// none; never a path, of which there is no end.
func (m *Metrics) Request(route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	m.lineOf(line{route, status}).Observe(took.Seconds())
}

func (m *Metrics) lineOf(l line) prometheus.Observer {
	m.mu.RLock()
	o := m.known[l]
	m.mu.RUnlock()
	if o != nil {
		return o
	}
	o = m.requests.WithLabelValues(cmp.Or(l.route, "-"), strconv.Itoa(l.status))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[l] = o // the same one, if another goroutine was faster
	return o
}

// FrameAccepted counts an accepted frame, the time that Blender took for it, and its parts
// if its worker reports them.
func (m *Metrics) FrameAccepted(render time.Duration, times receipt.Times) {
	if m == nil {
		return
	}
	m.accepted.Inc()
	m.renders.Observe(render.Seconds())
	if times == (receipt.Times{}) {
		return
	}
	for _, p := range times.Parts() {
		m.parts.WithLabelValues(p.Name).Observe(p.Seconds)
	}
}

// FrameFailed counts a failed attempt. A code that is not in the table of faults counts as
// internal_error: codes come from workers.
func (m *Metrics) FrameFailed(code fault.Code) {
	if m != nil {
		m.failures.WithLabelValues(string(fault.Lookup(code).Code)).Inc()
	}
}

// WebhookAttempt counts a call of an endpoint.
func (m *Metrics) WebhookAttempt(v webhook.Verdict) {
	if m != nil {
		m.attempts.WithLabelValues(string(v)).Inc()
	}
}

// ReuseCompared counts a reused frame that was rendered again.
func (m *Metrics) ReuseCompared(same bool) {
	if m == nil {
		return
	}
	outcome := "different"
	if same {
		outcome = "same"
	}
	m.compared.WithLabelValues(outcome).Inc()
}

// SetCertificateEnd keeps when the certificate of the public URL ends; the zero time means
// that there is none, or that it was not seen.
func (m *Metrics) SetCertificateEnd(end time.Time) {
	if m != nil {
		m.certificate.Set(timestamp(end))
	}
}

// CertificateEnd asks the server at an https URL for its certificates, and returns when the
// first of them expires. It does not verify them, so that it can report an expired one, and
// sends nothing else. It returns the zero time if the URL is not https.
func CertificateEnd(ctx context.Context, address string) (end time.Time, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return end, err
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	dialer := tls.Dialer{Config: &tls.Config{ServerName: u.Hostname(), InsecureSkipVerify: true}} // only the end is read
	c, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return end, fmt.Errorf("read the certificate of %s: %w", u.Hostname(), err)
	}
	secure, ok := c.(*tls.Conn)
	if !ok {
		return end, errors.Join(errors.New("the connection is not of TLS"), c.Close())
	}
	for _, certificate := range secure.ConnectionState().PeerCertificates {
		if end.IsZero() || certificate.NotAfter.Before(end) {
			end = certificate.NotAfter
		}
	}
	_ = c.Close() // all is read
	return end, nil
}
