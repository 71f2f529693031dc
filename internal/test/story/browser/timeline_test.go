package browser_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
)

// mostPageBytes bounds what a page of the console makes a browser load, renders aside.
const mostPageBytes = 60_000

// bar is where a frame of the timeline is on the screen.
func bar(p *story.Console, of, frame int) (x, y float64) {
	p.T.Helper()
	p.Until("the timeline", `document.querySelector("#timeline .scroller")?.getBoundingClientRect().width > 0`)
	at := story.Look[[]float64](p.Tab, p.T, `(() => {
		const box = document.querySelector("#timeline .scroller");
		box.scrollIntoView({ block: "center" });
		const { left, top, width } = box.getBoundingClientRect();
		return [left, top, width];
	})()`)
	return at[0] + (float64(frame)-0.5)*at[2]/float64(of), at[1] + 60
}

// dragged drags over the timeline from one frame to another.
func dragged(p *story.Console, of, from, to int, options ...chromedp.MouseOption) {
	p.T.Helper()
	x, y := bar(p, of, from)
	end, _ := bar(p, of, to)
	options = append(options, chromedp.Button("left"))
	p.Do(chromedp.MouseEvent(chromedp.MousePressed, x, y, options...), chromedp.MouseEvent(chromedp.MouseMoved, (x+end)/2, y, options...),
		chromedp.MouseEvent(chromedp.MouseMoved, end, y, options...), chromedp.MouseEvent(chromedp.MouseReleased, end, y, options...))
}

// swept is dragged by a finger.
func swept(p *story.Console, of, from, to int) {
	p.T.Helper()
	x, y := bar(p, of, from)
	end, _ := bar(p, of, to)
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		for _, e := range []input.DispatchTouchEventParams{
			{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}}},
			{Type: input.DispatchTouchEventTypeTouchMove, TouchPoints: []*input.TouchPoint{{X: (x + end) / 2, Y: y}}},
			{Type: input.DispatchTouchEventTypeTouchMove, TouchPoints: []*input.TouchPoint{{X: end, Y: y}}},
			{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
		} {
			if _, err := cdp.Call(ctx, tab, input.DispatchTouchEvent, e); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Frames are selected on the timeline by mouse, finger and keys, and in the field. The selection
// is downloaded, opened, and rendered again.
func TestFramesAreSelectedOnTheTimelineOfAJob(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		svc.Worker(&story.Painter{})
		p := svc.Console(svc.Caller(story.Credit))
		const n = 24
		job := p.Await(p.StartFrames(n).JobID, client.StatusCompleted)
		path := "/console/jobs/" + job.JobID
		p.Open(path)
		selected := func(frames string) {
			t.Helper()
			p.Until("the selection "+frames, fmt.Sprintf(`document.querySelector("[data-selection] [name=frames]").value === %q`, frames))
		}
		dragged(p, n, 3, 9)
		selected("3-9")
		p.Says("7 frames selected")
		dragged(p, n, 14, 12, chromedp.ButtonModifiers(chromedp.ModifierShift))
		selected("3-9,12-14")
		swept(p, n, 20, 22)
		selected("20-22")
		p.Run(`(() => { const f = document.querySelector("[data-selection] [name=frames]"); f.value = "2, 5-8"; f.dispatchEvent(new Event("input", { bubbles: true })); })()`)
		p.Says("5 frames selected")
		press := func(key string, shift bool) {
			p.Run(fmt.Sprintf(`document.querySelector("#timeline .scroller").dispatchEvent(new KeyboardEvent("keydown", { key: %q, shiftKey: %t, bubbles: true, cancelable: true }))`, key, shift))
		}
		press("Escape", false)
		selected("")
		press("Home", false)
		press("ArrowRight", false)
		press("ArrowRight", true)
		press("ArrowRight", true)
		press("End", false)
		press(" ", false)
		selected("2-4,24")

		p.Run(`const reader = new FileReader()`)
		p.Until("the files of the selection", fmt.Sprintf(`fetch(%q).then((r) => r.blob()).then((b) => new Promise((done) => { reader.onload = () => done(true); reader.readAsDataURL(b); }))`, path+"/frames.zip?frames=2-4,24"))
		content, err := base64.StdEncoding.DecodeString(story.Look[string](p.Tab, t, `reader.result.split(",")[1]`))
		if err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		var names string
		for _, f := range z.File {
			names += " " + f.Name
		}
		if names != " frame_0002.png frame_0003.png frame_0004.png frame_0024.png" {
			t.Errorf("the ZIP has%s", names)
		}
		p.Until("a frame that is not there", fmt.Sprintf(`fetch(%q).then((r) => r.status === 404)`, path+"/frames.zip?frames=24-26"))
		pressed := func(words string) {
			p.Run(fmt.Sprintf(`[...document.querySelectorAll("[data-selection] button")].find((b) => b.textContent === %q).click()`, words))
		}
		pressed("Open")
		p.Until("its first frame", `document.querySelector("h1").textContent === "Frame 2"`)
		p.Open(path)
		dragged(p, n, 5, 6)
		pressed("Render again")
		p.Says("Render 2 frames for $0.02")
		for _, said := range p.Said {
			if !strings.Contains(said, "frames=24-26") {
				t.Errorf("the browser says %q", said)
			}
		}
	})
}

// The timeline of a job that renders grows with it. The selection stays as it is, and so does a
// tag that is being typed.
func TestTheTimelineOfARunningJobGrowsAndKeepsItsSelection(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		few, many := story.BarrierAt(5), story.BarrierAt(12)
		svc.Worker(&story.Painter{Before: func(ctx context.Context, frame int) error {
			return errors.Join(few.Pass(ctx, frame), many.Pass(ctx, frame))
		}})
		p := svc.Console(svc.Caller(story.Credit))
		const n = 14
		job := p.StartFrames(n)
		p.AwaitFrames(job.JobID, 4)
		p.Open("/console/jobs/" + job.JobID)
		p.Until("four frames, too few for a timeline", `document.querySelectorAll("#frames .grid img").length === 4 && document.querySelector("#timeline") === null`)
		few.Open()
		p.AwaitFrames(job.JobID, 11)
		timed := func(frames int) string {
			return fmt.Sprintf(`document.querySelector("#timeline canvas") !== null && document.querySelector("#timeline").dataset.times.split(",").filter(Boolean).length === %d`, frames)
		}
		p.Until("the timeline of eleven frames", timed(11))
		dragged(p, n, 2, 4)
		p.Run(`document.querySelector("[name=tags]").focus(); document.execCommand("insertText", false, "hero shot")`)
		many.Open()
		p.Await(job.JobID, client.StatusCompleted)
		p.Until("the timeline of all frames", timed(n))
		p.Until("the selection, and what is done with it", `document.querySelector("[data-selection] [name=frames]").value === "2-4" && [...document.querySelectorAll("[data-selection] button")].some((b) => b.textContent === "Render again")`)
		p.Says("3 frames selected")
		p.Until("the tag that is being typed", `document.querySelector("[name=tags]").value === "hero shot" && document.activeElement.name === "tags"`)
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}

// The same frame of two jobs of a workspace is compared, labelled, and moves together. No job of
// another workspace can be one of them.
func TestTheSameFrameOfTwoJobsIsCompared(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		svc.Worker(&story.Painter{})
		p, stranger := svc.Console(svc.Caller(story.Credit)), svc.Caller(story.Credit)
		revised := p.Await(p.StartFrames(3).JobID, client.StatusCompleted)
		first := p.Await(p.StartFrames(2).JobID, client.StatusCompleted)
		secret := stranger.Await(stranger.StartFrames(2).JobID, client.StatusCompleted)
		path := "/console/jobs/" + revised.JobID + "/frames/1"
		p.Open(path + "?job=" + secret.JobID)
		p.Says("The other job was not found.")
		if n := story.Look[int](p.Tab, t, `document.querySelectorAll(".stage img").length`); n != 1 {
			t.Errorf("with a job of another workspace %d pictures are shown", n)
		}
		p.Run(`document.querySelector("a[href$='/compare']").click()`)
		p.Says("Compare with another job", "The same file")
		if offered := story.Look[string](p.Tab, t, `[...document.querySelectorAll(".jobs a")].map((a) => a.href.split("job=")[1]).join()`); offered != first.JobID {
			t.Errorf("the jobs on offer are %s", offered)
		}
		p.Run(`document.querySelector(".jobs a").click()`)
		labels := func(frame int) string {
			return fmt.Sprintf(`[...document.querySelectorAll(".stage figcaption")].map((c) => c.textContent).join("; ") === "demo.blend, %s, frame %d; demo.blend, %s, frame %d"`, revised.JobID, frame, first.JobID, frame)
		}
		p.Until("both are labelled", labels(1))
		for _, how := range []string{"wipe", "difference"} {
			p.Run(fmt.Sprintf(`document.querySelector("[data-compare=%s]").click()`, how))
			p.Until("both lie over each other by "+how, `(([a, b]) => ["left", "top", "width", "height"].every((side) => Math.abs(a[side] - b[side]) < 1))([...document.querySelectorAll(".stage img")].map((i) => i.getBoundingClientRect()))`)
		}
		next := func() {
			p.Run(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }))`)
		}
		next()
		p.Until("the next frame of both", labels(2)+fmt.Sprintf(` && document.querySelector(".stage figure + figure img").src.includes("%s/frames/2/file") && location.search === "?job=%s"`, first.JobID, first.JobID))
		next()
		p.Says("There is no frame 3 in demo.blend, " + first.JobID)
		p.Until("the frame alone", `getComputedStyle(document.querySelector(".stage figure + figure")).display === "none"`)
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}

// However long a job, its timeline and its filmstrip have the same number of elements wherever
// they are scrolled to.
func TestAJobOfTwoThousandFramesKeepsItsPagesSmall(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job := svc.Completed(c)
		grow(t, svc, job.JobID, 2000)
		p := svc.Console(c)
		path := "/console/jobs/" + job.JobID
		const elements = `document.querySelectorAll("*").length`
		// scrolled is the most elements while a box is scrolled from its start to its end.
		scrolled := func(box string) int {
			p.Until("every position of "+box, fmt.Sprintf(`(async () => {
				const box = document.querySelector(%q), end = box.scrollWidth - box.clientWidth;
				window.most = 0;
				for (let i = 0; i <= 40; i++) {
					box.scrollLeft = end * i / 40;
					await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
					window.most = Math.max(window.most, %s);
				}
				return end > 10000 && box.scrollLeft >= end - 1;
			})()`, box, elements))
			return story.Look[int](p.Tab, t, "window.most")
		}
		p.Open(path)
		if n := story.Look[int](p.Tab, t, `performance.getEntries().filter(e => !/\/small(\?|$)/.test(e.name)).reduce((n, e) => n + (e.encodedBodySize ?? 0), 0)`); n < 40_000 || n > mostPageBytes {
			t.Errorf("the page of the job loads %d bytes without pictures, at most %d are good", n, mostPageBytes)
		}
		dragged(p, 2000, 200, 1200)
		p.Says("Frames to check", "frames selected")
		p.Run(`document.querySelector("[data-select]").click()`)
		p.Until("the frames to check are selected", `document.querySelector("[data-selection] [name=frames]").value === "500-2000:500"`)
		before := story.Look[int](p.Tab, t, elements)
		p.Run(`for (let i = 0; i < 8; i++) document.querySelectorAll(".zooms button")[1].click()`)
		if most := scrolled("#timeline .scroller"); most != before || most > 1200 {
			t.Errorf("the page of the job has %d elements, and %d while its timeline is scrolled", before, most)
		}
		p.Open(path + "/frames/1000")
		p.Until("the filmstrip at the frame", `document.querySelector("[data-strip] [aria-current]")?.textContent === "1000" && document.querySelector("[data-strip] [aria-current] img").naturalWidth > 0`)
		before = story.Look[int](p.Tab, t, elements)
		if most := scrolled("[data-strip]"); most > before+6 || most > 300 {
			t.Errorf("the viewer has %d elements, and %d while its filmstrip is scrolled", before, most)
		}
		p.Run(`document.querySelector("[data-strip] [aria-current]").focus()`)
		p.Do(chromedp.KeyEvent(kb.PageDown), chromedp.KeyEvent(kb.ArrowRight))
		p.Until("ten frames and one later, with the focus", `document.querySelector("h1").textContent === "Frame 1011" && document.activeElement.textContent === "1011"`)
		p.Do(chromedp.KeyEvent(kb.End))
		p.Until("the last frame", `document.activeElement.textContent === "2000" && document.activeElement.getBoundingClientRect().right <= innerWidth`)
		p.Run(`document.querySelector("[data-strip] [aria-label='Frame 1999']").click()`)
		p.Until("a frame that is clicked, without a new page", `location.pathname.endsWith("/frames/1999") && document.querySelector("h1").textContent === "Frame 1999" && typeof most === "number"`)
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}
