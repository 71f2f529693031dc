package oauth_test

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/oauth"
)

// public is where the service of these tests would be reached.
const public = "https://render.example"

// service is an authorization server over a database whose clock the test moves, with one
// workspace and one program.
type service struct {
	*oauth.Server
	t         *testing.T
	skew      *atomic.Int64
	workspace string
	program   *program
}

// program is a web server with a program's description.
type program struct {
	*httptest.Server
	document atomic.Pointer[http.HandlerFunc]
	reads    atomic.Int64
	guard    outbound.Config // that may call it
}

// redirect is the program's address for answers.
const redirect = "https://app.example/back?from=svc"

func (p *program) id() string { return p.URL + "/client.json" }

// describe has the program answer with a description.
func (p *program) describe(members map[string]any) {
	p.serve(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(members)
	})
}

func (p *program) serve(h http.HandlerFunc) { p.document.Store(&h) }

func (p *program) described() map[string]any {
	return map[string]any{"client_id": p.id(), "client_name": "Painter", "redirect_uris": []string{redirect, "http://127.0.0.1/back"}}
}

func newProgram(t *testing.T) (*program, outbound.Config) {
	t.Helper()
	p := &program{}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.reads.Add(1)
		(*p.document.Load())(w, r)
	}))
	t.Cleanup(p.Close)
	p.describe(p.described())
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate())
	p.guard = outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots}
	return p, p.guard
}

func each(t *testing.T, test func(s service)) {
	t.Helper()
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, address string) {
		s := service{t: t, skew: &atomic.Int64{}}
		d := dbtest.Open(t, db.Config{URL: address, Skew: func() time.Duration { return time.Duration(s.skew.Load()) }})
		p, guard := newProgram(t)
		s.program = p
		s.Server = &oauth.Server{DB: d, Links: links.Links{PublicURL: public, Key: []byte("a key of thirty-two characters...")}, Clients: oauth.NewClients(outbound.New(guard), nil)}
		s.must(func(ctx context.Context, tx *db.Tx) error {
			person, err := identity.CreateWorkspace(ctx, tx, "someone@example.com")
			s.workspace = person.WorkspaceID
			return err
		})
		test(s)
		s.audit()
	})
}

func (s service) must(do func(ctx context.Context, tx *db.Tx) error) {
	s.t.Helper()
	if err := s.DB.Write(s.t.Context(), func(tx *db.Tx) error { return do(s.t.Context(), tx) }); err != nil {
		s.t.Fatal(err)
	}
}

// audit compares all rows of the test with their checksums.
func (s service) audit() {
	s.must(func(ctx context.Context, tx *db.Tx) error {
		breach := func(rule, subject, format string, args ...any) {
			s.t.Errorf("%s: %s: %s", rule, subject, fmt.Sprintf(format, args...))
		}
		return errors.Join(oauth.Audit(ctx, tx, breach), identity.Audit(ctx, tx, breach))
	})
}

// verifier is long enough for PKCE.
const verifier = "a-verifier-of-the-program-that-has-forty-three-characters"

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// question is what the program asks; more changes it, "" removes.
func (s service) question(more ...string) url.Values {
	q := url.Values{
		"response_type": {"code"}, "client_id": {s.program.id()}, "redirect_uri": {redirect}, "state": {"a b&c"},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
	}
	return with(q, more)
}

func with(q url.Values, more []string) url.Values {
	for i := 0; i < len(more); i += 2 {
		if q.Del(more[i]); more[i+1] != "" {
			q.Set(more[i], more[i+1])
		}
	}
	return q
}

// allow has a person allow a question, and returns the answer's parameters.
func (s service) allow(q url.Values) url.Values {
	s.t.Helper()
	r, err := s.Read(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	to, err := s.Allow(s.t.Context(), r, oauth.Terms{WorkspaceID: s.workspace, SpendLimitCents: 1000, Days: 30})
	if err != nil {
		s.t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Query()
}

// redemption is the request that changes a code into tokens; more is as in question.
func (s service) redemption(code string, more ...string) url.Values {
	return with(url.Values{
		"grant_type": {"authorization_code"}, "client_id": {s.program.id()}, "redirect_uri": {redirect}, "code": {code}, "code_verifier": {verifier},
	}, more)
}

func (s service) refreshing(token string, more ...string) url.Values {
	return with(url.Values{"grant_type": {"refresh_token"}, "client_id": {s.program.id()}, "refresh_token": {token}}, more)
}

// tokens are those of a program that was let in.
func (s service) tokens(more ...string) oauth.Tokens {
	s.t.Helper()
	t, err := s.Token(s.t.Context(), s.redemption(s.allow(s.question(more...)).Get("code")))
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

// refused wants a request for tokens to be refused with a code.
func (s service) refused(what, code string, form url.Values) {
	s.t.Helper()
	t, err := s.Token(s.t.Context(), form)
	if e, is := errors.AsType[*oauth.Error](err); !is || e.Code != code || t.AccessToken != "" {
		s.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// opens reports whether an access token works at a resource.
func (s service) opens(access, resource string) bool {
	s.t.Helper()
	_, err := identity.Agent(s.t.Context(), s.DB, "Bearer "+access, resource)
	return err == nil
}

// keys lists the agent keys of the workspace.
func (s service) keys() (keys []identity.Key) {
	s.t.Helper()
	s.must(func(ctx context.Context, tx *db.Tx) (err error) {
		keys, err = identity.AgentKeys(ctx, tx, s.workspace)
		return err
	})
	return keys
}

// endKeys revokes the keys of the workspace, so that there is room for more.
func (s service) endKeys() {
	s.t.Helper()
	for _, k := range s.keys() {
		if k.RevokedAt == nil {
			s.must(func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, k.KeyID) })
		}
	}
}
