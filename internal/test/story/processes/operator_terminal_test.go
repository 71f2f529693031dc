package processes_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/screen"
)

func TestAnOperatorIsAskedBeforeAChange(t *testing.T) {
	t.Parallel()
	svc := apptest.Binary(t)
	for _, c := range []struct {
		name, keys string
		code       int
		revoked    bool
	}{
		{"yes", "y\n", 0, true}, {"no", "n\n", 1, false}, {"nothing", "\n", 1, false}, {"the end of input", "\x04", 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			var key struct {
				KeyID string `json:"key_id"`
			}
			made, err := exec.Command(svc, "admin", "key", "create", "--kind", "node", "--name", "rack", "--json", "--data", data).Output()
			if err == nil {
				err = json.Unmarshal(made, &key)
			}
			if err != nil {
				t.Fatal(err)
			}
			revoke := exec.Command(svc, "admin", "key", "revoke", key.KeyID, "--data", data)
			s := screen.Start(t, revoke, 80)
			s.Await(t, "This will revoke the key "+key.KeyID)
			s.Type(t, "Continue? [y/N] ", c.keys)
			_ = revoke.Wait() // the exit code says it
			s.End(t)
			if got := revoke.ProcessState.ExitCode(); got != c.code || strings.Contains(s.Text(), "nothing was changed") == c.revoked {
				t.Errorf("it ends with %d, want %d:\n%s", got, c.code, s.Text())
			}
			list, err := exec.Command(svc, "admin", "key", "list", "--json", "--data", data).Output()
			if err != nil || strings.Contains(string(list), `"revoked_at": null`) == c.revoked {
				t.Errorf("after %q the keys are %s, %v", c.keys, list, err)
			}
		})
	}
}

// TestTheFirstSignInLinkIsShownOnATerminal is the other half of
// TestAServiceThatNobodyHasUsedSaysWhatToDoNext, whose output is no terminal. The person who follows the
// link operates the service, with a credit and a sample scene to spend it on. A start before
// anything was rendered shows another link.
func TestTheFirstSignInLinkIsShownOnATerminal(t *testing.T) {
	t.Parallel()
	data, link := t.TempDir(), regexp.MustCompile(`http://\S+/v1/auth/callback\?token=(\S+)\s`)
	for range 2 {
		serve := exec.Command(apptest.Binary(t), "serve", "--worker", "none", "--listen", "127.0.0.1:0", "--data", data)
		s := screen.Start(t, serve, 200)
		s.Await(t, "/v1/auth/callback?token=")
		await.Until(t, "the whole link", func() bool { return link.MatchString(s.Text()) })
		found := link.FindStringSubmatch(s.Text())
		operatesBy(t, found[0], found[1])
		stopServing(t, serve)
	}
}

// operatesBy signs in by a link, and looks for what an operator finds.
func operatesBy(t *testing.T, link, token string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	address, _, _ := strings.Cut(link, "/v1/")
	ask := func(method, path string, form url.Values, want ...string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Origin", address)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d, %v", method, path, res.StatusCode, err)
		}
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s does not say %q: %s", path, part, text)
			}
		}
	}
	ask(http.MethodPost, "/v1/auth/callback", url.Values{"token": {token}}, "operator@localhost")
	ask(http.MethodGet, "/console", nil, "Try the sample scene", "/admin")
	ask(http.MethodGet, "/admin", nil, "Overview")
	ask(http.MethodGet, "/console/wallet", nil, "$5.00", "You operate it")
	ask(http.MethodPost, "/console/new/sample", nil, "demo.blend", "Render 24 frames for $0.24")
}

// stopServing ends a service as its operator does.
func stopServing(t *testing.T, serve *exec.Cmd) {
	t.Helper()
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Error(err)
	}
}
