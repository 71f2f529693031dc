package failure_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"svc.example/client"
	"svc.example/cmd/svc/failure"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/farmapi"
)

func TestAnErrorEndsWithWhatToDoNext(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"<html>": "Check the address (--server)",
		`{"error":{"code":"insufficient_funds","message":"no","suggested_action":"Credit the wallet."}}`: "Credit the wallet.",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPaymentRequired)
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(s.Close)
		c, err := client.New(s.URL, "", client.WithAttempts(1))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Job(t.Context(), "JOB-1")
		lines := strings.Split(failure.Words(err).Error(), "\n")
		if !strings.Contains(lines[len(lines)-1], want) {
			t.Errorf("%q ends with %q, want %q", answer, lines[len(lines)-1], want)
		}
	}
}

func TestAFullDiskSaysThatTheCommandCanBeRunAgain(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{"out/job.json": true, os.Stdout.Name(): false} {
		for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
			err := fmt.Errorf("note the job: %w", &fs.PathError{Op: "write", Path: path, Err: full})
			if said := failure.Words(err).Error(); strings.Contains(said, "\nFree space on that disk, then run the command again.") != want {
				t.Errorf("of %s: %q", path, said)
			}
			if action := failure.Of(err).SuggestedAction; (action != "") != want {
				t.Errorf("of %s, for programs: %q", path, action)
			}
		}
	}
}

// TestARefusalMadeHereReadsAsOneOfTheService: its message once, and its code last.
func TestARefusalMadeHereReadsAsOneOfTheService(t *testing.T) {
	t.Parallel()
	refused := fault.New(fault.FileDamaged, "The file is incomplete.").Wrap(errors.New("it is incomplete"))
	said := failure.Words(fmt.Errorf("cut.blend: %w", refused)).Error()
	if want := "cut.blend: The file is incomplete. (file_damaged)\n"; !strings.HasPrefix(said, want) {
		t.Errorf("%q, want %q first", said, want)
	}
}

// TestWhatWasDoneIsStillSaidWhereTheServiceCannotBeCalled: whether money is reserved says
// more than why a connection broke.
func TestWhatWasDoneIsStillSaidWhereTheServiceCannotBeCalled(t *testing.T) {
	t.Parallel()
	c, err := client.New("http://127.0.0.1:1", "", client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Job(t.Context(), "JOB-1")
	said := failure.Words(fmt.Errorf("1 of 2 jobs are started: %w. Run it again", err)).Error()
	want := "1 of 2 jobs are started: nothing answers at http://127.0.0.1:1 (connection refused). Check the address (--server) and whether the service is running. Run it again"
	if said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

func TestAFailureForProgramsHasACodeAndNoSecret(t *testing.T) {
	t.Parallel()
	c, err := client.New("http://127.0.0.1:1", "", client.WithAttempts(1))
	if err != nil {
		t.Fatal(err)
	}
	_, lost := c.Job(t.Context(), "JOB-1")
	key := "svc_agent_" + strings.Repeat("A", 43)
	for _, row := range []struct {
		err    error
		code   string
		action string
	}{
		{errors.New("no"), "failed", ""},
		{fmt.Errorf("open %s: no", key), "failed", ""},
		{terminal.WrongUsagef("--limit is 0"), "wrong_usage", ""},
		{terminal.Exit(terminal.ExitInterrupted, errors.New("interrupted")), "interrupted", ""},
		{terminal.Exit(terminal.ExitNotInLog, errors.New("no")), "not_in_log", ""},
		{&client.Error{Code: "insufficient_funds", SuggestedAction: "Add."}, "insufficient_funds", "Add."},
		{fmt.Errorf("send: %w", &farmapi.Error{Code: "node_key_bound", SuggestedAction: "Sign."}), "node_key_bound", "Sign."},
		{fmt.Errorf("end: %w", fault.New(fault.JobsNotEnded, "no").WithAction("Wait.")), "jobs_not_ended", "Wait."},
		{lost, failure.Unreachable, ""},
	} {
		f := failure.Of(row.err)
		if f.Code != row.code || f.SuggestedAction != row.action || f.Message == "" && row.action == "" || strings.Contains(f.Message, key) {
			t.Errorf("%v is %+v", row.err, f)
		}
	}
}
