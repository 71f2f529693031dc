package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/issuer"
)

const startPath = "/v1/auth/oidc/start"

// eachIssuer runs test over a service with an issuer, and a fresh browser.
func eachIssuer(t *testing.T, test func(t *testing.T, s *service, i *issuer.Issuer, b *browser)) {
	dbtest.EachURL(t, func(t *testing.T, url string) {
		i := issuer.Open(t)
		s := start(t, url, i.Configure)
		test(t, s, i, newBrowser(t, s.base))
	})
}

// back is the address on which the issuer sends the browser back, not yet
// followed.
func (b *browser) back() *url.URL {
	b.t.Helper()
	b.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), b.base) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	defer func() { b.client.CheckRedirect = nil }()
	_, header, _ := b.fetch("GET", startPath, "text/html", body{})
	return mustParse(b.t, header.Get("Location"))
}

// refused follows an answer that must not sign anyone in.
func (b *browser) refused(path string) {
	b.t.Helper()
	if a := b.do("GET", path, body{}); a.status != 400 || a.code() != fault.SignInFailed || len(a.header["Set-Cookie"]) > 0 {
		b.t.Errorf("%s: %d %v %v", path, a.status, a.body, a.header["Set-Cookie"])
	}
	if a := b.do("GET", "/v1/auth/session", body{}); a.status != 401 {
		b.t.Errorf("a session: %d %v", a.status, a.body)
	}
}

func TestAPersonSignsInByTheIssuerAndIsKnownAgain(t *testing.T) {
	t.Parallel()
	eachIssuer(t, func(_ *testing.T, s *service, i *issuer.Issuer, b *browser) {
		i.Next("subject-1", "New@example.com", true)
		if status, _, page := b.see("GET", startPath, body{}); status != 200 || !strings.Contains(page, "new@example.com") {
			s.t.Fatalf("first: %d %s", status, page)
		}
		first := b.do("GET", "/v1/auth/session", body{})
		if first.text("email") != "new@example.com" || !strings.HasPrefix(first.text("workspace_id"), "WSP-") {
			s.t.Fatalf("session: %v", first.body)
		}
		if left := b.client.Jar.Cookies(mustParse(s.t, s.base+startPath)); len(left) != 1 {
			s.t.Errorf("the browser keeps %v", left)
		}
		i.Next("subject-1", "renamed@example.com", false) // the subject counts
		again := newBrowser(s.t, s.base)
		again.see("GET", startPath, body{})
		if a := again.do("GET", "/v1/auth/session", body{}); a.text("workspace_id") != first.text("workspace_id") {
			s.t.Errorf("again: %v", a.body)
		}
		if a := s.signedIn("new@example.com").do("GET", "/v1/auth/session", body{}); a.text("workspace_id") != first.text("workspace_id") {
			s.t.Errorf("by a link: %v", a.body)
		}
	})
}

func TestTheIssuersAnswerCountsOnceAndOnlyWhereItWasAskedFor(t *testing.T) {
	t.Parallel()
	eachIssuer(t, func(_ *testing.T, s *service, _ *issuer.Issuer, b *browser) {
		back := b.back()
		newBrowser(s.t, s.base).refused(back.RequestURI()) // another browser
		other := back.Query()
		other.Set("state", "another")
		b.refused(back.Path + "?" + other.Encode())
		b.refused(back.Path)
		b.refused(back.Path + "?error=access_denied&state=" + url.QueryEscape(back.Query().Get("state")))
		if status, _, page := b.see("GET", back.RequestURI(), body{}); status != 200 {
			s.t.Fatalf("the true answer: %d %s", status, page)
		}
		b.do("POST", "/v1/auth/sign-out", body{})
		b.refused(back.RequestURI()) // again
	})
}

func TestAFlowThatWasTamperedWithIsRefused(t *testing.T) {
	t.Parallel()
	eachIssuer(t, func(_ *testing.T, s *service, _ *issuer.Issuer, b *browser) {
		for part, name := range []string{"state", "nonce", "verifier"} {
			back := b.back()
			where := mustParse(s.t, s.base+startPath)
			for _, c := range b.client.Jar.Cookies(where) {
				parts := strings.Split(c.Value, ".")
				parts[part] = strings.Repeat("x", len(parts[part]))
				c.Value, c.Path = strings.Join(parts, "."), "/v1/auth/oidc"
				b.client.Jar.SetCookies(where, []*http.Cookie{c})
			}
			s.t.Log(name)
			b.refused(back.RequestURI())
		}
	})
}

func TestATokenThatIsNotTheIssuersForThisServiceNowIsRefused(t *testing.T) {
	t.Parallel()
	eachIssuer(t, func(_ *testing.T, s *service, i *issuer.Issuer, b *browser) {
		back := b.back()
		i.Set(func() { i.Public = &issuer.NewKey().PublicKey }) // published, but not signed with
		b.refused(back.RequestURI())
		i.Set(func() { i.Public = i.Published() })

		back = b.back()
		i.Set(func() { i.Skew = -24 * time.Hour }) // the token is of yesterday
		b.refused(back.RequestURI())
		i.Set(func() { i.Skew = 0 })

		i.Next("subject-2", "unverified@example.com", false)
		b.refused(b.back().RequestURI())
		i.Next("subject-3", "", true)
		b.refused(b.back().RequestURI())

		if status, _, page := b.see("GET", startPath, body{}); status != 200 {
			s.t.Errorf("a good one: %d %s", status, page)
		}
	})
}

// TestAForgedTokenIsRefused: the issuer accepts the code, and what it answers with differs in one
// thing from a good token.
func TestAForgedTokenIsRefused(t *testing.T) {
	t.Parallel()
	eachIssuer(t, func(_ *testing.T, s *service, i *issuer.Issuer, b *browser) {
		with := func(member string, value any) func(map[string]any) string {
			return func(claims map[string]any) string {
				claims[member] = value
				return i.Sign(claims)
			}
		}
		without := func(member string) func(map[string]any) string {
			return func(claims map[string]any) string {
				delete(claims, member)
				return i.Sign(claims)
			}
		}
		hashed := func(key []byte) func(map[string]any) string {
			return func(claims map[string]any) string {
				return issuer.Token("HS256", claims, func(text []byte) []byte {
					mac := hmac.New(sha256.New, key)
					mac.Write(text)
					return mac.Sum(nil)
				})
			}
		}
		unsigned := func(algorithm string) func(map[string]any) string {
			return func(claims map[string]any) string {
				return issuer.Token(algorithm, claims, func([]byte) []byte { return nil })
			}
		}
		published, err := x509.MarshalPKIXPublicKey(i.Published())
		if err != nil {
			s.t.Fatal(err)
		}
		forged := map[string]func(map[string]any) string{
			"another issuer":                    with("iss", "https://accounts.example.com"),
			"an issuer with a path":             with("iss", i.Address+"/other"),
			"no issuer":                         without("iss"),
			"another client":                    with("aud", "another-client"),
			"other clients":                     with("aud", []string{"another-client", "a-third"}),
			"no client":                         without("aud"),
			"another sign-in":                   with("nonce", "another-nonce"),
			"no sign-in":                        without("nonce"),
			"expired":                           with("exp", time.Now().Add(-time.Second).Unix()),
			"no end":                            without("exp"),
			"not valid yet":                     with("nbf", time.Now().Add(time.Hour).Unix()),
			"no signature":                      unsigned("none"),
			"no signature, in other letters":    unsigned("NONE"),
			"an empty signature":                unsigned("RS256"),
			"signed with the client's secret":   hashed([]byte(i.ClientSecret)),
			"signed with the published key":     hashed(published),
			"signed with the key's modulus":     hashed(i.Published().N.Bytes()),
			"no address and no vouching":        without("email_verified"),
			"an address verified by a number":   with("email_verified", 1),
			"an address verified by other text": with("email_verified", "TRUE "),
			"changed after it was signed": func(claims map[string]any) string {
				parts := strings.Split(i.Sign(claims), ".")
				claims["sub"] = "somebody else"
				parts[1] = strings.Split(i.Sign(claims), ".")[1]
				return strings.Join(parts, ".")
			},
			"no token": func(map[string]any) string { return "" },
		}
		for how, forge := range forged {
			back := b.back()
			i.Set(func() { i.Forge = forge })
			s.t.Log(how)
			b.refused(back.RequestURI())
			i.Set(func() { i.Forge = nil })
		}
		i.Set(func() { i.Forge = with("aud", []string{"another-client", i.ClientID}) })
		if status, _, page := b.see("GET", startPath, body{}); status != 200 {
			s.t.Errorf("a token for this client and others: %d %s", status, page)
		}
	})
}

func TestAnIssuerThatIsAwayIsAskedAgain(t *testing.T) {
	t.Parallel()
	eachIssuer(t, func(_ *testing.T, s *service, i *issuer.Issuer, b *browser) {
		i.Set(func() { i.Away = true })
		if a := b.do("GET", startPath, body{}); a.status != 503 || a.code() != fault.Unavailable || a.header.Get("Retry-After") == "" {
			s.t.Errorf("away: %d %v", a.status, a.body)
		}
		i.Set(func() { i.Away = false })
		if status, _, _ := b.see("GET", startPath, body{}); status != 200 {
			s.t.Errorf("back: %d", status)
		}
	})
}

func TestWithoutAnIssuerThereIsNothingToSignInBy(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(_ *testing.T, s *service, b *browser) {
		for _, path := range []string{startPath, "/v1/auth/oidc/callback?state=a&code=b"} {
			if a := b.do("GET", path, body{}); a.status != 404 || a.code() != fault.RouteNotFound {
				s.t.Errorf("%s: %d %v", path, a.status, a.body)
			}
		}
	})
}

func TestTheIssuerIsSentNoSecretAndAProofKey(t *testing.T) {
	t.Parallel()
	eachIssuer(t, func(_ *testing.T, s *service, i *issuer.Issuer, b *browser) {
		b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		status, header, text := b.fetch("GET", startPath, "text/html", body{})
		sent := mustParse(s.t, header.Get("Location"))
		q := sent.Query()
		if status != 303 || !strings.HasPrefix(sent.String(), i.Address) || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" ||
			q.Get("redirect_uri") != s.base+"/v1/auth/oidc/callback" || strings.Contains(sent.String(), i.ClientSecret) {
			s.t.Errorf("%d to %s: %s", status, sent, text)
		}
		cookie, err := http.ParseSetCookie(header.Get("Set-Cookie"))
		if err != nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/v1/auth/oidc" {
			s.t.Errorf("cookie %v, %v", cookie, err)
		}
		if _, verifier, _ := strings.Cut(strings.TrimPrefix(cookie.Value, q.Get("state")+"."), "."); verifier == "" || strings.Contains(sent.String(), verifier) {
			s.t.Errorf("the verifier %q is sent in the address", verifier)
		}
	})
}
