package clients_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// snippet is the program of a language that docs/webhook-receivers.md shows.
func snippet(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../../../docs/webhook-receivers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```"+language+" ")
	_, rest, _ = strings.Cut(rest, "\n")
	program, _, ends := strings.Cut(rest, "\n```")
	if !found || !ends {
		t.Fatalf("docs/webhook-receivers.md shows no %s", language)
	}
	return program + "\n"
}

// TestRealReceiversVerifyWhatIsSent runs the documented receivers, with both
// public libraries of npm, with the SDK and in Python, for both kinds of secret;
// each refuses what is not signed, or signed with another secret.
func TestRealReceiversVerifyWhatIsSent(t *testing.T) {
	t.Parallel()
	js, golang, python := snippet(t, "js"), built(t, snippet(t, "go")), snippet(t, "python")
	inNode := func(text string) func(t *testing.T) *exec.Cmd {
		return func(t *testing.T) *exec.Cmd {
			return program(t, filepath.Join(besidePackages(t, fstest.MapFS{}), "receiver.mjs"), text, pinnedNode(t))
		}
	}
	receivers := map[string]func(t *testing.T) *exec.Cmd{
		"standardwebhooks": inNode(js),
		"svix":             inNode(strings.Replace(js, `"standardwebhooks"`, `"svix"`, 1)),
		"go":               func(*testing.T) *exec.Cmd { return exec.Command(golang) },
		"python": func(t *testing.T) *exec.Cmd {
			return program(t, filepath.Join(t.TempDir(), "receiver.py"), python, "python3")
		},
	}
	ca := story.NewAuthority(t)
	story.EachEngine(t, func(t *testing.T, config app.Config) {
		config.Webhooks = outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: ca.Pool}
		svc := story.Start(t, config)
		for name, receiver := range receivers {
			for kind, secret := range map[string]string{"whsec": "", "free text": "sechzehn Zeichen, und ümlaute"} {
				t.Run(name+"/"+kind, func(t *testing.T) {
					t.Parallel()
					verifiedBy(svc.With(t), ca, receiver(t), secret)
				})
			}
		}
	})
}

// TestALowWalletCallsTheWebhooksOfItsWorkspaceOnce has two starts below the amount that a
// workspace calls low: its endpoint gets one signed event, with what is left.
func TestALowWalletCallsTheWebhooksOfItsWorkspaceOnce(t *testing.T) {
	t.Parallel()
	story.EachEngine(t, func(t *testing.T, config app.Config) {
		receiver := story.NewWebhookReceiver(t)
		config.Webhooks = story.Trusting(receiver.PEM)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		secret, _ := c.Post(svc.URL+"/v1/webhook-endpoints", c.Account.Secret, `{"url":"`+receiver.Address+`"}`)["secret"].(string)
		account := story.NewClient(t, svc.URL, c.Account.Secret)
		if w, err := account.SetWalletAlert(story.Patient(t), story.Credit); err != nil || w.AlertBelowCents == nil || *w.AlertBelowCents != story.Credit {
			t.Fatalf("%+v, %v", w, err)
		}
		var second *client.Job
		for range 2 {
			var err error
			q := c.QuoteFrames(1)
			if second, err = c.Start(story.Patient(t), q, client.StartRequest{LegalAcceptance: client.LegalV1}); err != nil {
				t.Fatal(err)
			}
		}
		d := await.Next(t, receiver.Received, "the event")
		verify, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = verify.Verify(d.Body, d.Header)
		}
		var event struct {
			Type string
			Data map[string]any
		}
		if err := errors.Join(err, json.Unmarshal(d.Body, &event)); err != nil {
			t.Fatalf("%s: %v", d.Body, err)
		}
		if want := map[string]any{"workspace_id": c.Workspace, "available_cents": story.Credit - 1.0, "alert_below_cents": float64(story.Credit), "currency": "USD"}; event.Type != "wallet.low" || !reflect.DeepEqual(event.Data, want) {
			t.Errorf("the event is %s %v, want %v", event.Type, event.Data, want)
		}
		if _, err := c.Cancel(story.Patient(t), second.JobID); err != nil {
			t.Fatal(err)
		}
		if next := receiver.Verified(await.Next(t, receiver.Received, "the event after it"), secret); next.Type != client.EventCancelled {
			t.Errorf("then came %s", next.Type)
		}
	})
}

func program(t *testing.T, path, text string, command ...string) *exec.Cmd {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.Command(command[0], append(command[1:], path)...)
}

// built compiles a Go program against this module.
func built(t *testing.T, text string) (binary string) {
	t.Helper()
	folder := t.TempDir()
	binary = filepath.Join(folder, "receiver")
	compile := program(t, filepath.Join(folder, "main.go"), text, "go", "build", "-o", binary)
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("the documented receiver does not compile: %v\n%s", err, output)
	}
	return binary
}

// verifiedBy cancels a job whose webhook goes to a receiver, and wants a line
// from it that says so.
func verifiedBy(svc *story.Service, ca story.Authority, receiver *exec.Cmd, secret string) {
	t := svc.T
	t.Helper()
	c := svc.Caller(story.Credit)
	address := story.FreeAddress(t)
	q := c.QuoteFrames(1)
	job, err := c.Start(story.Patient(t), q, client.StartRequest{
		LegalAcceptance: client.LegalV1, WebhookURL: "https://" + address + "/svc", WebhookSecret: secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !job.WebhookConfigured || (secret == "") != strings.HasPrefix(job.WebhookSecret, "whsec_") {
		t.Fatalf("webhook_configured is %v, webhook_secret %q", job.WebhookConfigured, job.WebhookSecret)
	}
	if secret == "" {
		secret = job.WebhookSecret
	}
	receiver.Env = append(os.Environ(), "LISTEN="+address, "TLS_CERT="+ca.Cert, "TLS_KEY="+ca.Key, "WEBHOOK_SECRET="+secret)
	receiver.Stderr, receiver.SysProcAttr = t.Output(), story.DiesWithTheTest()
	out, err := receiver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Process.Kill(); _ = receiver.Wait() })
	awaitListening(t, address)
	for name, with := range map[string]string{"no secret": "", "another secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if status := ca.Post(t, "https://"+address+"/svc", with, `{"type":"render.completed","timestamp":"2026-01-31T00:00:00Z","data":{"job_id":"JOB-forged"}}`); status != http.StatusBadRequest {
			t.Errorf("signed with %s: the receiver answers %d", name, status)
		}
	}
	if _, err := c.Cancel(story.Patient(t), job.JobID); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	line, err := said.ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 3 || words[0] != "render.cancelled" || !strings.HasPrefix(words[1], "msg_") || words[2] != job.JobID {
		t.Errorf("the receiver says %q, %v", line, err)
	}
	for _, e := range contract.Events() {
		if e.EndsJob {
			continue
		}
		body := `{"type":"` + e.Type + `","timestamp":"2026-01-31T00:00:00Z","data":{"workspace_id":"WSP-1"}}`
		if status := ca.Post(t, "https://"+address+"/svc", secret, body); status != http.StatusNoContent {
			t.Errorf("the receiver answers %d to %s", status, e.Type)
			continue
		}
		if line, err := said.ReadString('\n'); err != nil || !strings.HasPrefix(line, e.Type+" ") {
			t.Errorf("after %s the receiver says %q, %v", e.Type, line, err)
		}
	}
}

// awaitListening waits until there is a listener at address.
func awaitListening(t *testing.T, address string) {
	t.Helper()
	ctx := story.Patient(t)
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nothing listens at %s: %v", address, err)
		case <-time.After(10 * time.Millisecond): // between two looks
		}
	}
}
