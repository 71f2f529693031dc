package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/internal/test/story"
)

// shared is a job's link, as the API shows it.
type shared struct {
	ShareURL string `json:"share_url"`
	Views    int    `json:"views"`
}

// TestALinkShowsItsJobAndNothingElse is told by a client of a studio, who has no account.
func TestALinkShowsItsJobAndNothingElse(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c, stranger := svc.Caller(story.Credit), svc.Caller(story.Credit)
		job, other := c.Completed(), c.Completed()
		path := svc.URL + "/v1/renders/" + job.JobID + "/share"
		share := func(body string) (made shared) {
			t.Helper()
			if status := story.Send(t, story.Request(t, http.MethodPost, path, c.Account.Secret, body), &made); status != http.StatusOK {
				t.Fatalf("sharing answers %d", status)
			}
			return made
		}
		open := func(address string) story.Answer { return story.Get(t, http.MethodGet, address, nil) }

		link := share(`{"download":true}`).ShareURL
		page := open(link)
		for _, part := range []string{job.Filename, "2 frames. ", "Rendered with", "See the proof", "Download all frames", `<meta name="robots" content="noindex">`, `<meta property="og:image" content="` + link + `/card.jpg">`} {
			page.Want(t, http.StatusOK, part)
		}
		if page.Header.Get("X-Robots-Tag") != "noindex" || page.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("headers %v", page.Header)
		}
		for _, secret := range []string{other.JobID, c.Workspace, "@"} {
			if head, _, _ := strings.Cut(string(page.Body), `id="proof"`); strings.Contains(head, secret) {
				t.Errorf("the page has %s", secret)
			}
		}
		for of, kind := range map[string]string{"/frames/1/small": "image/jpeg", "/frames/2/file": "application/octet-stream", "/sheet": "image/jpeg", "/loop": "image/webp", "/card.jpg": "image/jpeg", "/download": "application/zip", "/frames/2": "text/html; charset=utf-8"} {
			a := open(link + of)
			if a.Status != http.StatusOK || a.Header.Get("Content-Type") != kind || len(a.Body) == 0 {
				t.Errorf("%s: %d %s", of, a.Status, a.Header.Get("Content-Type"))
			}
			if robots := a.Header.Get("X-Robots-Tag"); of != "/download" && robots != "noindex" {
				t.Errorf("search engines may keep %s: %q", of, robots)
			}
		}
		for _, guess := range []string{"/frames/3/small", "/frames/0/file", "/frames/-1", "/frames/" + other.JobID + "/small", "/log", "/receipt", "/../" + other.JobID} {
			if a := open(link + guess); a.Status != http.StatusNotFound {
				t.Errorf("%s: %d", guess, a.Status)
			}
		}
		token := link[strings.LastIndexByte(link, '/')+1:]
		for _, guess := range []string{token[:42], token[1:] + token[:1], other.JobID, strings.Repeat("0", 43)} {
			open(svc.URL+"/s/"+guess).Want(t, http.StatusNotFound, "share_not_found")
			open(svc.URL+"/s/"+guess+"/frames/1/small").Want(t, http.StatusNotFound, "share_not_found")
		}
		for method, body := range map[string]string{http.MethodPost: `{}`, http.MethodGet: "", http.MethodDelete: ""} {
			story.Do(t, story.Request(t, method, path, stranger.Account.Secret, body)).Want(t, http.StatusNotFound, "render_not_found")
		}

		// The second link allows less, and ends the first.
		less := share(`{"proof":false}`).ShareURL
		open(link).Want(t, http.StatusNotFound, "share_not_found")
		plain := open(less)
		if plain.Want(t, http.StatusOK, job.Filename); strings.Contains(string(plain.Body), "proof\"") || strings.Contains(string(plain.Body), "ownload") {
			t.Errorf("the page has what the link does not allow: %s", plain.Body)
		}
		for _, of := range []string{"/frames/1/file", "/download"} {
			open(less+of).Want(t, http.StatusNotFound, "share_not_found")
		}
		story.Do(t, story.Request(t, http.MethodPost, path, c.Account.Secret, `{"expires_at":"2999-01-01T00:00:00Z"}`)).Want(t, http.StatusBadRequest, "365 days")
		var now struct {
			Shares []shared `json:"shares"`
		}
		if story.Send(t, story.Request(t, http.MethodGet, svc.URL+"/node/v1/shares", c.Agent.Secret, ""), &now); len(now.Shares) != 1 || now.Shares[0].Views != 1 || now.Shares[0].ShareURL != "" {
			t.Errorf("the list is %+v", now.Shares)
		}
		if status := story.Send(t, story.Request(t, http.MethodDelete, path, c.Account.Secret, ""), nil); status != http.StatusOK {
			t.Fatalf("ending it answers %d", status)
		}
		for _, of := range []string{"", "/frames/1/small", "/sheet", "/card.jpg"} {
			open(less+of).Want(t, http.StatusNotFound, "share_not_found")
		}
	})
}

// TestTheBadgeOfASharedJobVerifiesInTheVisitorsBrowser plays the frames and reads the badge.
func TestTheBadgeOfASharedJobVerifiesInTheVisitorsBrowser(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		job := c.Completed()
		var made shared
		story.Send(t, story.Request(t, http.MethodPost, svc.URL+"/node/v1/jobs/"+job.JobID+"/share", c.Agent.Secret, `{}`), &made)
		visitor := svc.Console(svc.Caller(0)) // a session of another workspace makes no difference
		visitor.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile), chromedp.Navigate(made.ShareURL))
		visitor.Until("the badge is checked", `verdict.dataset.state === "verified" && verdict.innerText.includes("2 frames")`)
		visitor.Until("the next frame is shown", `document.querySelector("[data-play]").hidden === false && (document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true})), picture.alt === "Frame 2")`)
		if width := story.Look[int](visitor.Tab, t, "document.documentElement.scrollWidth"); width > 390 {
			t.Errorf("the page is %d pixels wide on a phone of 390", width)
		}
		if len(visitor.Said) > 0 {
			t.Errorf("the browser says %q", visitor.Said)
		}
	})
}
