package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
)

// browser is a person's browser, as far as the service sees it: it keeps
// cookies, and says which page a request is from.
type browser struct {
	t      *testing.T
	base   string
	client *http.Client
	from   http.Header // sent with every request
}

func newBrowser(t *testing.T, base string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, base: base, client: &http.Client{Jar: jar, Transport: checked{t}}, from: http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {base}}}
}

// signedIn gives the browser of a person who has opened a one-time link.
func (s *service) signedIn(email string) *browser {
	s.t.Helper()
	b := newBrowser(s.t, s.base)
	b.signIn(s.link(email))
	return b
}

// link makes the token of a one-time link.
func (s *service) link(email string) (token string) {
	s.t.Helper()
	ctx := context.Background()
	err := s.app.DB.Write(ctx, func(tx *db.Tx) (err error) {
		token, err = identity.CreateSignInLink(ctx, tx, email)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

func (b *browser) signIn(token string) {
	b.t.Helper()
	if a := b.do("POST", "/v1/auth/callback", form("token", token)); a.status != 200 {
		b.t.Fatalf("sign in: %d %v", a.status, a.body)
	}
}

// elsewhere is the same browser showing another site's page.
func (b *browser) elsewhere() *browser {
	other := *b
	other.from = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://elsewhere.example"}}
	return &other
}

// at is the same browser asking another process of the service.
func (b *browser) at(base string) *browser {
	other := *b
	other.base, other.from = base, http.Header{"Sec-Fetch-Site": {"same-origin"}}
	return &other
}

// form is what a page's form sends.
func form(name, value string) body {
	return body{"application/x-www-form-urlencoded", []byte(url.Values{name: {value}}.Encode())}
}

// do is what the page's own script asks for.
func (b *browser) do(method, path string, content body) answer {
	b.t.Helper()
	status, header, text := b.fetch(method, path, "*/*", content)
	a := answer{t: b.t, status: status, header: header}
	if err := json.Unmarshal([]byte(text), &a.body); err != nil {
		b.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if ok := status < 300; a.body["ok"] != ok {
		b.t.Errorf("%s %s: %d with ok %v", method, path, status, a.body["ok"])
	}
	return a
}

// see is what the person goes to, or sends by a button.
func (b *browser) see(method, path string, content body) (status int, header http.Header, page string) {
	b.t.Helper()
	status, header, page = b.fetch(method, path, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", content)
	if !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
		b.t.Fatalf("%s %s: %d %s", method, path, status, page)
	}
	return status, header, page
}

func (b *browser) fetch(method, path, accept string, content body) (status int, header http.Header, text string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, bytes.NewReader(content.data))
	if err != nil {
		b.t.Fatal(err)
	}
	for name, values := range b.from {
		r.Header[name] = values
	}
	r.Header.Set("Accept", accept)
	if content.kind != "" {
		r.Header.Set("Content-Type", content.kind)
	}
	res, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(read)
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
