package oauth_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/outbound"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/oauth"
)

// known is a program in use, as it describes itself or registers (testdata/clients).
type known struct {
	Kind     string         `json:"kind"`     // description or registration
	Redirect string         `json:"redirect"` // the address that it asks with
	Scope    string         `json:"scope"`
	Body     map[string]any `json:"body"`
}

// keyPair signs statements of a program.
type keyPair struct{ *ecdsa.PrivateKey }

func newKeyPair(t *testing.T) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keyPair{key}
}

var raw = base64.RawURLEncoding

// published is the public half as a key set.
func (k keyPair) published(t *testing.T) map[string]any {
	t.Helper()
	point, err := k.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256", "use": "sig", "x": raw.EncodeToString(point[1:33]), "y": raw.EncodeToString(point[33:]),
	}}}
}

// statement is a signed statement of a program about itself; more replaces claims.
func (k keyPair) statement(t *testing.T, id, to string, more map[string]any) string {
	t.Helper()
	claims := map[string]any{"iss": id, "sub": id, "aud": to, "exp": time.Now().Add(time.Minute).Unix(), "jti": "one"}
	maps.Copy(claims, more)
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed := raw.EncodeToString([]byte(`{"alg":"ES256","kid":"one"}`)) + "." + raw.EncodeToString(body)
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k.PrivateKey, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + raw.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// publishes has the program answer with its description and, elsewhere, with its keys.
func (p *program) publishes(description, keys any) {
	p.serve(func(w http.ResponseWriter, r *http.Request) {
		answer := description
		if strings.HasSuffix(r.URL.Path, "/jwks.json") {
			answer = keys
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// TestEveryKnownProgramIsLetIn registers or describes itself as the programs do that people
// use, asks as they ask, and gets tokens that it can renew.
func TestEveryKnownProgramIsLetIn(t *testing.T) {
	each(t, func(s service) {
		files, err := filepath.Glob("testdata/clients/*.json")
		if err != nil || len(files) < 10 {
			s.t.Fatalf("%d programs, %v", len(files), err)
		}
		sealed, err := seal.New([]byte(strings.Repeat("k", 32)))
		if err != nil {
			s.t.Fatal(err)
		}
		keys := newKeyPair(s.t)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				s.t.Fatal(err)
			}
			id := s.program.URL + "/" + filepath.Base(file)
			text = []byte(strings.NewReplacer("{client_id}", id, "{jwks_uri}", s.program.URL+"/jwks.json").Replace(string(text)))
			var k known
			if err := json.Unmarshal(text, &k); err != nil {
				s.t.Fatalf("%s: %v", file, err)
			}
			s.Clients = oauth.NewClients(outbound.New(s.program.guard), sealed)
			s.program.publishes(k.Body, keys.published(s.t))
			if k.Kind == "registration" {
				body, err := json.Marshal(k.Body)
				if err != nil {
					s.t.Fatal(err)
				}
				r, err := s.Clients.Register(body, time.Now())
				if err != nil {
					s.t.Errorf("%s: %v", file, err)
					continue
				}
				id = r.ClientID
			}
			answer := s.allow(s.question("client_id", id, "redirect_uri", k.Redirect, "scope", k.Scope))
			for _, more := range [][]string{{"client_secret", ""}, {"client_assertion", keys.statement(s.t, id, public, nil), "client_assertion_type", jwtBearer}} {
				if more[1] != "" && k.Body["jwks_uri"] == nil {
					continue // it has no keys
				}
				form := s.redemption(answer.Get("code"), append([]string{"client_id", id, "redirect_uri", k.Redirect}, more...)...)
				form.Set(more[0], more[1])
				tokens, err := s.Token(s.t.Context(), form)
				if err != nil || !s.opens(tokens.AccessToken, mcp) || tokens.Scope != "render:read render:spend" {
					s.t.Errorf("%s: %+v, %v", file, tokens, err)
					break
				}
				if again, err := s.Token(s.t.Context(), s.refreshing(tokens.RefreshToken, "client_id", id, "scope", k.Scope)); err != nil || !s.opens(again.AccessToken, mcp) {
					s.t.Errorf("%s cannot renew its tokens: %v", file, err)
				}
				answer = s.allow(s.question("client_id", id, "redirect_uri", k.Redirect, "scope", k.Scope))
			}
			s.endKeys()
		}
	})
}

const jwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// TestAProgramThatSignsMustSignWell: its description offers nothing else.
func TestAProgramThatSignsMustSignWell(t *testing.T) {
	each(t, func(s service) {
		keys, id := newKeyPair(s.t), s.program.id()
		for name, published := range map[string]map[string]any{"at an address": {"jwks_uri": s.program.URL + "/jwks.json"}, "in the description": {"jwks": keys.published(s.t)}} {
			description := s.program.described()
			description["token_endpoint_auth_method"] = "private_key_jwt"
			maps.Copy(description, published)
			s.program.publishes(description, keys.published(s.t))
			s.Clients = oauth.NewClients(outbound.New(s.program.guard), nil)
			code := s.allow(s.question()).Get("code")
			signed := func(to string, more map[string]any) url.Values {
				return s.redemption(code, "client_assertion_type", jwtBearer, "client_assertion", keys.statement(s.t, id, to, more))
			}
			for what, form := range map[string]url.Values{
				"nothing signed":      s.redemption(code),
				"by another key":      s.redemption(code, "client_assertion_type", jwtBearer, "client_assertion", newKeyPair(s.t).statement(s.t, id, public, nil)),
				"another type":        s.redemption(code, "client_assertion_type", "x", "client_assertion", keys.statement(s.t, id, public, nil)),
				"for another service": signed("https://other.example", nil),
				"of the past":         signed(public, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}),
				"for ever":            signed(public, map[string]any{"exp": time.Now().Add(24 * time.Hour).Unix()}),
				"about another":       signed(public, map[string]any{"sub": "https://other.example/client.json"}),
				"by another":          signed(public, map[string]any{"iss": "https://other.example/client.json"}),
			} {
				s.refused(name+", "+what, oauth.InvalidClient, form)
			}
			tokens, err := s.Token(s.t.Context(), signed(public+"/oauth/token", nil))
			if err != nil || !s.opens(tokens.AccessToken, mcp) {
				s.t.Fatalf("%s: %v", name, err)
			}
			s.refused(name+", a refresh without", oauth.InvalidClient, s.refreshing(tokens.RefreshToken))
			again := s.refreshing(tokens.RefreshToken, "client_id", "", "client_assertion_type", jwtBearer, "client_assertion", keys.statement(s.t, id, public, nil))
			if _, err := s.Token(s.t.Context(), again); err != nil {
				s.t.Errorf("%s, a refresh that names itself by its statement: %v", name, err)
			}
			s.endKeys()
		}
	})
}

// TestNoStrangerMakesTheServiceReadADescription: the token endpoint reads one only for a
// program that holds what a person gave it.
func TestNoStrangerMakesTheServiceReadADescription(t *testing.T) {
	each(t, func(s service) {
		keys, before := newKeyPair(s.t), s.program.reads.Load()
		said := keys.statement(s.t, s.program.id(), public, nil)
		s.refused("a made-up code", oauth.InvalidGrant, s.redemption("made up", "client_assertion_type", jwtBearer, "client_assertion", said))
		s.refused("a made-up token", oauth.InvalidGrant, s.refreshing("svc_refresh_"+strings.Repeat("x", 86), "client_assertion_type", jwtBearer, "client_assertion", said))
		s.refused("a made-up device", oauth.InvalidGrant, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "client_id": {s.program.id()}, "device_code": {"x"}})
		if now := s.program.reads.Load(); now != before {
			s.t.Errorf("the description was read %d times", now-before)
		}
	})
}

// TestARefreshAgainWithinItsGraceGetsTheSameAnswer: windows of a program refresh at once.
func TestARefreshAgainWithinItsGraceGetsTheSameAnswer(t *testing.T) {
	each(t, func(s service) {
		first := s.tokens()
		second, err := s.Token(s.t.Context(), s.refreshing(first.RefreshToken))
		if err != nil {
			s.t.Fatal(err)
		}
		s.skew.Store(int64(oauth.RefreshGrace - 10*time.Second))
		again, err := s.Token(s.t.Context(), s.refreshing(first.RefreshToken))
		if err != nil || again.AccessToken != second.AccessToken || again.RefreshToken != second.RefreshToken || again.Scope != second.Scope {
			s.t.Errorf("%+v, then %+v, %v", second, again, err)
		}
		s.refused("by another program", oauth.InvalidGrant, s.refreshing(first.RefreshToken, "client_id", oauth.CommandLine))
		s.skew.Store(int64(oauth.RefreshGrace + time.Minute))
		s.refused("after its grace", oauth.InvalidGrant, s.refreshing(first.RefreshToken))
		s.refused("the newest", oauth.InvalidGrant, s.refreshing(second.RefreshToken))
		if s.keys()[0].RevokedAt == nil {
			s.t.Error("the key was not revoked")
		}
	})
}
