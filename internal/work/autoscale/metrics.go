package autoscale

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics report to Prometheus what a Scaler does. Make them with NewMetrics and give
// their Stepped to it. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	workers  *prometheus.GaugeVec
	asked    *prometheus.CounterVec
	failed   prometheus.Counter
	last     prometheus.Gauge
	looked   atomic.Bool // at least one step did not fail
}

// NewMetrics makes the metrics of a scaler that asks for most workers at most.
func NewMetrics(most int) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		workers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "svc_autoscale_workers", Help: "Workers by state: wanted by what waits, running and pending in the engine's list, and most that may be asked for (--max).",
		}, []string{"state"}),
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_autoscale_requests_total", Help: "Workers that the engine was asked for (start), and pending ones that were taken back (cancel).",
		}, []string{"verb"}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "svc_autoscale_failures_total", Help: "Looks that failed because the service or the engine did not answer.",
		}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "svc_autoscale_last_look_timestamp_seconds", Help: "When the last look succeeded, as seconds since 1970; 0 before the first.",
		}),
	}
	m.registry.MustRegister(m.workers, m.asked, m.failed, m.last,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, verb := range []string{"start", "cancel"} {
		m.asked.WithLabelValues(verb) // so that a rate has a beginning
	}
	m.workers.WithLabelValues("most").Set(float64(most))
	return m
}

// Stepped takes in what a step has found and done. What was done before a failure counts.
func (m *Metrics) Stepped(s Step, err error) {
	m.asked.WithLabelValues("start").Add(float64(s.Started))
	m.asked.WithLabelValues("cancel").Add(float64(s.Cancelled))
	if err != nil {
		m.failed.Inc()
		return
	}
	m.workers.WithLabelValues("wanted").Set(float64(s.Wanted))
	m.workers.WithLabelValues("running").Set(float64(s.Running))
	m.workers.WithLabelValues("pending").Set(float64(s.Pending))
	m.last.Set(float64(time.Now().Unix()))
	m.looked.Store(true)
}

// Handler serves /metrics, /livez, and /readyz, which is 503 until a look has succeeded.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 8}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !m.looked.Load() {
			http.Error(w, "neither the service nor the engine has answered yet", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	return mux
}
