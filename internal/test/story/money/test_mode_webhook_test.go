package money_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
)

// TestWebhooksOfTestModeAreDeliveredAndTheClockBringsTheirRetries has a receiver that fails
// twice; between the attempts the clock is moved, so the test does not wait.
func TestWebhooksOfTestModeAreDeliveredAndTheClockBringsTheirRetries(t *testing.T) {
	ca := story.NewAuthority(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		config.Webhooks = outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: ca.Pool}
		svc := story.Start(t, config)
		c := svc.TestCaller()
		const secret = "a secret of sixteen characters"
		verify, err := standardwebhooks.NewWebhookRaw([]byte(secret))
		if err != nil {
			t.Fatal(err)
		}
		calls := make(chan error, 10)
		var failing = 2
		receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = verify.Verify(body, r.Header) // by the real time
			}
			if err == nil && !bytes.Contains(body, []byte(`"test":true`)) {
				t.Errorf("the event looks real: %s", body)
			}
			if failing--; failing >= 0 {
				w.WriteHeader(http.StatusInternalServerError)
			}
			calls <- err
		}))
		pair, err := tls.LoadX509KeyPair(ca.Cert, ca.Key)
		if err != nil {
			t.Fatal(err)
		}
		receiver.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		receiver.StartTLS()
		defer receiver.Close()
		q := c.QuoteFrames(1)
		job, err := c.Start(story.Patient(t), q, client.StartRequest{LegalAcceptance: client.LegalV1, WebhookURL: receiver.URL, WebhookSecret: secret})
		if err != nil {
			t.Fatal(err)
		}
		for i, move := range []string{"", `{"advance_seconds":20}`, `{"advance_seconds":1200}`} {
			if move != "" {
				await.Until(t, "the failed try is stored", func() bool { return svc.Tries(c, job.JobID) == i })
				if status, answer := c.Clock(svc.URL, move); status != 200 {
					t.Fatalf("the clock: %d, %+v", status, answer)
				}
			}
			if err := await.Next(t, calls, "a call of the receiver"); err != nil {
				t.Errorf("call %d does not verify: %v", i, err)
			}
		}
		c.Await(job.JobID, client.StatusCompleted)
	})
}
