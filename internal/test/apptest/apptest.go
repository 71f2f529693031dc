// Package apptest runs the whole service in a test's process, on a port of its
// own. It starts and ends it and audits what is left; whom the service knows and
// what is asked of it is the test's. Binary builds the product for tests that run
// it as a process.
package apptest

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/test/await"
)

// stopTimeout is how long a request that a test leaves open may hold its end up.
const stopTimeout = 3 * time.Second

// Start opens a service and serves. When the test ends, the service is stopped,
// audited and closed. Without a folder in cfg it has one of the test, without a
// log it is silent.
func Start(t testing.TB, cfg app.Config) (service *app.App, url string) {
	t.Helper()
	cfg.Listen, cfg.Data = "127.0.0.1:0", cmp.Or(cfg.Data, t.TempDir())
	cfg.StopTimeout = cmp.Or(cfg.StopTimeout, stopTimeout)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	service, err := app.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	url, stop := Serve(t, service)
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
// twice; the stores stay open.
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

// Audit checks every promise over a service's whole store.
func Audit(t testing.TB, service *app.App) {
	t.Helper()
	found, err := service.Audit(context.Background())
	if err != nil {
		t.Errorf("audit: %v", err)
	}
	for _, b := range found.Breaches {
		t.Errorf("breach of %q at %s: %s", b.Rule, b.Subject, b.Detail)
	}
}
