// Package issuer is an OpenID Connect provider for tests: it signs in whom a test names, over
// HTTP as those on the net do. Start reading at Open.
package issuer

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/work/identity/openid"
)

// user is the person who signs in at the issuer.
type user struct {
	subject, email string
	verified       bool
}

// grant is a sign-in that the issuer has confirmed by a code.
type grant struct {
	user
	nonce, challenge string
}

// Issuer is an OpenID Connect provider (Core 1.0, the code flow with PKCE) that
// answers over HTTP as those on the net do.
type Issuer struct {
	Address, ClientID, ClientSecret string
	t                               *testing.T
	key                             *rsa.PrivateKey

	mu     sync.Mutex
	Away   bool                                       // answers 503
	Skew   time.Duration                              // of the clock that tokens are dated by
	Public *rsa.PublicKey                             // what is published
	Forge  func(claims map[string]any) (token string) // makes the identity token; nil = signed by Sign
	users  []user                                     // the people who sign in next; none = jane
	codes  map[string]grant                           // not yet exchanged
	tokens map[string]user                            // by access token
}

// issuerKey is one key for all tests: to make it takes long.
var issuerKey = sync.OnceValue(NewKey)

// NewKey makes a key that the issuer does not sign with.
func NewKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// Open starts an issuer, which ends with the test.
func Open(t *testing.T) *Issuer {
	t.Helper()
	i := &Issuer{
		t: t, ClientID: rand.Text(), ClientSecret: rand.Text(), key: issuerKey(),
		codes: map[string]grant{}, tokens: map[string]user{},
	}
	i.Public = &i.key.PublicKey
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.configuration)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userinfo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.Away {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.Address = server.URL
	return i
}

// Set changes the issuer between requests.
func (i *Issuer) Set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// Published is the key that the issuer signs with.
func (i *Issuer) Published() *rsa.PublicKey { return &i.key.PublicKey }

// Configure makes the service trust the issuer.
func (i *Issuer) Configure(c *app.Config) {
	c.OpenID = &openid.Config{Issuer: i.Address, ClientID: i.ClientID, ClientSecret: i.ClientSecret}
}

// Next is the person who signs in at the issuer next.
func (i *Issuer) Next(subject, email string, verified bool) {
	i.Set(func() { i.users = append(i.users, user{subject, email, verified}) })
}

func (i *Issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.t.Error(err)
	}
}

func (i *Issuer) configuration(w http.ResponseWriter, _ *http.Request) {
	i.answer(w, map[string]any{
		"issuer": i.Address, "jwks_uri": i.Address + "/keys", "authorization_endpoint": i.Address + "/authorize",
		"token_endpoint": i.Address + "/token", "userinfo_endpoint": i.Address + "/userinfo",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	i.answer(w, map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "alg": "RS256", "use": "sig",
		"n": encode(i.Public.N.Bytes()), "e": encode(big.NewInt(int64(i.Public.E)).Bytes()),
	}}})
}

// authorize signs the next user in and sends the browser back with a code.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != i.ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	g := grant{user{"jane", "jane@example.com", true}, q.Get("nonce"), q.Get("code_challenge")}
	if len(i.users) > 0 {
		g.user, i.users = i.users[0], i.users[1:]
	}
	code := rand.Text()
	i.codes[code] = g
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token exchanges a code for the signed-in person. A code works once.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	clientID, secret, basic := r.BasicAuth()
	if !basic {
		clientID, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	code := r.PostFormValue("code")
	g, granted := i.codes[code]
	delete(i.codes, code)
	verifier := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if clientID != i.ClientID || secret != i.ClientSecret || !granted || encode(verifier[:]) != g.challenge {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	access, now := rand.Text(), time.Now().Add(i.Skew)
	i.tokens[access] = g.user
	claims := g.claims()
	claims["iss"], claims["aud"], claims["nonce"] = i.Address, i.ClientID, g.nonce
	claims["iat"], claims["exp"] = now.Unix(), now.Add(10*time.Minute).Unix()
	signed := i.Sign
	if i.Forge != nil {
		signed = i.Forge
	}
	i.answer(w, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 600, "id_token": signed(claims)})
}

func (i *Issuer) userinfo(w http.ResponseWriter, r *http.Request) {
	u, ok := i.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	i.answer(w, u.claims())
}

// claims leaves out an address that the issuer does not know.
func (u user) claims() map[string]any {
	c := map[string]any{"sub": u.subject}
	if u.email != "" {
		c["email"], c["email_verified"] = u.email, u.verified
	}
	return c
}

// Sign makes a JSON web token (RFC 7519) with RS256.
func (i *Issuer) Sign(claims map[string]any) string {
	return Token("RS256", claims, func(text []byte) []byte {
		sum := sha256.Sum256(text)
		signature, err := rsa.SignPKCS1v15(nil, i.key, crypto.SHA256, sum[:])
		if err != nil {
			panic(err)
		}
		return signature
	})
}

// Token makes a JSON web token that says how it is signed, and signs it by sign.
func Token(algorithm string, claims map[string]any, sign func(text []byte) []byte) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	text := encode([]byte(`{"alg":"`+algorithm+`","typ":"JWT"}`)) + "." + encode(payload)
	return text + "." + encode(sign([]byte(text)))
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
