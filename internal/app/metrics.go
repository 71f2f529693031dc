package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/work/metrics"
)

// Bounds of the listener of metrics, and how often the certificate is read.
const (
	metricsConnections = 64
	metricsTimeout     = 30 * time.Second
	certificateEvery   = time.Hour
)

// serveMetrics serves metrics and probes on a listener of their own, if there is to be one,
// until stop. They need no key, so strangers must not reach them.
func (a *App) serveMetrics(serving context.Context, errs *front.Errors) (stop func(), err error) {
	if a.metrics == nil {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", a.Config.MetricsListen)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics on %s: %w", a.Config.MetricsListen, err)
	}
	if ip := listener.Addr().(*net.TCPAddr).IP; ip.IsUnspecified() || !(ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast()) {
		a.Config.Log.Warn("metrics are told to everybody who reaches this address: let a firewall admit Prometheus only", "metrics_listen", a.Config.MetricsListen)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	front.Probes(serving, mux, errs, a.ready)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: maxHeaders, ReadTimeout: metricsTimeout, WriteTimeout: metricsTimeout, IdleTimeout: idleTimeout,
		ConnState: front.LimitConnections(metricsConnections, 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if a.Config.AnnounceMetrics != nil {
		a.Config.AnnounceMetrics("http://" + reachable(listener.Addr()))
	}
	return func() {
		_ = server.Close() // a scrape that is cut off is made again
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			a.Config.Log.Error("metrics were no longer served", "err", err)
		}
	}, nil
}

// watchCertificate returns the work that reads when the certificate of the public URL ends.
func (a *App) watchCertificate(public string) func(context.Context) {
	return func(ctx context.Context) {
		if a.metrics == nil || !a.Config.SelfCheck {
			return
		}
		for wait := selfChecks[0]; pause(ctx, wait); wait = certificateEvery {
			limited, cancel := context.WithTimeout(ctx, selfCheckTimeout)
			end, err := metrics.CertificateEnd(limited, public)
			cancel()
			if err != nil {
				a.Config.Log.Warn("the end of the certificate is not known", "public_url", public, "err", err)
				continue
			}
			a.metrics.SetCertificateEnd(end)
		}
	}
}
