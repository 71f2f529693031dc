package clients_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image/jpeg"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/test/mailtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
)

// TestAnArtistIsMailedAndOpensTheJobFromIt signs in by mail, renders, opens the job from the mail
// and ends the mails from it, as a mail program does.
func TestAnArtistIsMailedAndOpensTheJobFromIt(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		server := mailing(t, &config)
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		artist := signInByMail(t, svc, c, server)
		settings := func(part string) {
			t.Helper()
			if page := see(t, artist, http.MethodGet, svc.URL+"/console/settings", nil); !strings.Contains(page, part) {
				t.Errorf("the settings lack %q", part)
			}
		}
		settings("Stop these e-mails")

		stop := svc.Worker(&story.Painter{})
		done := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
		stop()
		pass(time.Minute)
		header, parts := readMail(t, await.Next(t, server.Messages, "the mail about the job").Text)
		if subject := header.Get("Subject"); subject != done.Filename+": 2 frames rendered" {
			t.Errorf("the subject is %q", subject)
		}
		for _, kind := range []string{"text/plain", "text/html"} {
			for _, part := range []string{"2 frames, $0.02 paid", svc.URL + "/console/jobs/" + done.JobID} {
				if !strings.Contains(string(parts[kind]), part) {
					t.Errorf("%s lacks %q: %s", kind, part, parts[kind])
				}
			}
		}
		if picture, err := jpeg.Decode(bytes.NewReader(parts["image/jpeg"])); err != nil || picture.Bounds().Empty() {
			t.Errorf("the picture: %v", err)
		}
		if page := see(t, artist, http.MethodGet, svc.URL+"/console/jobs/"+done.JobID, nil); !strings.Contains(page, done.Filename) {
			t.Error("the address in the mail does not open the job")
		}

		unsubscribe := strings.Trim(header.Get("List-Unsubscribe"), "<>")
		if header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" || !strings.Contains(string(parts["text/plain"]), unsubscribe) {
			t.Errorf("the mails end at %q", unsubscribe)
		}
		story.Get(t, http.MethodGet, unsubscribe, nil).Want(t, http.StatusOK, "Stop these e-mails")
		settings("Stop these e-mails") // looking at the page ended nothing
		for _, forged := range []string{unsubscribe[:len(unsubscribe)-1] + story.Flipped(unsubscribe[len(unsubscribe)-1:]), strings.Replace(unsubscribe, "PER-", "PER-0", 1), unsubscribe[:strings.Index(unsubscribe, "?")]} {
			story.Get(t, http.MethodPost, forged, nil).Want(t, http.StatusUnauthorized, "")
		}
		settings("Stop these e-mails")
		story.Get(t, http.MethodPost, unsubscribe, nil).Want(t, http.StatusOK, "no more e-mails")
		settings("E-mail me when a job ends")
		see(t, artist, http.MethodPost, svc.URL+"/console/settings/mails", url.Values{"on": {"yes"}})
		settings("Stop these e-mails")
		see(t, artist, http.MethodPost, svc.URL+"/console/settings/mails", url.Values{"on": {"no"}})
		settings("E-mail me when a job ends")
	})
}

// TestALinkFromTheOperatorProvesNoAddress: only a link that came by mail verifies an address.
func TestALinkFromTheOperatorProvesNoAddress(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		mailing(t, &config)
		svc := story.Start(t, config)
		page := see(t, press(t, svc, operatorsLink(svc, svc.Caller(0))), http.MethodGet, svc.URL+"/console/settings", nil)
		if !strings.Contains(page, "as soon as you have signed in with a link that we sent to") {
			t.Error("the settings offer mails to an address that is not verified")
		}
	})
}

// TestWithoutAMailServerNobodyIsOfferedMails.
func TestWithoutAMailServerNobodyIsOfferedMails(t *testing.T) {
	t.Parallel()
	svc := story.SharedOn(t, "sqlite")
	c := svc.Caller(0)
	if page := see(t, press(t, svc, operatorsLink(svc, c)), http.MethodGet, svc.URL+"/console/settings", nil); !strings.Contains(page, "Proof pages") || strings.Contains(page, "E-mail") {
		t.Error("the settings offer mails that nothing sends")
	}
}

// mailing gives a configuration a mail server.
func mailing(t *testing.T, config *app.Config) *mailtest.Server {
	t.Helper()
	server := mailtest.Open(t, mailtest.Plain)
	var err error
	if config.Mail, err = identity.NewMail("smtp://"+server.Address, "Renders <renders@svc.example>"); err != nil {
		t.Fatal(err)
	}
	return server
}

// operatorsLink is the token of a sign-in link that an operator makes for the caller's person.
func operatorsLink(svc *story.Service, c story.Caller) (token string) {
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.Workspace)
		if err == nil {
			token, err = identity.CreateSignInLink(ctx, tx, emails[0])
		}
		return err
	})
	return token
}

// signInByMail signs the caller's person in, by a link from the mail server.
func signInByMail(t *testing.T, svc *story.Service, c story.Caller, server *mailtest.Server) *http.Client {
	t.Helper()
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, c.Workspace)
		if err == nil {
			err = identity.RequestLink(ctx, tx, emails[0])
		}
		return err
	})
	_, token, _ := strings.Cut(await.Next(t, server.Messages, "the sign-in link").Text, "/v1/auth/callback?token=")
	token, _, _ = strings.Cut(token, "\r\n")
	return press(t, svc, token)
}

// press presses the button behind a sign-in link.
func press(t *testing.T, svc *story.Service, token string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	see(t, browser, http.MethodPost, svc.URL+"/v1/auth/callback?token="+token, url.Values{"token": {token}})
	return browser
}

// see opens a page or sends a form in a browser, and returns the page that is shown then.
func see(t *testing.T, browser *http.Client, method, address string, form url.Values) string {
	t.Helper()
	req := story.Request(t, method, address, "", form.Encode())
	req.Header.Del("Authorization")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	res, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s, %v: %s", method, address, res.Status, err, page)
	}
	return string(page)
}

// readMail returns the headers of a mail, and its parts by media type.
func readMail(t *testing.T, text string) (mail.Header, map[string][]byte) {
	t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string][]byte{}
	if err := readParts(message.Header.Get("Content-Type"), message.Body, parts); err != nil {
		t.Fatal(err)
	}
	return message.Header, parts
}

func readParts(kind string, body io.Reader, into map[string][]byte) error {
	media, how, err := mime.ParseMediaType(kind)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(media, "multipart/") {
		into[media], err = io.ReadAll(body)
		return err
	}
	parts := multipart.NewReader(body, how["boundary"])
	for {
		part, err := parts.NextPart() // decodes quoted-printable
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var content io.Reader = part
		if part.Header.Get("Content-Transfer-Encoding") == "base64" {
			content = base64.NewDecoder(base64.StdEncoding, part)
		}
		if err := readParts(part.Header.Get("Content-Type"), content, into); err != nil {
			return err
		}
	}
}
