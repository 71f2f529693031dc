// Package apptest runs the whole service in a test's process, on a port of its own.
// It starts the service, stops it and audits what is left. The test decides who may
// use the service, and how. Binary builds the product for tests that run it as a
// process of its own. Start reading at Start; Share is for packages whose tests can
// use one service together.
package apptest

import (
	"cmp"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/test/await"
)

// stopTimeout is how long a request that a test leaves open may delay its end.
const stopTimeout = 3 * time.Second

// Start opens a service and serves. When the test ends, the service is stopped,
// audited and closed; a breach fails the test. Without a folder in cfg the test's
// own is used; without a log its text is only checked for secrets.
func Start(t testing.TB, cfg app.Config) (service *app.App, url string) {
	t.Helper()
	return startBy(t, cfg, Serve)
}

func startBy(t testing.TB, cfg app.Config, serve func(testing.TB, *app.App) (string, func())) (service *app.App, url string) {
	t.Helper()
	cfg.Listen, cfg.Data = "127.0.0.1:0", cmp.Or(cfg.Data, t.TempDir())
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, stopTimeout)
	if cfg.Log == nil {
		cfg.Log = Logger(t, io.Discard)
	}
	service, err := app.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, stop := serve(t, service)
	t.Cleanup(func() {
		stop()
		Audit(t, service)
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return service, url
}

// Serve serves an open service until stop, which waits for it and may be called
// twice. The stores stay open, so that a test can look into them or serve again.
func Serve(t testing.TB, service *app.App) (url string, stop func()) {
	t.Helper()
	listening := make(chan string, 1)
	service.Config.Announce = func(address string) { listening <- address }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Serve(ctx) }()
	select {
	case url = <-listening:
	case err := <-ended:
		cancel()
		t.Fatalf("the service did not start: %v", err)
	}
	return url, sync.OnceFunc(func() {
		cancel()
		if err := await.Next(t, ended, "the end of the service"); err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
}

// Audit checks every promise over a service's whole store, and that no log has a secret of
// it. It reports each breach as an error of the test.
func Audit(t testing.TB, service *app.App) {
	t.Helper()
	found, err := service.Audit(context.Background())
	if err != nil {
		t.Errorf("audit: %v", err)
	}
	for _, b := range found.Breaches {
		t.Errorf("breach of %q at %s: %s", b.Rule, b.Subject, b.Detail)
	}
	logged.hold(t, service)
}
