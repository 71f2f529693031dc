package app

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"svc.example/internal/front"
	"svc.example/internal/test/await"
)

// TestAnOutageIsNotOverByAProbeFromBeforeIt: the store goes away right after a probe.
func TestAnOutageIsNotOverByAProbeFromBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		var away atomic.Bool
		probe := func(context.Context) error {
			if away.Load() {
				return front.ErrNoAnswer
			}
			return nil
		}
		a := &App{outages: front.NewOutageLog(slog.NewTextHandler(&log, nil)), probe: &storeProbe{probes: [2]func(context.Context) error{probe, probe}}}
		a.Config.Log = slog.New(a.outages)
		ctx, stop := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			a.watchOutages(ctx)
		}()
		if err := a.ready(ctx); err != nil {
			t.Fatal(err)
		}
		away.Store(true)
		a.Config.Log.Error("request failed", "err", front.ErrNoAnswer)
		await.Pass(time.Minute)
		if strings.Contains(log.String(), "answers again") {
			t.Errorf("the store is away, and the log says:\n%s", &log)
		}
		away.Store(false)
		await.Pass(time.Minute)
		if said := strings.Count(log.String(), "answers again"); said != 1 {
			t.Errorf("the store is back, and the log says so %d times:\n%s", said, &log)
		}
		stop()
		<-watched
	})
}
