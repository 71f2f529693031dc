package browser_test

import (
	"bytes"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
)

// The price of a revision shows the frames that it keeps, with their pictures, and says why the
// others are rendered.
func TestThePriceShowsWhatARevisionKeeps(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(synthetic.Renderer{})
		inspect := func(revision, name string) *client.Quote {
			t.Helper()
			q, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: name, Body: bytes.NewReader(story.Revision(t, revision)),
				Frames: "94-99", Settings: client.Settings{ResolutionX: 64, ResolutionY: 36}, Reuse: true})
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		started, err := c.Take(inspect("scene", "shot_v1.blend"))
		if err != nil {
			t.Fatal(err)
		}
		old := c.Await(started.JobID, client.StatusCompleted)

		p := svc.Console(c)
		p.Open("/console/uploads/" + inspect("moved", "shot_v2.blend").UploadID)
		p.Says("3 of 6 frames unchanged", "Why the others are rendered", "Render 6 frames for $0.03")
		p.Run("document.querySelector('.kept').scrollIntoView(); document.querySelector('#price details').open = true")
		p.Says("Compared with shot_v1.blend", "frames 97-99: action CubeAction, 1 key")
		p.Until("the pictures of the frames that are kept", `[...document.querySelectorAll('.kept img')].map(i => i.alt + i.naturalWidth).join() ===
			'Frame 94 of the earlier job64,Frame 95 of the earlier job64,Frame 96 of the earlier job64'`)
		screenshot(p.Tab, t)
		p.Run("document.querySelector('.kept a').click()")
		p.Until("the page of the frame", "location.pathname === '/console/jobs/"+old.JobID+"/frames/94'")
	})
}
