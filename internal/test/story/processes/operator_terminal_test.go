package processes_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"svc.example/internal/test/apptest"
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
			s.Type(t, "Go on? [y/N] ", c.keys)
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
// TestAServiceThatNobodyHasUsedSaysWhatToDoNext, whose output is no terminal.
func TestTheFirstSignInLinkIsShownOnATerminal(t *testing.T) {
	t.Parallel()
	serve := exec.Command(apptest.Binary(t), "serve", "--worker", "none", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	s := screen.Start(t, serve, 200)
	s.Await(t, "/v1/auth/callback?token=")
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := serve.Wait(); err != nil {
		t.Error(err)
	}
}
