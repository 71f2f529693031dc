package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
)

// TestAJobIsSharedAndUnsharedInTheConsole shares a job that waits, without script.
func TestAJobIsSharedAndUnsharedInTheConsole(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		p, other, visitor := personOf(t, w, 100), personOf(t, w, 100), &person{t: t, base: w.URL}
		priced := p.upload(`<b>shot.blend`, demo.Scene())
		job := p.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).path
		p.open("/console/shares").want(t, http.StatusOK, "No shared jobs yet")
		p.open(job+"/share").want(t, http.StatusOK, "Make a link", "&lt;b&gt;shot.blend")
		for _, days := range []string{"", "0", "366", "x"} {
			p.submit(job+"/share", "days", days).want(t, http.StatusBadRequest, "1 to 365 days")
		}
		made := p.submit(job+"/share", "days", "7", "proof", "yes").want(t, http.StatusOK, "shown only once", "0 times", "watch, check the proof", "A new link ends the one before")
		link := regexp.MustCompile(`/s/[0-9A-Za-z]{43}`).FindString(made.text)
		for _, path := range []string{job + "/share", "/console/shares"} {
			if again := p.open(path); link == "" || strings.Contains(again.text, link) {
				t.Errorf("%s shows %q again", path, link)
			}
		}
		visitor.open(link).want(t, http.StatusOK, "&lt;b&gt;shot.blend", "No frame is rendered yet")
		visitor.open(link+"/card.jpg").want(t, http.StatusNotFound)
		visitor.open("/s/0").want(t, http.StatusNotFound, "This link does not work")
		p.open(job+"/share").want(t, http.StatusOK, "once", "End the link")
		for _, who := range []*person{other, visitor} {
			status := map[*person]int{other: http.StatusNotFound, visitor: http.StatusUnauthorized}[who]
			who.open(job+"/share").want(t, status)
			who.submit(job+"/share", "days", "7").want(t, status)
			who.submit(job+"/share/end").want(t, status)
		}
		p.open("/console/shares").want(t, http.StatusOK, "&lt;b&gt;shot.blend")
		p.submit(job+"/share/end", "from", "list").want(t, http.StatusOK, "No shared jobs yet")
		visitor.open(link).want(t, http.StatusNotFound, "This link does not work")
		p.submit(job+"/share/end").want(t, http.StatusOK, "Make a link") // ending it twice is no error
		p.open(job+"/share/end").want(t, http.StatusOK, "Make a link")
	})
}
