package oauth_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/oauth"
)

// registering are clients that may register automatically; the first of keys seals.
func registering(t *testing.T, keys ...byte) *oauth.Clients {
	t.Helper()
	var all [][]byte
	for _, k := range keys {
		all = append(all, []byte(strings.Repeat(string(rune('a'+k)), 32)))
	}
	sealed, err := seal.New(all...)
	if err != nil {
		t.Fatal(err)
	}
	return oauth.NewClients(outbound.New(outbound.Config{}), sealed)
}

// described is a description as a program sends it.
func described(t *testing.T, name string, redirects ...string) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": redirects, "token_endpoint_auth_method": "client_secret_basic", "grant_types": []string{"password"}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestARegisteredProgramGetsAKeyLikeAnyOther(t *testing.T) {
	each(t, func(s service) {
		s.Clients = registering(s.t, 0)
		r, err := s.Clients.Register(described(s.t, "Painter\u0430", redirect), time.Now())
		if err != nil || r.Auth != "none" || r.Name != "Painter?" || strings.Join(r.GrantTypes, " ") != strings.Join(oauth.GrantTypes(), " ") || len(r.Redirects) != 1 {
			s.t.Fatalf("%+v, %v", r, err)
		}
		tokens, err := s.Token(s.t.Context(), s.redemption(s.allow(s.question("client_id", r.ClientID)).Get("code"), "client_id", r.ClientID))
		if err != nil || !s.opens(tokens.AccessToken, mcp) {
			s.t.Fatalf("%+v, %v", tokens, err)
		}
		if k := s.keys(); len(k) != 1 || k[0].Name != "Painter? (self-registered)" {
			s.t.Errorf("the key is %+v", k)
		}
		again, err := s.Clients.Register(described(s.t, "Painter", redirect), time.Now())
		if err != nil {
			s.t.Fatal(err)
		}
		s.refused("another program's refresh token", "invalid_grant", s.refreshing(tokens.RefreshToken, "client_id", again.ClientID))
	})
}

func TestARegistrationSaysNothingThatItsServiceDidNotSeal(t *testing.T) {
	each(t, func(s service) {
		s.Clients = registering(s.t, 0)
		good, err := s.Clients.Register(described(s.t, "Painter", redirect), time.Now())
		if err != nil {
			s.t.Fatal(err)
		}
		elsewhere, err := registering(s.t, 1).Register(described(s.t, "Painter", redirect), time.Now())
		if err != nil {
			s.t.Fatal(err)
		}
		for name, id := range map[string]string{
			"another service's": elsewhere.ClientID, "cut": good.ClientID[:len(good.ClientID)-2], "longer": good.ClientID + "AA",
			"changed": strings.Replace(good.ClientID, "v1.", "v2.", 1), "without its seal": "registered.", "bare": strings.TrimPrefix(good.ClientID, "registered."),
		} {
			if err := s.Clients.Known(id); err == nil {
				s.t.Errorf("%s is known", name)
			}
			if _, err := s.Read(s.t.Context(), s.question("client_id", id)); !fault.Is(err, fault.InvalidRequest) {
				s.t.Errorf("%s: %v", name, err)
			}
			s.refused(name, "invalid_client", s.refreshing("svc_refresh_x", "client_id", id))
		}
		rotated := registering(s.t, 1, 0)
		if err := rotated.Known(good.ClientID); err != nil {
			s.t.Errorf("after a rotation of keys: %v", err)
		}
		closed := oauth.NewClients(outbound.New(outbound.Config{}), nil)
		if err := closed.Known(good.ClientID); err == nil {
			s.t.Error("it is known although registration is off")
		}
		if _, err := closed.Register(described(s.t, "Painter", redirect), time.Now()); err == nil {
			s.t.Error("it registers although registration is off")
		}
	})
}

func TestWhatCannotBeRegisteredIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	clients := registering(t, 0)
	for name, c := range map[string]struct {
		code        string
		description []byte
	}{
		"no JSON":         {"invalid_client_metadata", []byte("client_name=x")},
		"a list":          {"invalid_client_metadata", []byte("[]")},
		"a number":        {"invalid_client_metadata", []byte(`{"redirect_uris":[1]}`)},
		"none":            {"invalid_redirect_uri", described(t, "x")},
		"21 addresses":    {"invalid_redirect_uri", described(t, "x", strings.Split(strings.Repeat("https://a.example/ ", 20)+"https://a.example/", " ")...)},
		"javascript":      {"invalid_redirect_uri", described(t, "x", "javascript:alert(1)")},
		"plain http":      {"invalid_redirect_uri", described(t, "x", "http://app.example/")},
		"an own scheme":   {"invalid_redirect_uri", described(t, "x", "app:back")},
		"a fragment":      {"invalid_redirect_uri", described(t, "x", "https://app.example/#x")},
		"a user":          {"invalid_redirect_uri", described(t, "x", "https://a@app.example/")},
		"one good, a bad": {"invalid_redirect_uri", described(t, "x", redirect, "//app.example")},
		"too long":        {"invalid_client_metadata", described(t, "x", "https://app.example/"+strings.Repeat("x", 1000))},
	} {
		_, err := clients.Register(c.description, time.Now())
		if e, is := errors.AsType[*oauth.Error](err); !is || e.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	longest, err := clients.Register(described(t, strings.Repeat("n", 60), "https://app.example/"+strings.Repeat("x", 890)), time.Now())
	if err != nil || len(longest.ClientID) > 1500 {
		t.Errorf("the longest has %d bytes: %v", len(longest.ClientID), err)
	}
}

// What is wrong with the question of a registered program is never sent on: any address can
// be registered, so the service would send browsers anywhere.
func TestARegisteredProgramMakesNoRedirector(t *testing.T) {
	each(t, func(s service) {
		s.Clients = registering(s.t, 0)
		r, err := s.Clients.Register(described(s.t, "x", "https://evil.example/"), time.Now())
		if err != nil {
			s.t.Fatal(err)
		}
		ask := func(more ...string) url.Values {
			return s.question(append([]string{"client_id", r.ClientID, "redirect_uri", "https://evil.example/"}, more...)...)
		}
		for name, q := range map[string]url.Values{
			"no PKCE": ask("code_challenge", ""), "a token": ask("response_type", "token"), "another resource": ask("resource", "https://other.example"),
		} {
			if _, err := s.Read(s.t.Context(), q); !fault.Is(err, fault.InvalidRequest) {
				s.t.Errorf("%s: %v", name, err)
			}
		}
		twice := ask()
		twice["state"] = []string{"a", "b"}
		if _, err := s.Read(s.t.Context(), twice); !fault.Is(err, fault.InvalidRequest) {
			s.t.Errorf("two states: %v", err)
		}
		if _, err := s.Read(s.t.Context(), ask()); err != nil {
			s.t.Errorf("a good question: %v", err)
		}
	})
}
