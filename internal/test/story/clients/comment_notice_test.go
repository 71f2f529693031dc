package clients_test

import (
	"bytes"
	"image/jpeg"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// TestAnArtistIsMailedAboutHostileCommentsAndSeesNoneOfTheirText is told over a real SMTP server: a
// visitor floods a shared job with header lines, markup and links; the artist gets one mail, which
// has none of it, shows the frame of the newest comment and leads to the comments.
func TestAnArtistIsMailedAboutHostileCommentsAndSeesNoneOfTheirText(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		server := mailing(t, &config)
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		artist := signInByMail(t, svc, c, server)
		stop := svc.Worker(&story.Painter{})
		done := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
		stop()
		pass(time.Minute)
		await.Next(t, server.Messages, "the mail about the job")

		var made struct {
			ShareURL string `json:"share_url"`
		}
		story.Send(t, story.Request(t, http.MethodPost, svc.URL+"/v1/renders/"+done.JobID+"/share", c.Account.Secret, `{"comments":true}`), &made)
		hostile := []string{
			"Nice.\r\nBcc: victim@example.com\r\n\r\nA second body",
			`<script>alert(1)</script><img src="https://evil.example/pixel.png"> <a href="https://evil.example/login">Sign in again</a>`,
			"=?utf-8?B?QmNjOiB2aWN0aW1AZXhhbXBsZS5jb20=?= \r\n.\r\nMAIL FROM:<evil@evil.example>",
		}
		for _, text := range hostile {
			r := story.Request(t, http.MethodPost, made.ShareURL+"/comments", "", url.Values{"frame": {"2"}, "comment": {text}, "name": {`Support <help@evil.example>`}}.Encode())
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept", "text/html")
			story.Do(t, r).Want(t, http.StatusOK, "")
		}
		pass(time.Hour)
		sent := await.Next(t, server.Messages, "the mail about the comments")
		header, parts := readMail(t, sent.Text)
		if subject := header.Get("Subject"); subject != done.Filename+": 3 new comments" {
			t.Errorf("the subject is %q", subject)
		}
		if len(header["To"]) != 1 || header.Get("Bcc") != "" || header.Get("Cc") != "" {
			t.Errorf("it goes to %q, %q, %q", header["To"], header["Bcc"], header["Cc"])
		}
		link := svc.URL + "/console/jobs/" + done.JobID + "/comments"
		for _, kind := range []string{"text/plain", "text/html"} {
			if !strings.Contains(string(parts[kind]), link) {
				t.Errorf("%s lacks %q: %s", kind, link, parts[kind])
			}
			for _, foreign := range []string{"evil", "victim", "script", "Nice", "second body", "Support", "Sign in again", "QmNj"} {
				if strings.Contains(string(parts[kind]), foreign) {
					t.Errorf("%s has %q of a visitor: %s", kind, foreign, parts[kind])
				}
			}
		}
		if !strings.Contains(string(parts["text/html"]), `src="cid:picture0"`) {
			t.Errorf("the mail shows no picture: %s", parts["text/html"])
		}
		if picture, err := jpeg.Decode(bytes.NewReader(parts["image/jpeg"])); err != nil || picture.Bounds().Empty() || picture.Bounds().Dx() > 480 {
			t.Errorf("the picture of the frame: %v", err)
		}
		shown := story.Get(t, http.MethodGet, svc.URL+"/v1/renders/"+done.JobID+"/frames/2/preview", http.Header{"Authorization": {"Bearer " + c.Account.Secret}})
		if !bytes.Equal(shown.Body, parts["image/jpeg"]) {
			t.Error("the picture is not that of frame 2")
		}
		page := see(t, artist, http.MethodGet, link, nil)
		for _, part := range []string{"A second body", "&lt;script&gt;", "Support &lt;help@evil.example&gt;"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page of comments that the mail opens lacks %q", part)
			}
		}
		if strings.Contains(page, "<script>alert") || strings.Contains(page, `href="https://evil.example`) {
			t.Error("the page of comments has a visitor's markup")
		}
	})
}
