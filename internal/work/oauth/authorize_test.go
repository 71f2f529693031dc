package oauth_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/oauth"
)

const mcp = public + "/mcp"

func TestAProgramGetsAKeyWithTheLimitThatThePersonChose(t *testing.T) {
	each(t, func(s service) {
		answer := s.allow(s.question())
		if answer.Get("state") != "a b&c" || answer.Get("iss") != public || answer.Get("from") != "svc" {
			s.t.Errorf("answered with %v", answer)
		}
		if len(s.keys()) != 0 {
			s.t.Error("there is a key before the program has come for it")
		}
		tokens, err := s.Token(s.t.Context(), s.redemption(answer.Get("code")))
		if err != nil || tokens.TokenType != "Bearer" || tokens.ExpiresIn != 3600 || tokens.Scope != "render:read render:spend" {
			s.t.Fatalf("%+v, %v", tokens, err)
		}
		if !s.opens(tokens.AccessToken, mcp) {
			s.t.Error("the token does not work")
		}
		k := s.keys()
		if len(k) != 1 || *k[0].SpendLimitCents != 1000 || k[0].ExpiresAt.Sub(k[0].CreatedAt) != 30*24*time.Hour || k[0].Name != strings.TrimPrefix(s.program.URL, "https://")+" (Painter)" {
			s.t.Errorf("the key is %+v", k)
		}
	})
}

func TestAnswersGoOnlyWhereTheProgramSaysLetterByLetter(t *testing.T) {
	t.Parallel()
	known := []string{"https://app.example/back", "http://127.0.0.1/back", "http://[::1]:99/back?a=b", "http://localhost:7/x", "cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/back"}
	for to, good := range map[string]bool{
		"https://app.example/back": true, "http://127.0.0.1/back": true, "http://127.0.0.1:1234/back": true, "http://[::1]:5/back?a=b": true, "http://localhost/x": true,
		"https://app.example/back/": false, "https://app.example/back?x": false, "https://app.example:443/back": false, "https://APP.example/back": false,
		"http://app.example/back": false, "https://app.example.evil.example/back": false, "https://evil.example/https://app.example/back": false,
		"https://app.example@evil.example/back": false, "https://user@app.example/back": false, "https://app.example/back#x": false, "https://app.example/back#": false,
		"https://app.example/../back": false, "https://app.example/%62ack": false, "https://app.example\\@evil.example/back": false,
		"http://127.0.0.1/other": false, "http://127.0.0.1:1234/back?x": false, "http://127.0.0.1.evil.example/back": false, "http://127.0.0.2/back": false,
		"https://127.0.0.1/back": false, "http://localhost/back": false, "http://2130706433/back": false, "http://[::1]/back": false, "http://127.0.0.1:1@evil.example/back": false,
		"cursor://anysphere.cursor-mcp/oauth/callback": true, "com.example.app:/back": true, "cursor://anysphere.cursor-mcp/oauth/callback/": false,
		"cursor://other/oauth/callback": false, "CURSOR://anysphere.cursor-mcp/oauth/callback": false, "com.example.app:/back?x": false, "com.example.app:back": false,
		"javascript:alert(1)": false, "data:text/html,x": false, "//app.example/back": false, "/back": false, "": false, " https://app.example/back": false, "https://app.example/back\n": false,
	} {
		if oauth.Matches(known, to) != good {
			t.Errorf("%q matches: %v", to, !good)
		}
	}
}

func FuzzAnAnswerNeverLeavesTheHostsOfAProgram(f *testing.F) {
	known := []string{"https://app.example/back", "http://127.0.0.1/back"}
	for _, seed := range []string{known[0], "http://127.0.0.1:80/back", "https://app.example/back@evil", "http://127.0.0.1:0@x/back"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, to string) {
		if !oauth.Matches(known, to) {
			return
		}
		u, err := url.Parse(to)
		if err != nil || (u.Hostname() != "app.example" && u.Hostname() != "127.0.0.1") || u.User != nil || u.Path != "/back" {
			t.Errorf("%q matches", to)
		}
	})
}

func TestAWrongAddressOrClientIsToldToThePersonAndSentNowhere(t *testing.T) {
	each(t, func(s service) {
		for name, q := range map[string]url.Values{
			"another address":    s.question("redirect_uri", "https://evil.example/"),
			"no address":         s.question("redirect_uri", ""),
			"no client":          s.question("client_id", ""),
			"a name":             s.question("client_id", "painter"),
			"http":               s.question("client_id", "http://app.example/client.json"),
			"no path":            s.question("client_id", "https://app.example"),
			"dot segments":       s.question("client_id", "https://app.example/a/../client.json"),
			"a query":            s.question("client_id", "https://app.example/client.json?x"),
			"a user":             s.question("client_id", "https://a@app.example/client.json"),
			"two clients":        {"client_id": {s.program.id(), s.program.id()}, "redirect_uri": {redirect}},
			"two addresses":      {"client_id": {s.program.id()}, "redirect_uri": {redirect, redirect}},
			"svc to another one": s.question("client_id", oauth.CommandLine),
			"the add-on":         s.question("client_id", oauth.BlenderAddOn, "redirect_uri", "http://127.0.0.1/"),
		} {
			if _, err := s.Read(s.t.Context(), q); !fault.Is(err, fault.InvalidRequest) {
				s.t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestWhatElseIsWrongIsToldToTheProgramWithStateAndIssuer(t *testing.T) {
	each(t, func(s service) {
		for name, c := range map[string]struct {
			code string
			q    url.Values
		}{
			"no PKCE":          {"invalid_request", s.question("code_challenge", "", "code_challenge_method", "")},
			"plain PKCE":       {"invalid_request", s.question("code_challenge", verifier, "code_challenge_method", "plain")},
			"no method":        {"invalid_request", s.question("code_challenge_method", "")},
			"a short one":      {"invalid_request", s.question("code_challenge", "abc")},
			"a token":          {"unsupported_response_type", s.question("response_type", "token")},
			"another resource": {"invalid_target", s.question("resource", "https://other.example/mcp")},
		} {
			// An address on another host than the description's could belong to
			// anyone.
			if _, err := s.Read(s.t.Context(), c.q); !fault.Is(err, fault.InvalidRequest) {
				s.t.Errorf("%s: sent to another host: %v", name, err)
			}
			c.q.Set("redirect_uri", "http://127.0.0.1/back")
			r, err := s.Read(s.t.Context(), c.q)
			e, is := errors.AsType[*oauth.Error](err)
			if !is || e.Code != c.code {
				s.t.Errorf("%s: %v", name, err)
				continue
			}
			u, err := url.Parse(s.Refused(r, e))
			if err != nil || u.Host != "127.0.0.1" || u.Query().Get("error") != c.code || u.Query().Get("state") != "a b&c" || u.Query().Get("iss") != public || u.Query().Has("code") {
				s.t.Errorf("%s: sent to %v", name, u)
			}
		}
		twice := s.question()
		twice["state"] = []string{"a", "b"}
		if _, err := s.Read(s.t.Context(), twice); err == nil {
			s.t.Error("two states were taken")
		}
	})
}

func TestADescriptionIsReadOnlyFromPublicAddressesAndBounded(t *testing.T) {
	each(t, func(s service) {
		ok := s.program.described()
		change := func(member string, value any) http.HandlerFunc {
			d := s.program.described()
			d[member] = value
			s.program.describe(d)
			return *s.program.document.Load()
		}
		bad := map[string]http.HandlerFunc{
			"another client_id": change("client_id", "https://app.example/client.json"),
			"a secret":          change("client_secret", "x"),
			"a secret method":   change("token_endpoint_auth_method", "client_secret_basic"),
			"no redirects":      change("redirect_uris", []string{}),
			"too many":          change("redirect_uris", strings.Split(strings.Repeat("https://a.example/ ", 21), " ")),
			"javascript":        change("redirect_uris", []string{"javascript:alert(1)"}),
			"plain http":        change("redirect_uris", []string{"http://app.example/back"}),
			"huge":              change("padding", strings.Repeat("x", 6<<10)),
			"no JSON":           func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
			"not there":         http.NotFound,
			"redirecting": func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, s.program.URL+"/other", http.StatusFound)
			},
			"endless": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusOK)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			},
		}
		for name, document := range bad {
			s.program.serve(document)
			if _, err := s.Read(s.t.Context(), s.question()); !fault.Is(err, fault.InvalidRequest) {
				s.t.Errorf("%s: %v", name, err)
			}
		}
		s.program.describe(ok)
		if _, err := s.Read(s.t.Context(), s.question()); err != nil {
			s.t.Errorf("a refusal is kept: %v", err)
		}
	})
}

func TestADescriptionIsNeverReadFromInside(t *testing.T) {
	t.Parallel()
	clients := oauth.NewClients(outbound.New(outbound.Config{}), nil) // the rule as published
	p, _ := newProgram(t)
	for _, host := range []string{
		strings.TrimPrefix(p.URL, "https://"), "localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "192.168.1.1", "169.254.169.254", "[fd00::1]", "2130706433", "0x7f.1", "0.0.0.0", "app.example:22",
	} {
		if _, err := clients.Get(t.Context(), "https://"+host+"/client.json"); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if p.reads.Load() != 0 {
		t.Error("it was read")
	}
}

func TestADescriptionIsReadOnceInFiveMinutesAndWhatThePersonSawCounts(t *testing.T) {
	each(t, func(s service) {
		code := s.allow(s.question()).Get("code")
		changed := s.program.described()
		changed["redirect_uris"] = []string{"https://evil.example/back"}
		s.program.describe(changed)
		if _, err := s.Read(s.t.Context(), s.question("redirect_uri", "https://evil.example/back")); err == nil {
			s.t.Error("an address was added while a person looked")
		}
		if _, err := s.Token(s.t.Context(), s.redemption(code)); err != nil {
			s.t.Errorf("the code: %v", err)
		}
		if n := s.program.reads.Load(); n != 1 {
			s.t.Errorf("it was read %d times", n)
		}
	})
}

func TestANameCannotLookLikeAnother(t *testing.T) {
	each(t, func(s service) {
		for name, shown := range map[string]string{
			"Сlaude": "?laude", "Pa\u202einter": "Pa?inter", "  ": "no name", strings.Repeat("a", 200): strings.Repeat("a", 60), "a\nb": "a?b",
		} {
			d := s.program.described()
			d["client_name"] = name
			s.program.describe(d)
			clients := oauth.NewClients(outbound.New(guardOf(s)), nil)
			c, err := clients.Get(s.t.Context(), s.program.id())
			if err != nil || c.Name != shown || c.Host != strings.TrimPrefix(s.program.URL, "https://") || len(c.KeyName()) > contract.MaxKeyName {
				s.t.Errorf("%q is shown as %+v, %v", name, c, err)
			}
		}
		if _, err := s.Read(s.t.Context(), s.question("client_id", "https://аpp.example/client.json")); !fault.Is(err, fault.InvalidRequest) {
			s.t.Errorf("a host in other letters: %v", err)
		}
	})
}

func TestAFullWorkspaceLetsNobodyIn(t *testing.T) {
	each(t, func(s service) {
		early := s.allow(s.question()).Get("code")
		for range contract.MaxActiveKeys {
			s.tokens()
		}
		r, err := s.Read(s.t.Context(), s.question())
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.Allow(s.t.Context(), r, oauth.Terms{WorkspaceID: s.workspace, Days: 1}); !fault.Is(err, fault.KeyLimitReached) {
			s.t.Errorf("allowed: %v", err)
		}
		s.refused("an earlier code", oauth.InvalidGrant, s.redemption(early))
		for _, terms := range []oauth.Terms{{Days: 0}, {Days: 366}, {Days: -1}, {Days: 1, SpendLimitCents: -1}} {
			if _, err := s.Allow(s.t.Context(), r, terms); !fault.Is(err, fault.InvalidRequest) {
				s.t.Errorf("%+v: %v", terms, err)
			}
		}
	})
}

func TestScopesAndResourcesAreThoseThatThePersonSaw(t *testing.T) {
	each(t, func(s service) {
		reads := s.tokens("scope", "render:read")
		p, err := identity.Agent(s.t.Context(), s.DB, "Bearer "+reads.AccessToken, mcp)
		if err != nil || reads.Scope != "render:read" || !fault.Is(p.Require(identity.ScopeSpend), fault.InsufficientScope) {
			s.t.Errorf("%+v, %v", p, err)
		}
		for _, c := range []struct {
			asked       []string
			tools, http bool
		}{{nil, true, false}, {[]string{mcp}, true, false}, {[]string{public}, false, true}, {[]string{public + "/", mcp}, true, true}} {
			q := s.question()
			if c.asked != nil {
				q["resource"] = c.asked
			}
			t, err := s.Token(s.t.Context(), s.redemption(s.allow(q).Get("code")))
			if err != nil || s.opens(t.AccessToken, mcp) != c.tools || s.opens(t.AccessToken, public) != c.http || s.opens(t.AccessToken, "https://other.example") {
				s.t.Errorf("%v: %v", c.asked, err)
			}
		}
	})
}
