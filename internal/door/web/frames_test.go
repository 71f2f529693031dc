package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
)

// TestEveryFieldOfFramesTakesWhatPeoplePaste: blanks, dashes of text programs, dots and a comma at
// the end mean the same before the price, in a search, of a job's frames and for a re-render.
func TestEveryFieldOfFramesTakesWhatPeoplePaste(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p := personOf(t, w, 500)
		priced := p.upload("demo.blend", demo.Scene())
		pasted := []string{"1-10", "1 - 10", "1–10", "1 – 10", "1..10", "1 .. 10", "1-10,", " 1-5, 6-10 , "}
		for _, frames := range pasted {
			p.submit(priced.path+"/frames", "frames", frames).want(t, http.StatusOK, "Render 10 frames for $0.10")
		}
		priced = p.submit(priced.path+"/frames", "frames", "1-10")
		begun := p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusOK, "0 of 10 frames")
		for _, frames := range pasted {
			asked := url.Values{"frames": {frames}}.Encode()
			p.open("/console?"+asked).want(t, http.StatusOK, begun.path)
			p.open(begun.path+"/frames?"+asked).want(t, http.StatusNotFound, "frame_not_found")
		}
		p.submit(begun.path+"/cancel").want(t, http.StatusOK, "cancelled")
		for _, frames := range pasted {
			p.submit(begun.path+"/rerender", "frames", frames).want(t, http.StatusOK, "Render 10 frames for $0.10")
		}
	})
}
