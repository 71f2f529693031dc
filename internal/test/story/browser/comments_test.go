package browser_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/internal/test/story"
)

// comments are those of a job, as the API shows them.
type comments struct {
	Comments []struct {
		CommentID string  `json:"comment_id"`
		Frame     int     `json:"frame"`
		Author    string  `json:"author"`
		Text      string  `json:"text"`
		DoneAt    *string `json:"done_at"`
	} `json:"comments"`
}

// TestAClientCommentsOnAFrameAndTheArtistSeesIt is told by a client without an account and by the
// artist, each in a browser.
func TestAClientCommentsOnAFrameAndTheArtistSeesIt(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		job := c.Completed()
		path := svc.URL + "/v1/renders/" + job.JobID
		var made shared
		story.Send(t, story.Request(t, http.MethodPost, path+"/share", c.Account.Secret, `{"comments":true}`), &made)

		client := &story.Console{Caller: c, Base: svc.URL, Tab: story.Browse(t)} // without a session
		client.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile), chromedp.Navigate(made.ShareURL))
		client.Says("No comments on frame 1 yet.")
		client.Until("the form follows the player", `document.querySelector("[data-play]").hidden === false && (document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true})), document.querySelector("[name=frame]").value === "2")`)
		client.Says("No comments on frame 2 yet.")
		const said = `<img src=x onerror="document.title='stolen'"> The hand clips.`
		client.Run(fmt.Sprintf(`document.querySelector("[name=comment]").value = %q; document.querySelector("[name=name]").value = "Ada <i>"; document.querySelector("#comments button").click()`, said))
		client.Says(said, "Ada <i>", "Frames with comments: 2")
		client.Until("it is at the frame", fmt.Sprintf(`location.href === %q && document.querySelector("[data-name]").textContent === "Frame 2"`, made.ShareURL+"/frames/2#comments"))
		if story.Look[bool](client.Tab, t, `document.title.includes("stolen") || !!document.querySelector("#comments img, #comments i") || document.documentElement.scrollWidth > 390`) {
			t.Error("the visitor's text is more than text, or is wider than the phone")
		}

		artist := svc.Console(c)
		artist.Open("/console")
		artist.Says("1 open comment on your shared jobs")
		artist.Run(`[...document.querySelectorAll("a")].find(a => a.textContent.includes("open comment")).click()`)
		artist.Says(said)
		artist.Run(`[...document.querySelectorAll(".said a")].find(a => a.textContent === "Frame 2").click()`)
		artist.Until("the link leads to the frame", `document.querySelector("h1")?.textContent === "Frame 2"`)
		artist.Open("/console/jobs/" + job.JobID)
		artist.Says(said, "Ada <i>")
		artist.Run(`[...document.querySelectorAll("#comments button")].find(b => b.textContent === "Done").click()`)
		artist.Until("it is done", `!!document.querySelector("#comments .done")`)
		var seen comments
		story.Send(t, story.Request(t, http.MethodGet, path+"/comments", c.Account.Secret, ""), &seen)
		if len(seen.Comments) != 1 || seen.Comments[0].Frame != 2 || seen.Comments[0].Text != said || seen.Comments[0].Author != "Ada <i>" || seen.Comments[0].DoneAt == nil {
			t.Errorf("the API shows %+v", seen)
		}
		client.Open(strings.TrimPrefix(made.ShareURL, svc.URL) + "/frames/2")
		client.Says(said, ", done")
		artist.Run(`[...document.querySelectorAll("#comments button")].find(b => b.textContent === "Delete").click()`)
		artist.Until("it is gone", `!!document.querySelector("#live") && !document.querySelector("#comments")`)
		client.Do(chromedp.Reload())
		client.Says("No comments on frame 2 yet.")
		if len(artist.Said) > 0 {
			t.Errorf("the browser says %q", artist.Said)
		}
	})
}

// TestNobodyCommentsWhereTheOwnerDoesNotAllowIt sends the form to links that do not take it, from
// other sites, and more than it may hold.
func TestNobodyCommentsWhereTheOwnerDoesNotAllowIt(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		open, silent := c.Completed(), c.Completed()
		share := func(jobID, body string) string {
			var made shared
			story.Send(t, story.Request(t, http.MethodPost, svc.URL+"/v1/renders/"+jobID+"/share", c.Account.Secret, body), &made)
			return made.ShareURL
		}
		link, closed := share(open.JobID, `{"comments":true}`), share(silent.JobID, `{}`)
		say := func(to string, form url.Values, change ...func(*http.Request)) story.Answer {
			t.Helper()
			r := story.Request(t, http.MethodPost, to+"/comments", "", form.Encode())
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept", "text/html")
			for _, c := range change {
				c(r)
			}
			return story.Do(t, r)
		}
		list := func(jobID string) (seen comments) {
			t.Helper()
			story.Send(t, story.Request(t, http.MethodGet, svc.URL+"/node/v1/jobs/"+jobID+"/comments", c.Agent.Secret, ""), &seen)
			return seen
		}
		text := url.Values{"frame": {"1"}, "comment": {"Too dark"}}
		say(closed, text).Want(t, http.StatusNotFound, "takes no comments")
		if page := story.Get(t, http.MethodGet, closed, nil); strings.Contains(string(page.Body), "<form") {
			t.Error("a link without comments has a form")
		}
		another := link[:len(link)-1] + map[bool]string{false: "0", true: "1"}[strings.HasSuffix(link, "0")]
		say(another, text).Want(t, http.StatusNotFound, "This link does not work")
		say(link, text, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }).Want(t, http.StatusForbidden, "own pages")
		say(link, text, func(r *http.Request) { r.Header.Set("Origin", "https://elsewhere.example") }).Want(t, http.StatusForbidden, "own pages")
		for frame, field := range map[string]string{"3": "The frame must be", "": "The frame must be", "1.5": "The frame must be", "1; x": "The frame must be"} {
			say(link, url.Values{"frame": {frame}, "comment": {"<script>kept</script>"}}).Want(t, http.StatusBadRequest, field)
		}
		say(link, url.Values{"frame": {"2"}, "comment": {strings.Repeat("é", 1001)}}).Want(t, http.StatusBadRequest, "The comment must not be longer than 1000 characters")
		say(link, url.Values{"frame": {"2"}, "comment": {"a"}, "name": {strings.Repeat("x", 61)}}).Want(t, http.StatusBadRequest, "The name must not be longer than 60 characters")
		say(link, url.Values{"frame": {"1"}, "comment": {strings.Repeat("x", 70_000)}}).Want(t, http.StatusBadRequest, "")
		say(link, url.Values{"frame": {"1"}, "comment": {"</textarea><script>1</script>"}, "name": {strings.Repeat("x", 61)}}).Want(t, http.StatusBadRequest, "&lt;/textarea&gt;&lt;script&gt;")
		if seen := list(open.JobID); len(seen.Comments) > 0 {
			t.Fatalf("kept: %+v", seen)
		}
		story.Do(t, story.Request(t, http.MethodGet, svc.URL+"/v1/renders/"+open.JobID+"/comments", svc.Caller(0).Account.Secret, "")).Want(t, http.StatusNotFound, "render_not_found")

		// However many there are, the page of a frame stays small.
		const kept = 52
		for range kept {
			say(link, text).Want(t, http.StatusOK, "Too dark")
		}
		say(link, url.Values{"frame": {"2"}, "comment": {"fine"}}).Want(t, http.StatusOK, "fine")
		story.Get(t, http.MethodGet, link, nil).Want(t, http.StatusOK, "2 earlier comments are not shown")
		if seen := list(open.JobID); len(seen.Comments) != kept+1 {
			t.Errorf("%d are kept", len(seen.Comments))
		}

		// Closed comments are hidden, and the ended link takes none; the workspace keeps them.
		allow := func(body string) {
			story.Do(t, story.Request(t, http.MethodPut, svc.URL+"/v1/renders/"+open.JobID+"/share/comments", c.Account.Secret, body)).Want(t, http.StatusOK, `"ok":true`)
		}
		allow(`{"allowed":false}`)
		if page := story.Get(t, http.MethodGet, link, nil); strings.Contains(string(page.Body), "Too dark") {
			t.Error("closed comments are shown")
		}
		say(link, text).Want(t, http.StatusNotFound, "takes no comments")
		allow(`{"allowed":true}`)
		story.Get(t, http.MethodGet, link, nil).Want(t, http.StatusOK, "Too dark")
		story.Do(t, story.Request(t, http.MethodDelete, svc.URL+"/v1/renders/"+open.JobID+"/share", c.Account.Secret, "")).Want(t, http.StatusOK, "")
		say(link, text).Want(t, http.StatusNotFound, "This link does not work")
		if seen := list(open.JobID); len(seen.Comments) != kept+1 {
			t.Errorf("%d are left", len(seen.Comments))
		}
	})
}
