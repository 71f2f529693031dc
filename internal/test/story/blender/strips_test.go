package blender_test

import (
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// TestOneStillOfTwoBlendersIsThatOfOne has two Blenders render a frame in strips, and then one
// render it whole.
func TestOneStillOfTwoBlendersIsThatOfOne(t *testing.T) {
	path := story.RealBlender(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		config.SplitAbove = new(time.Millisecond) // any frame takes longer
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		scene, err := story.QuickScene()
		if err != nil {
			t.Fatal(err)
		}
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		stop := svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		render := func() *client.Job {
			t.Helper()
			job, err := c.Take(c.QuoteOf(scene, 1))
			if err != nil {
				t.Fatal(err)
			}
			return c.Await(job.JobID, client.StatusCompleted)
		}
		// The last bits of two Blenders differ now and then, and then the frame is rendered whole.
		var cut *client.Job
		for tries, strips := 1, 0; strips != 2; tries++ {
			cut = stillOf(t, svc, c, scene)
			c.VerifiedZIP(cut)
			frames, err := c.Frames(story.Patient(t), cut.JobID)
			if err != nil || tries > 5 {
				t.Fatalf("it was rendered in %+v, %v", frames, err)
			}
			strips = frames[0].Strips
		}
		if signed, err := c.Receipt(story.Patient(t), cut.JobID); err != nil || strings.Count(string(signed.Members), `"above"`) != 1 {
			t.Errorf("its receipt is %s, %v", signed.Members, err)
		}
		stop()
		svc.AwaitIdle(1)
		whole := render()
		if a, b := svc.Frames(cut.JobID)[0], svc.Frames(whole.JobID)[0]; a.PixelSha256 != b.PixelSha256 {
			t.Errorf("the pixels are %s, those of one Blender %s", a.PixelSha256, b.PixelSha256)
		}
	})
}

// stillOf renders a frame that is known to take long, when two workers are idle.
func stillOf(t *testing.T, svc *story.Service, c story.Caller, scene []byte) *client.Job {
	t.Helper()
	quoted := c.QuotePreviewed(scene)
	svc.AwaitIdle(2)
	job, err := c.Take(quoted)
	if err != nil {
		t.Fatal(err)
	}
	return c.Await(job.JobID, client.StatusCompleted)
}
