package story

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/client"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/await"
)

// WebhookReceiver is an HTTPS server in this process that keeps what it gets.
type WebhookReceiver struct {
	t        *testing.T
	Address  string
	PEM      string // whom its certificate is by
	Received chan delivery
}

// delivery is what a WebhookReceiver got. It can come before the caller knows the
// secret, so it is verified later, at the time when it came.
type delivery struct {
	Header http.Header
	Body   []byte
	at     time.Time
}

// NewWebhookReceiver serves a receiver until the story ends.
func NewWebhookReceiver(t *testing.T) *WebhookReceiver {
	t.Helper()
	ca := NewAuthority(t)
	pair, err := tls.LoadX509KeyPair(ca.Cert, ca.Key)
	if err != nil {
		t.Fatal(err)
	}
	e := &WebhookReceiver{t: t, PEM: string(ca.pem), Received: make(chan delivery, 100)}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the server was killed in the middle of it
		}
		select {
		case e.Received <- delivery{r.Header, body, time.Now()}:
		default: // waiting here would keep the server from closing, for good
			t.Errorf("more calls than %d that nobody looked at", cap(e.Received))
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that a kill cuts off
	server.StartTLS()
	t.Cleanup(server.Close)
	e.Address = server.URL
	return e
}

// Trusting admits webhooks to receivers of this machine whose certificates are by pem.
func Trusting(pem string) outbound.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(pem))
	return outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: roots}
}

// Once checks that the job's end was sent, each time as the same event, signed with
// the secret.
func (e *WebhookReceiver) Once(job *client.Job, secret string) {
	e.t.Helper()
	first := e.Verified(await.Next(e.t, e.Received, "a webhook of the job's end"), secret)
	if first.Type != client.EventCompleted || first.Job.JobID != job.JobID || first.Job.Status != job.Status {
		e.t.Errorf("%s holds %+v", first.Type, first.Job)
	}
	for {
		select {
		case d := <-e.Received:
			if again := e.Verified(d, secret); again.ID != first.ID {
				e.t.Errorf("it was sent as %s and as %s", first.ID, again.ID)
			}
		default:
			return
		}
	}
}

// Verified is the event of a delivery whose signature is right.
func (e *WebhookReceiver) Verified(d delivery, secret string) *client.WebhookEvent {
	e.t.Helper()
	event, err := client.VerifyWebhook(secret, d.Header, d.Body, d.at)
	if err != nil {
		e.t.Fatal(err)
	}
	return event
}

// Tries is how often the webhook of a job of test mode was tried.
func (svc *Service) Tries(c Caller, jobID string) (tries int) {
	c.T.Helper()
	var answer struct {
		Deliveries []struct {
			Attempts []any `json:"attempts"`
		} `json:"deliveries"`
	}
	Send(c.T, Request(c.T, "GET", svc.URL+"/v1/renders/"+jobID+"/webhook-deliveries", c.Account.Secret, ""), &answer)
	for _, d := range answer.Deliveries {
		tries += len(d.Attempts)
	}
	return tries
}

// Authority is a certificate authority of a story's own, and a certificate of it
// for this machine, as files.
type Authority struct {
	Pool      *x509.CertPool
	pem       []byte
	Cert, Key string
}

// NewAuthority makes an authority, and the files of its certificate.
func NewAuthority(t *testing.T) Authority {
	t.Helper()
	caKey, ca := issue(t, nil, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: "story authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	key, cert := issue(t, ca, caKey, &x509.Certificate{
		Subject: pkix.Name{CommonName: "receiver"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	a := Authority{Pool: x509.NewCertPool(), Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	a.Pool.AddCert(ca)
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{a.Cert: {Type: "CERTIFICATE", Bytes: cert.Raw}, a.Key: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// issue makes a key and a certificate for it, by parent or by its own key.
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

// Post sends an event that the service did not send, signed with secret; "" signs nothing.
func (a Authority) Post(t *testing.T, address, secret, body string) (status int) {
	t.Helper()
	r, err := http.NewRequestWithContext(Patient(t), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		signer, err := standardwebhooks.NewWebhook(secret)
		if !strings.HasPrefix(secret, "whsec_") {
			signer, err = standardwebhooks.NewWebhookRaw([]byte(secret))
		}
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
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.Pool, MinVersion: tls.VersionTLS12}}}
	defer client.CloseIdleConnections()
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode // its body says nothing
}
