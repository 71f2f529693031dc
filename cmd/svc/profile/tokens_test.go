package profile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/links"
)

// tokenServer is what a refresh meets: it gives tokens for each refresh token once.
func tokenServer(t *testing.T, change func(document map[string]string)) (address string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	var used sync.Map
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("GET "+links.IssuerPath, func(w http.ResponseWriter, _ *http.Request) {
		document := map[string]string{
			"issuer": s.URL, "authorization_endpoint": s.URL + links.AuthorizePath, "token_endpoint": s.URL + links.TokenPath,
			"revocation_endpoint": s.URL + links.RevokePath, "device_authorization_endpoint": s.URL + links.DevicePath,
		}
		if change != nil {
			change(document)
		}
		_ = json.NewEncoder(w).Encode(document)
	})
	mux.HandleFunc("POST "+links.TokenPath, func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if _, again := used.LoadOrStore(r.FormValue("refresh_token"), true); again {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"used before"}`)
			return
		}
		fmt.Fprintf(w, `{"access_token":"svc_agent_%043d","token_type":"Bearer","expires_in":3600,"refresh_token":"svc_refresh_%d"}`, n, n)
	})
	return s.URL, asked
}

// signedInAt is a profile whose access token is past its hour.
func signedInAt(server string) Stored {
	return Stored{Server: server, SignedIn: SignIn{Server: server, AccessToken: agentKey, AccessUntil: time.Now().Add(-time.Hour).UTC(), RefreshToken: "svc_refresh_0"}}
}

// TestManyCommandsRenewOnce: each goroutine is a command that has read the same old token.
func TestManyCommandsRenewOnce(t *testing.T) {
	server, asked := tokenServer(t, nil)
	keep(t, map[string]Stored{"default": signedInAt(server)})
	var all sync.WaitGroup
	for range 20 {
		service, err := Flags{}.Service(AgentKey)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			if got, err := service.Credential(t.Context()); err != nil || got != fmt.Sprintf("svc_agent_%043d", 1) {
				t.Errorf("%s, %v", Mask(got), err)
			}
		})
	}
	all.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d commands asked for tokens", n)
	}
}

func TestASignInThatEndedIsForgottenAndSaysSo(t *testing.T) {
	server, _ := tokenServer(t, nil)
	keep(t, map[string]Stored{"default": signedInAt(server), "copy": signedInAt(server)})
	for _, c := range []struct{ profile, want string }{{"default", ""}, {"copy", `the sign-in of profile "copy" has ended`}} {
		service, err := Flags{ServerFlags: ServerFlags{Profile: c.profile}}.Service(AgentKey)
		if err != nil {
			t.Fatal(err)
		}
		_, err = service.Credential(t.Context())
		if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.profile, err)
		}
	}
	if all, err := readAll(); err != nil || all.Profiles["copy"].SignedIn != (SignIn{}) || all.Profiles["default"].SignedIn.RefreshToken != "svc_refresh_1" {
		t.Errorf("kept %s, %v", all.names(), err)
	}
}

func TestASignInGoesToItsOwnServerOnly(t *testing.T) {
	kept := signedInAt("https://one.example")
	for name, p := range map[string]Stored{"same": kept, "moved": {Server: "https://two.example", SignedIn: kept.SignedIn}, "unset": {SignedIn: kept.SignedIn}} {
		keep(t, map[string]Stored{"default": p})
		for _, server := range []string{"", "https://two.example", "http://one.example", "https://one.example"} {
			got, err := Flags{ServerFlags: ServerFlags{Server: server}}.Service(AgentKey)
			if goes := err == nil && got.Key != ""; goes != SameServer(first(server, p.home()), "https://one.example") {
				t.Errorf("%s, --server %q: %q, %v", name, server, got.Server, err)
			}
		}
	}
}

func TestEndpointsOfAnotherHostAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint", "device_authorization_endpoint"} {
		for _, to := range []string{"https://evil.example/oauth", "", "javascript:alert(1)"} {
			server, _ := tokenServer(t, func(document map[string]string) { document[name] = to })
			if _, err := discover(t.Context(), server); err == nil {
				t.Errorf("%s %q is taken", name, to)
			}
		}
	}
	server, _ := tokenServer(t, func(document map[string]string) { document["issuer"] = "https://real.example" })
	if _, err := discover(t.Context(), server); err == nil || !strings.Contains(err.Error(), "--server https://real.example") {
		t.Error(err)
	}
}

func TestOnlyTheAnswerWithTheStateCounts(t *testing.T) {
	t.Parallel()
	answers := make(chan url.Values, 1)
	s := httptest.NewServer(answerPage("the-state", answers))
	t.Cleanup(s.Close)
	for _, c := range []struct {
		path string
		want int
	}{
		{"/?code=x", http.StatusNotFound}, {"/?code=x&state=other", http.StatusNotFound}, {"/favicon.ico?state=the-state", http.StatusNotFound},
		{"/?code=x&state=the-state", http.StatusOK}, {"/?code=y&state=the-state", http.StatusConflict},
	} {
		res, err := http.Get(s.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.path, res.StatusCode, c.want)
		}
	}
	if q := <-answers; q.Get("code") != "x" {
		t.Errorf("answered with %v", q)
	}
}
