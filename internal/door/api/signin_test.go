package api_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/mailtest"
	"svc.example/internal/work/identity"
)

// lines is a log that hands on its lines.
type lines struct {
	slog.Handler
	out chan string
}

func (l lines) Enabled(context.Context, slog.Level) bool { return true }

func (l lines) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	l.out <- text
	return nil
}

// mailed has the service mail its links.
func mailed(t *testing.T, server *mailtest.Server, c *app.Config) {
	t.Helper()
	var err error
	if c.Mail, err = identity.NewMail("smtp://"+server.Address, "renders@svc.example"); err != nil {
		t.Fatal(err)
	}
}

// mailedToken returns the token of the next link that is mailed.
func mailedToken(t *testing.T, server *mailtest.Server, base string) string {
	t.Helper()
	message := await.Next(t, server.Messages, "the message").Text
	_, found, ok := strings.Cut(message, base+"/v1/auth/callback?token=")
	if !ok {
		t.Fatalf("there is no link in %s", message)
	}
	token, _, _ := strings.Cut(found, "\r\n")
	return token
}

func eachBrowser(t *testing.T, test func(t *testing.T, s *service, b *browser)) {
	shared.Each(t, func(t *testing.T, w *apptest.World) {
		s := join(t, w)
		test(t, s, newBrowser(t, s.base))
	})
}

func TestALinkIsAskedForSeenAndUsedByItsButton(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		server := mailtest.Open(t, mailtest.Plain)
		s := start(t, url, func(c *app.Config) { mailed(t, server, c) })
		b := newBrowser(t, s.base)
		if a := b.do("POST", "/v1/auth/link", jsonBody(`{"email":"New@Example.com"}`)); a.status != 202 || len(a.body) != 1 {
			t.Fatalf("ask: %d %v", a.status, a.body)
		}
		token := mailedToken(t, server, s.base)
		path := "/v1/auth/callback?token=" + token
		for range 2 { // looking does not use it up
			status, header, page := b.see("GET", path, body{})
			if status != 200 || !strings.Contains(page, `value="`+token+`"`) || !strings.Contains(page, "<strong>new@example.com</strong>") || len(header["Set-Cookie"]) > 0 {
				t.Fatalf("look: %d %s", status, page)
			}
			if header.Get("Referrer-Policy") != "same-origin" || header.Get("Cache-Control") != "no-store" || header.Get("Content-Security-Policy") == "" {
				t.Errorf("the page may leak its token: %v", header)
			}
		}
		if status, _, page := b.see("POST", path, form("token", token)); status != 200 || !strings.Contains(page, "new@example.com") {
			t.Fatalf("press: %d %s", status, page)
		}
		if a := b.do("GET", "/v1/auth/session", body{}); a.status != 200 || a.text("email") != "new@example.com" || !strings.HasPrefix(a.text("workspace_id"), "WSP-") {
			t.Fatalf("session: %d %v", a.status, a.body)
		}
		if status, _, page := b.see("POST", path, form("token", token)); status != 400 || !strings.Contains(page, "used") {
			t.Errorf("press again: %d %s", status, page)
		}
		if status, _, page := b.see("GET", path, body{}); status != 400 || !strings.Contains(page, "used") {
			t.Errorf("look again: %d %s", status, page)
		}
	})
}

// TestAHalfLinkIsToldByAPage: a mail reader that broke the address in two.
func TestAHalfLinkIsToldByAPage(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(_ *testing.T, s *service, b *browser) {
		for _, path := range []string{"/v1/auth/callback", "/v1/auth/callback?token="} {
			if status, _, page := b.see("GET", path, body{}); status != 400 || !strings.Contains(page, "Not signed in") || !strings.Contains(page, "new link") {
				s.t.Errorf("a browser at %s: %d %s", path, status, page)
			}
			if a := b.do("GET", path, body{}); a.status != 400 || a.code() != fault.LinkInvalid {
				s.t.Errorf("a program at %s: %d %v", path, a.status, a.body)
			}
		}
	})
}

func TestAskingForALinkTellsNothingAboutWhoExists(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(_ *testing.T, s *service, b *browser) {
		known := s.owner
		for _, email := range []string{known, somebody(), known, known, known, known} {
			if a := b.do("POST", "/v1/auth/link", jsonBody(`{"email":"`+email+`"}`)); a.status != 202 || len(a.body) != 1 {
				s.t.Errorf("%s: %d %v", email, a.status, a.body)
			}
		}
		for _, bad := range []string{`{}`, `{"email":""}`, `{"email":"nobody"}`, `{"email":"A <a@example.com>"}`, `{"email":"` + strings.Repeat("a", 250) + `@example.com"}`} {
			if a := b.do("POST", "/v1/auth/link", jsonBody(bad)); a.status != 400 || a.code() != fault.InvalidRequest {
				s.t.Errorf("%s: %d %s", bad, a.status, a.code())
			}
		}
	})
}

func TestAnotherSiteNeitherAsksForLinksNorSignsAnybodyIn(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(_ *testing.T, s *service, b *browser) {
		email := somebody()
		token := s.link(email)
		for path, content := range map[string]body{"/v1/auth/link": jsonBody(`{"email":"` + email + `"}`), "/v1/auth/callback": form("token", token)} {
			if a := b.elsewhere().do("POST", path, content); a.status != 403 || a.code() != fault.CrossOriginRefused {
				s.t.Errorf("%s: %d %s", path, a.status, a.code())
			}
		}
		b.signIn(token) // it was not used up
	})
}

func TestTheSessionCookieIsForTheBrowserAlone(t *testing.T) {
	t.Parallel()
	for public, secure := range map[string]bool{"https://svc.example": true, "": false} {
		eachOf := func(t *testing.T, s *service, b *browser) {
			a := b.do("POST", "/v1/auth/callback", form("token", s.link("a@example.com")))
			cookie, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
			if err != nil {
				t.Fatal(err)
			}
			name := contract.SessionCookie
			if secure {
				name = "__Host-" + name
			}
			if cookie.Name != name || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Secure != secure {
				t.Errorf("public URL %q: %s", public, cookie)
			}
			if left := time.Until(cookie.Expires); left > contract.SessionLife || left < contract.SessionLife-time.Minute {
				t.Errorf("it ends in %s", left)
			}
		}
		t.Run(public, func(t *testing.T) {
			t.Parallel()
			dbtest.EachURL(t, func(t *testing.T, url string) {
				s := start(t, url, func(c *app.Config) { c.PublicURL = public })
				eachOf(t, s, newBrowser(t, s.base))
			})
		})
	}
}

func TestSigningOutEndsTheSessionInEveryProcess(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		one := start(t, url)
		two := serve(t, one.app.Config)
		b := one.signedIn("a@example.com")
		stolen := b.client.Jar.Cookies(mustParse(t, one.base))
		if a := b.at(two.base).do("GET", "/v1/auth/session", body{}); a.status != 200 {
			t.Fatalf("before: %d", a.status)
		}
		if a := b.elsewhere().do("POST", "/v1/auth/sign-out", body{}); a.status != 403 || a.code() != fault.CrossOriginRefused {
			t.Errorf("by another site: %d %s", a.status, a.code())
		}
		if a := b.do("POST", "/v1/auth/sign-out", body{}); a.status != 200 {
			t.Fatalf("sign out: %d %v", a.status, a.body)
		}
		if left := b.client.Jar.Cookies(mustParse(t, one.base)); len(left) != 0 {
			t.Errorf("the browser keeps %v", left)
		}
		b.client.Jar.SetCookies(mustParse(t, one.base), stolen)
		for _, s := range []*service{one, two} {
			if a := b.at(s.base).do("GET", "/v1/auth/session", body{}); a.status != 401 || a.code() != fault.Unauthenticated {
				t.Errorf("a kept cookie: %d %s", a.status, a.code())
			}
		}
	})
}

func TestABrowserInspectsQuotesAndStartsByItsSession(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, s *service) {
		b := s.signedIn(s.owner)
		upload := "/node/v1/uploads/" + s.upload
		quote := b.do("POST", upload+"/quote", jsonBody(`{"frame_start":1,"frame_end":2}`))
		if quote.status != 200 {
			s.t.Fatalf("quote: %d %v", quote.status, quote.body)
		}
		terms := jsonBody(`{"quote_id":"` + quote.text("quote_id") + `","legal_acceptance":"SVC_LEGAL_V1"}`)
		if a := b.elsewhere().do("POST", upload+"/start", terms); a.status != 403 || a.code() != fault.CrossOriginRefused {
			s.t.Fatalf("another site spends: %d %s", a.status, a.code())
		}
		if a := s.signedIn(s.other).do("POST", upload+"/start", terms); a.status != 404 {
			s.t.Fatalf("another person spends: %d %s", a.status, a.code())
		}
		if a := b.do("POST", upload+"/start", terms); a.status != 200 || a.body["status"] != "queued" {
			s.t.Fatalf("start: %d %v", a.status, a.body)
		}
	})
}

func TestNoLogShowsASignInLink(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		server := mailtest.Open(t, mailtest.Plain)
		out := make(chan string, 1000)
		s := start(t, url, func(c *app.Config) {
			c.Log = slog.New(lines{slog.DiscardHandler, out})
			mailed(t, server, c)
		})
		newBrowser(t, s.base).do("POST", "/v1/auth/link", jsonBody(`{"email":"new@example.com"}`))
		mailedToken(t, server, s.base)
		noLinkUntil(t, out, "/v1/auth/link") // the request's own line
	})
}

func TestWithoutAMailServerTheLogSaysWhoAsksAndShowsNoLink(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		out := make(chan string, 1000)
		s := start(t, url, func(c *app.Config) { c.Log = slog.New(lines{slog.DiscardHandler, out}) })
		newBrowser(t, s.base).do("POST", "/v1/auth/link", jsonBody(`{"email":"new@example.com"}`))
		noLinkUntil(t, out, "svc admin sign-in-link and pass it on email=new@example.com")
	})
}

// noLinkUntil reads a log up to a line that holds last, and fails for a link in it.
func noLinkUntil(t *testing.T, out <-chan string, last string) {
	t.Helper()
	for {
		line := await.Next(t, out, "the line of "+last)
		if strings.Contains(line, "token=") {
			t.Errorf("the log shows %s", line)
		}
		if strings.Contains(line, last) {
			return
		}
	}
}
