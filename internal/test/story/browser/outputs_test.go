package browser_test

import (
	"fmt"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
)

// The page of a frame lists what its File Output nodes wrote, with a small picture where the format
// has one, and saves each file. The job's page leads there, and so does the next frame.
func TestTheOutputsOfAFrameAreOnItsPage(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		p := svc.Console(svc.Caller(story.Credit))
		job, w := p.StartFrames(2), svc.ManualWorker()
		first, picture := w.DeliverOutputs(t, "passes/beauty &0001.png", "depth/z0001.dpx")
		second, _ := w.DeliverOutputs(t, "only.png")
		p.Await(job.JobID, client.StatusCompleted)
		p.Open("/console/jobs/" + job.JobID)
		p.Says("also wrote 3 files")
		p.Run(`document.querySelector("a[href$='#outputs']").click()`)
		p.Says("Other outputs", "passes/beauty &0001.png", "depth/z0001.dpx")
		shows := func(n int) string {
			return fmt.Sprintf(`document.querySelectorAll(".outputs li").length === %d`, n)
		}
		p.Until("both files", shows(2)+` && document.querySelectorAll(".outputs .blank").length === 1`)
		p.Until("the small picture", `(async () => { const img = document.querySelector(".outputs img"); img.loading = "eager"; await img.decode(); return img.naturalWidth > 0; })()`)
		p.Until("the bytes of the file", fmt.Sprintf(`(async () => {
			const link = [...document.querySelectorAll(".outputs .button")][0], answer = await fetch(link.href);
			return (await answer.arrayBuffer()).byteLength === %d && answer.headers.get("Content-Disposition").startsWith("attachment") && link.getAttribute("aria-label") === "Download passes/beauty &0001.png";
		})()`, len(picture)))
		p.Run(`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}))`)
		p.Until("the file of the next frame", shows(1)+` && document.querySelector("h1").textContent === "Frame 2"`)
		if first != 1 || second != 2 {
			t.Errorf("the frames are %d and %d", first, second)
		}
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}
