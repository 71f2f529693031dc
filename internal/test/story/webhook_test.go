package story_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/await"
)

// authority is a certificate authority of a story's own, and a certificate of it
// for this machine, as files.
type authority struct {
	pool      *x509.CertPool
	pem       []byte
	cert, key string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	caKey, ca := issue(t, nil, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "story authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	key, cert := issue(t, ca, caKey, &x509.Certificate{
		Subject: pkix.Name{CommonName: "receiver"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	a := authority{pool: x509.NewCertPool(), cert: filepath.Join(t.TempDir(), "cert.pem"), key: filepath.Join(t.TempDir(), "key.pem")}
	a.pool.AddCert(ca)
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{a.cert: {Type: "CERTIFICATE", Bytes: cert.Raw}, a.key: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// issue makes a key and a certificate for it, by parent or by itself.
func issue(t *testing.T, parent *x509.Certificate, parentKey *ecdsa.PrivateKey, template *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().AddDate(0, 0, 7) // longer than any run
	if parent == nil {
		parent, parentKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert
}

// snippet is the program of a language that docs/webhooks.md shows.
func snippet(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```"+language+"\n")
	program, _, ends := strings.Cut(rest, "\n```")
	if !found || !ends {
		t.Fatalf("docs/webhooks.md shows no %s", language)
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
	ca := newAuthority(t)
	eachEngine(t, func(t *testing.T, config app.Config) {
		config.Webhooks = outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: ca.pool}
		svc := start(t, config)
		for name, receiver := range receivers {
			for kind, secret := range map[string]string{"whsec": "", "free text": "sechzehn Zeichen, und ümlaute"} {
				t.Run(name+"/"+kind, func(t *testing.T) {
					t.Parallel()
					svc.with(t).verifiedBy(ca, receiver(t), secret)
				})
			}
		}
	})
}

// TestALowWalletCallsTheWebhooksOfItsWorkspaceOnce has two starts below the amount that a
// workspace calls low: its endpoint gets one signed event, with what is left.
func TestALowWalletCallsTheWebhooksOfItsWorkspaceOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, config app.Config) {
		receiver := newWebhookReceiver(t)
		config.Webhooks = trusting(receiver.pem)
		svc := start(t, config)
		c := svc.caller(credit)
		secret, _ := c.post(svc.url+"/v1/webhook-endpoints", c.account.Secret, `{"url":"`+receiver.address+`"}`)["secret"].(string)
		account := newClient(t, svc.url, c.account.Secret)
		if w, err := account.SetWalletAlert(patient(t), credit); err != nil || w.AlertBelowCents == nil || *w.AlertBelowCents != credit {
			t.Fatalf("%+v, %v", w, err)
		}
		var second *client.Job
		for range 2 {
			var err error
			q := c.quote(1)
			if second, err = c.Start(patient(t), q.UploadID, q.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1}); err != nil {
				t.Fatal(err)
			}
		}
		d := await.Next(t, receiver.received, "the event")
		verify, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = verify.Verify(d.body, d.header)
		}
		var event struct {
			Type string
			Data map[string]any
		}
		if err := errors.Join(err, json.Unmarshal(d.body, &event)); err != nil {
			t.Fatalf("%s: %v", d.body, err)
		}
		if want := map[string]any{"workspace_id": c.workspace, "available_cents": credit - 1.0, "alert_below_cents": float64(credit), "currency": "USD"}; event.Type != "wallet.low" || !reflect.DeepEqual(event.Data, want) {
			t.Errorf("the event is %s %v, want %v", event.Type, event.Data, want)
		}
		if _, err := c.Cancel(patient(t), second.JobID); err != nil {
			t.Fatal(err)
		}
		if next := receiver.verified(await.Next(t, receiver.received, "the event behind it"), secret); next.Type != client.EventCancelled {
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
func (svc *service) verifiedBy(ca authority, receiver *exec.Cmd, secret string) {
	t := svc.t
	t.Helper()
	c := svc.caller(credit)
	address := freeAddress(t)
	q := c.quote(1)
	job, err := c.Start(patient(t), q.UploadID, q.QuoteID, client.StartRequest{
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
	receiver.Env = append(os.Environ(), "LISTEN="+address, "TLS_CERT="+ca.cert, "TLS_KEY="+ca.key, "WEBHOOK_SECRET="+secret)
	receiver.Stderr, receiver.SysProcAttr = t.Output(), diesWithTheTest()
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
		if status := ca.post(t, "https://"+address+"/svc", with); status != http.StatusBadRequest {
			t.Errorf("signed with %s: the receiver answers %d", name, status)
		}
	}
	if _, err := c.Cancel(patient(t), job.JobID); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 3 || words[0] != "render.cancelled" || !strings.HasPrefix(words[1], "msg_") || words[2] != job.JobID {
		t.Errorf("the receiver says %q, %v", line, err)
	}
}

// post sends a forged event, signed with secret; "" signs nothing.
func (a authority) post(t *testing.T, address, secret string) (status int) {
	t.Helper()
	body := `{"type":"render.completed","timestamp":"2026-01-31T00:00:00Z","data":{"job_id":"JOB-forged"}}`
	r, err := http.NewRequestWithContext(patient(t), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := signer.Sign("msg_forged", time.Now(), []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("webhook-id", "msg_forged")
		r.Header.Set("webhook-timestamp", strconv.FormatInt(time.Now().Unix(), 10))
		r.Header.Set("webhook-signature", signature)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.pool, MinVersion: tls.VersionTLS12}}}
	defer client.CloseIdleConnections()
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode // its body says nothing
}

// awaitListening waits until somebody listens at address.
func awaitListening(t *testing.T, address string) {
	t.Helper()
	ctx := patient(t)
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody listens at %s: %v", address, err)
		case <-time.After(10 * time.Millisecond): // between two looks
		}
	}
}
