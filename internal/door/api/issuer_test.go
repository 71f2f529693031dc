package api_test

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
	"svc.example/internal/test/dbtest"
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

// issuer is an OpenID Connect provider (Core 1.0, the code flow with PKCE) that
// answers over HTTP as those on the net do.
type issuer struct {
	address, clientID, clientSecret string
	t                               *testing.T
	key                             *rsa.PrivateKey

	mu     sync.Mutex
	away   bool             // answers 503
	skew   time.Duration    // of the clock that tokens are dated by
	public *rsa.PublicKey   // what is published
	users  []user           // the people who sign in next; none = jane
	codes  map[string]grant // not yet exchanged
	tokens map[string]user  // by access token
}

// issuerKey is one key for all tests: to make it takes long.
var issuerKey = sync.OnceValue(newRSAKey)

func newRSAKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

func openIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{
		t: t, clientID: rand.Text(), clientSecret: rand.Text(), key: issuerKey(),
		codes: map[string]grant{}, tokens: map[string]user{},
	}
	i.public = &i.key.PublicKey
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.configuration)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /userinfo", i.userinfo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.away {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.address = server.URL
	return i
}

// set changes the issuer between requests.
func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// config makes the service trust the issuer.
func (i *issuer) config(c *app.Config) {
	c.OpenID = &openid.Config{Issuer: i.address, ClientID: i.clientID, ClientSecret: i.clientSecret}
}

// next is the person who signs in at the issuer next.
func (i *issuer) next(subject, email string, verified bool) {
	i.set(func() { i.users = append(i.users, user{subject, email, verified}) })
}

// eachIssuer runs test over a service with an issuer, and a fresh browser.
func eachIssuer(t *testing.T, test func(t *testing.T, s *service, i *issuer, b *browser)) {
	dbtest.EachURL(t, func(t *testing.T, url string) {
		i := openIssuer(t)
		s := start(t, url, i.config)
		test(t, s, i, newBrowser(t, s.base))
	})
}

func (i *issuer) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.t.Error(err)
	}
}

func (i *issuer) configuration(w http.ResponseWriter, _ *http.Request) {
	i.answer(w, map[string]any{
		"issuer": i.address, "jwks_uri": i.address + "/keys", "authorization_endpoint": i.address + "/authorize",
		"token_endpoint": i.address + "/token", "userinfo_endpoint": i.address + "/userinfo",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	i.answer(w, map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "alg": "RS256", "use": "sig",
		"n": encode(i.public.N.Bytes()), "e": encode(big.NewInt(int64(i.public.E)).Bytes()),
	}}})
}

// authorize signs the next user in and sends the browser back with a code.
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != i.clientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
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
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	clientID, secret, basic := r.BasicAuth()
	if !basic {
		clientID, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	code := r.PostFormValue("code")
	g, granted := i.codes[code]
	delete(i.codes, code)
	verifier := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if clientID != i.clientID || secret != i.clientSecret || !granted || encode(verifier[:]) != g.challenge {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	access, now := rand.Text(), time.Now().Add(i.skew)
	i.tokens[access] = g.user
	claims := g.claims()
	claims["iss"], claims["aud"], claims["nonce"] = i.address, i.clientID, g.nonce
	claims["iat"], claims["exp"] = now.Unix(), now.Add(10*time.Minute).Unix()
	i.answer(w, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 600, "id_token": i.sign(claims)})
}

func (i *issuer) userinfo(w http.ResponseWriter, r *http.Request) {
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

// sign makes a JSON web token (RFC 7519) with RS256.
func (i *issuer) sign(claims map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, i.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + encode(signature)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
