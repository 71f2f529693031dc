package story_test

import (
	"syscall"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/await"
)

// TestAStoppingServerReleasesARunningFrame sends SIGTERM to a server
// whose embedded worker renders a frame that does not end.
func TestAStoppingServerReleasesARunningFrame(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := open(t, config)
		svc.url = "http://" + config.Listen
		c := svc.caller(credit)
		server := launch(t, serverRole, serverConfig{Listen: config.Listen, Data: config.Data, Database: config.Database, Blobs: config.Blobs, HoldFrom: 2})
		job := c.start(3)
		if _, ok := server.await(patient(t), "holds"); !ok {
			t.Fatal("the worker never came to frame 2")
		}
		c.awaitFrames(job.JobID, 1)
		sendSignal(t, server, syscall.SIGTERM)
		if err := server.end(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		// A lease lives for 20 seconds: what can be leased now was given back.
		svc.serve()
		w := svc.manualWorker()
		got, err := w.lease(t.Context())
		if err != nil || len(got.Leases) != 1 || got.Leases[0].Frame != 2 {
			t.Fatalf("leased %+v, %v, want frame 2", got.Leases, err)
		}
		if err := w.Release(t.Context(), w.release(got)); err != nil {
			t.Fatal(err)
		}
		svc.worker(&painter{})
		c.fetch(c.await(job.JobID, client.StatusCompleted), 3)
		svc.settledOnce(c, 3)
	})
}

// TestAStoppingServerFinishesAShortFrame lets the running frame end
// just after SIGTERM.
func TestAStoppingServerFinishesAShortFrame(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		g := barrierAt(2)
		config.Embedded = &app.EmbeddedWorker{Renderer: &painter{before: g.pass}}
		svc := start(t, config)
		c := svc.caller(credit)
		job := c.start(2)
		if _, err := g.await(patient(t)); err != nil {
			t.Fatal(err)
		}
		stopped := make(chan struct{})
		go func() { svc.stop(); close(stopped) }()
		g.open()
		await.Next(t, stopped, "the server's end")
		if frames := svc.frames(job.JobID); len(frames) != 2 {
			t.Errorf("%d frames are accepted, want the running one too", len(frames))
		}
		svc.serve()
		c.fetch(c.await(job.JobID, client.StatusCompleted), 2)
		svc.settledOnce(c, 2)
	})
}
