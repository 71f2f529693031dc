package workers_test

import (
	"syscall"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// TestAStoppingServerReleasesARunningFrame sends SIGTERM to a server
// whose embedded worker renders a frame that does not end.
func TestAStoppingServerReleasesARunningFrame(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Open(t, config)
		svc.URL = "http://" + config.Listen
		c := svc.Caller(story.Credit)
		server := story.Launch(t, story.ServerRole, story.ServerConfig{Listen: config.Listen, Data: config.Data, Database: config.Database, Blobs: config.Blobs, HoldFrom: 2})
		job := c.StartFrames(3)
		if _, ok := server.Await(story.Patient(t), "holds"); !ok {
			t.Fatal("the worker never came to frame 2")
		}
		c.AwaitFrames(job.JobID, 1)
		sendSignal(t, server, syscall.SIGTERM)
		if err := server.End(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		// A lease lives for 20 seconds: what can be leased now was given back.
		svc.Serve()
		w := svc.ManualWorker()
		got, err := w.LeaseOne(t.Context())
		if err != nil || len(got.Leases) != 1 || got.Leases[0].Frame != 2 {
			t.Fatalf("leased %+v, %v, want frame 2", got.Leases, err)
		}
		if err := w.Release(t.Context(), w.ReleaseOf(got)); err != nil {
			t.Fatal(err)
		}
		svc.Worker(&story.Painter{})
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 3)
		svc.SettledOnce(c, 3)
	})
}

// TestAStoppingServerFinishesAShortFrame lets the running frame end
// just after SIGTERM.
func TestAStoppingServerFinishesAShortFrame(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		g := story.BarrierAt(2)
		config.Embedded = &app.EmbeddedWorker{Renderer: &story.Painter{Before: g.Pass}}
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job := c.StartFrames(2)
		if _, err := g.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
		stopped := make(chan struct{})
		go func() { svc.Stop(); close(stopped) }()
		g.Open()
		await.Next(t, stopped, "the server's end")
		if frames := svc.Frames(job.JobID); len(frames) != 2 {
			t.Errorf("%d frames are accepted, want the running one too", len(frames))
		}
		svc.Serve()
		c.Fetch(c.Await(job.JobID, client.StatusCompleted), 2)
		svc.SettledOnce(c, 2)
	})
}
