package browser_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
)

// A frame is zoomed by wheel and by two fingers, to what is under them, and played from where it
// is. None of it leaves an entry in the history. Times are those of the reader's place.
func TestAPictureIsZoomedToThePointerAndPlayed(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		svc.Worker(&story.Painter{})
		p := svc.Console(svc.Caller(story.Credit))
		job := p.Await(p.StartFrames(4).JobID, client.StatusCompleted)
		p.Open("/console/jobs/" + job.JobID + "/frames/2")
		p.Until("the whole picture, in a page that is laid out", `document.readyState === "complete" && !document.querySelector("[data-zoom]").hidden &&
			document.querySelector("#picture").complete && document.querySelector("#picture").naturalWidth === 480`)
		entries := story.Look[int](p.Tab, t, "history.length")

		before := pictureOf(p)
		x, y := before.Left+0.6*before.Width, before.Top+0.6*before.Height
		call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: x, Y: y, DeltaX: 1, DeltaY: -900})
		wider := func(than float64) string {
			return fmt.Sprintf(`document.querySelector("#picture").getBoundingClientRect().width > %g`, than)
		}
		p.Until("the picture is larger", wider(before.Width*1.5))
		if at := pictureOf(p); math.Abs((x-at.Left)/at.Width-0.6) > 0.01 || math.Abs((y-at.Top)/at.Height-0.6) > 0.01 {
			t.Errorf("after the wheel the pointer is on another place: %+v at %g, %g", at, x, y)
		}

		zoomed := pictureOf(p)
		for _, e := range []struct {
			kind  input.DispatchTouchEventType
			apart float64
		}{{input.DispatchTouchEventTypeTouchStart, 20}, {input.DispatchTouchEventTypeTouchMove, 30}, {input.DispatchTouchEventTypeTouchMove, 36}, {input.DispatchTouchEventTypeTouchEnd, 0}} {
			points := []*input.TouchPoint{}
			if e.apart > 0 {
				points = append(points, &input.TouchPoint{X: x - e.apart, Y: y, ID: new(1.0)}, &input.TouchPoint{X: x + e.apart, Y: y, ID: new(2.0)})
			}
			call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: e.kind, TouchPoints: points})
		}
		p.Until("two fingers make it larger", wider(zoomed.Width*1.3))

		p.Run(`document.querySelector("[data-play]").click()`)
		for _, frame := range []string{"Frame 3", "Frame 4", "Frame 1"} {
			p.Until(frame+" is played", fmt.Sprintf(`document.querySelector("h1").textContent === %q`, frame))
		}
		p.Run(`(() => { const all = document.querySelector("[data-scrub]"); all.value = 3; all.dispatchEvent(new Event("input")); })()`)
		p.Until("the address follows", `location.pathname.endsWith("/frames/4")`)
		if now := story.Look[int](p.Tab, t, "history.length"); now != entries {
			t.Errorf("the history has %d entries, %d before", now, entries)
		}

		for _, zone := range []string{"Asia/Tokyo", "America/New_York"} {
			call(p, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: zone})
			p.Open("/console/jobs/" + job.JobID)
			p.Until("times are those of "+zone, fmt.Sprintf(`[...document.querySelectorAll("main time")].length > 0 && [...document.querySelectorAll("main time")].every((e) =>
				e.textContent.replace(/\s/g, " ").includes(new Date(e.dateTime).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit", timeZone: %q }).replace(/\s/g, " ")))`, zone))
		}
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}

// place is where a picture is on the screen.
type place struct{ Left, Top, Width, Height float64 }

// pictureOf is where the viewer's picture is.
func pictureOf(p *story.Console) place {
	p.T.Helper()
	return story.Look[place](p.Tab, p.T, `(() => { const { left, top, width, height } = document.querySelector("#picture").getBoundingClientRect(); return { Left: left, Top: top, Width: width, Height: height }; })()`)
}

// call has the browser do something that a person or a machine does to it.
func call[P, R any](p *story.Console, method cdp.Command[P, R], params P) {
	p.T.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, method, params)
		return err
	}))
}
