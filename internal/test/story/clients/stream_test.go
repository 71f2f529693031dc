package clients_test

import (
	"bytes"
	"context"
	"image/jpeg"
	"slices"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/watch"
)

// wantPreview checks that a preview is a small JPEG.
func wantPreview(t *testing.T, s story.StreamEvent) {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(s.Preview.Data))
	if err != nil || s.Preview.ContentType != "image/jpeg" || picture.Bounds().Dx() > 320 {
		t.Errorf("the preview of frame %d is no small JPEG: %v", s.Preview.Frame, err)
	}
}

// TestPreviewsTravelInTheStreamOnceEach goes away after the second of five
// previews, comes back when the service has been restarted and three more
// frames are in, and sees the others, the last before the job's end.
func TestPreviewsTravelInTheStreamOnceEach(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		g := story.BarrierAt(3)
		svc.Worker(&story.Painter{Before: g.Pass})
		job := c.StartFrames(5)
		var seen []int
		var last string
		note := func(s story.StreamEvent) {
			if s.Kind == "preview" {
				wantPreview(t, s)
				seen = append(seen, s.Preview.Frame)
			}
			if s.ID != "" {
				last = s.ID
			}
		}
		c.Listen(svc.URL, job.JobID, "", func(s story.StreamEvent) bool { note(s); return len(seen) == 2 })
		svc.Stop()
		g.Open()
		svc.Restart()
		ended := ""
		c.Listen(svc.URL, job.JobID, last, func(s story.StreamEvent) bool {
			note(s)
			if ended != "" {
				t.Errorf("%s came after the end", s.Kind)
			}
			if s.Kind == "job" && s.Job.Status == client.StatusCompleted {
				ended = s.ID
			}
			return false
		})
		if got := slices.Sorted(slices.Values(seen)); !slices.Equal(got, []int{1, 2, 3, 4, 5}) || ended == "" {
			t.Errorf("previews of %v came, and the end %q; want each once, then the end", seen, ended)
		}
		// A client that comes back with the id of the end gets nothing more.
		c.Listen(svc.URL, job.JobID, ended, func(s story.StreamEvent) bool {
			t.Errorf("%s %s came again", s.Kind, s.ID)
			return false
		})
		svc.SettledOnce(c, 5)
	})
}

// TestAStreamResumesAtAnotherServer has two servers over one PostgreSQL: frames
// come in at the one, a watcher goes from the other to the first and back.
func TestAStreamResumesAtAnotherServer(t *testing.T) {
	t.Parallel()
	config := app.Config{Listen: "127.0.0.1:0", Data: t.TempDir(), Database: dbtest.URL(t, "postgres"), Log: story.LogOf(t)}
	one := story.Start(t, config)
	two := story.Start(t, config)
	c := one.Caller(story.Credit)
	g := story.BarrierAt(3)
	one.Worker(&story.Painter{Before: g.Pass})
	job := c.StartFrames(4)
	var frames, previews int
	var last string
	count := func(s story.StreamEvent) {
		switch s.Kind {
		case "frame":
			frames++
		case "preview":
			previews++
		}
		last = s.ID
	}
	c.Listen(two.URL, job.JobID, "", func(s story.StreamEvent) bool { count(s); return frames == 2 && previews == 2 })
	c.Listen(one.URL, job.JobID, last, func(s story.StreamEvent) bool { count(s); g.Open(); return frames == 3 })
	c.Listen(two.URL, job.JobID, last, func(s story.StreamEvent) bool { count(s); return false })
	if frames != 4 || previews != 4 {
		t.Errorf("%d frames and %d previews came, want each once", frames, previews)
	}
	one.SettledOnce(c, 4)
}

func TestProgressInsideAFrameIsSent(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.LeaseLife = 3 * story.Lapse // a worker on a busy machine keeps its frame
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		g := story.BarrierAt(2)
		svc.Worker(&story.Painter{Before: func(ctx context.Context, frame int) error {
			if frame == 2 {
				tell, _ := ctx.Value(story.ProgressKey{}).(func(float64))
				tell(0.5)
			}
			return g.Pass(ctx, frame)
		}})
		job := c.StartFrames(2)
		c.Listen(svc.URL, job.JobID, "", func(s story.StreamEvent) bool { return s.Job.ProgressPercent == 75 })
		half, err := c.Job(story.Patient(t), job.JobID)
		if err != nil || half.ETASeconds == nil || half.ETARange == nil || half.ETARange.LowSeconds > *half.ETASeconds || half.ETARange.HighSeconds < *half.ETASeconds {
			t.Errorf("in the middle of the last frame: %+v, %v", half, err)
		}
		g.Open()
		c.Await(job.JobID, client.StatusCompleted)
	})
}

// TestManyWatchersGetTheSameEvent has a crowd watch a job: each of them is
// handed the very same events, which were read and encoded once.
func TestManyWatchersGetTheSameEvent(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		const crowd = 200
		config.Watchers = crowd
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		g := story.BarrierAt(1)
		svc.Worker(&story.Painter{Before: g.Pass})
		job := c.StartFrames(3)
		if _, err := g.Await(story.Patient(t)); err != nil {
			t.Fatal(err)
		}
		reader := svc.App.Watch(svc.App.Jobs(svc.App.Links(svc.URL)))
		var mu sync.Mutex
		received := map[*watch.Event]int{} // frames, by how many have received them
		var there, all sync.WaitGroup
		there.Add(crowd)
		for range crowd {
			all.Go(func() {
				first := sync.OnceFunc(there.Done)
				defer first() // one that sees nothing is not waited for
				err := reader.Watch(story.Patient(t), c.Workspace, job.JobID, watch.Watcher{Previews: true, Idle: func() error { return nil }, Send: func(events []watch.Delivery) error {
					first()
					mu.Lock()
					defer mu.Unlock()
					for _, e := range events {
						if e.Kind != watch.JobEvent {
							received[e.Event]++
						}
					}
					return nil
				}})
				if err != nil {
					t.Error(err)
				}
			})
		}
		there.Wait()
		g.Open()
		all.Wait()
		if len(received) != 6 {
			t.Errorf("%d different events for 3 frames and their previews", len(received))
		}
		for e, n := range received {
			if n != crowd {
				t.Errorf("%s %d reached %d of %d", e.Kind, e.Seq, n, crowd)
			}
		}
		svc.SettledOnce(c, 3)
	})
}
