package browser_test

import (
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
)

// Two workers render a still together, and one of them never delivers. The job's page shows
// the strip that is in. When the silent worker leaves, the other one renders the rest.
func TestTheStripsOfAStillAreShownAsTheyArrive(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.SplitAbove = true, new(100*time.Millisecond)
		svc := story.Start(t, config)
		p := svc.Console(svc.Caller(story.Credit))
		svc.Worker(synthetic.Renderer{FrameTime: 600 * time.Millisecond})
		quoted := p.QuotePreviewed(apptest.PlainScene(t))
		leave := svc.Worker(synthetic.Renderer{FrameTime: time.Millisecond, Faults: map[synthetic.Fault]float64{synthetic.Hang: 1}})
		svc.AwaitIdle(2)
		job, err := p.Take(quoted)
		if err != nil {
			t.Fatal(err)
		}
		p.Open("/console/jobs/" + job.JobID)
		p.Says("1 · 1 of 2 strips", "Several machines render one frame together")
		p.Until("the strip's picture", `fetch(document.querySelector(".strips image").href.baseVal).then(r => r.status === 200 && r.headers.get("Content-Type") === "image/jpeg")`)
		strip := story.Look[string](p.Tab, t, `document.querySelector(".strips image").href.baseVal`)
		leave()
		p.Await(job.JobID, client.StatusCompleted)
		p.Until("the frame", `document.querySelector(".grid img") !== null && document.querySelector(".strips") === null`)
		p.Until("a strip that is gone", `fetch("`+strip+`", {cache: "reload"}).then(r => r.status === 404)`)
		if frames := svc.Frames(job.JobID); len(frames) != 1 {
			t.Errorf("it has %d frames", len(frames))
		}
		svc.SettledOnce(p.Caller, 1)
	})
}

// One worker renders a still that takes long. Its page says why no others help.
func TestTheJobsPageSaysWhyALongStillIsRenderedByOneMachine(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic, config.SplitAbove = true, new(100*time.Millisecond)
		svc := story.Start(t, config)
		p := svc.Console(svc.Caller(story.Credit))
		leave := svc.Worker(synthetic.Renderer{FrameTime: 600 * time.Millisecond})
		quoted := p.QuotePreviewed(apptest.PlainScene(t))
		leave()
		leave = svc.Worker(synthetic.Renderer{FrameTime: time.Millisecond, Faults: map[synthetic.Fault]float64{synthetic.Hang: 1}})
		job, err := p.Take(quoted)
		if err != nil {
			t.Fatal(err)
		}
		p.Open("/console/jobs/" + job.JobID)
		p.Says("Each frame is rendered by one machine, not in strips. No other worker of its kind is idle.")
		leave()
		svc.Worker(synthetic.Renderer{FrameTime: time.Millisecond})
		p.Await(job.JobID, client.StatusCompleted)
		p.Until("a page that says no more", `!document.body.textContent.includes("not in strips")`)
		svc.SettledOnce(p.Caller, 1)
	})
}
