package story_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/outbound"
	"svc.example/internal/test/await"
)

// TestWebhooksOfTestModeAreDeliveredAndTheClockBringsTheirRetries has a receiver that fails
// twice; between the tries the clock is moved and nobody waits.
func TestWebhooksOfTestModeAreDeliveredAndTheClockBringsTheirRetries(t *testing.T) {
	ca := newAuthority(t)
	each(t, func(t *testing.T, config app.Config) {
		config.Webhooks = outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Roots: ca.pool}
		svc := start(t, config)
		c := svc.testCaller()
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
		pair, err := tls.LoadX509KeyPair(ca.cert, ca.key)
		if err != nil {
			t.Fatal(err)
		}
		receiver.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		receiver.StartTLS()
		defer receiver.Close()
		q := c.quote(1)
		job, err := c.Start(patient(t), q.UploadID, q.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1, WebhookURL: receiver.URL, WebhookSecret: secret})
		if err != nil {
			t.Fatal(err)
		}
		for i, move := range []string{"", `{"advance_seconds":20}`, `{"advance_seconds":1200}`} {
			if move != "" {
				await.Until(t, "the failed try is stored", func() bool { return svc.tries(c, job.JobID) == i })
				if status, answer := c.clock(svc.url, move); status != 200 {
					t.Fatalf("the clock: %d, %+v", status, answer)
				}
			}
			if err := await.Next(t, calls, "a call of the receiver"); err != nil {
				t.Errorf("call %d does not verify: %v", i, err)
			}
		}
		c.await(job.JobID, client.StatusCompleted)
	})
}

// tries is how often the webhook of a job of test mode was tried.
func (svc *service) tries(c caller, jobID string) (tries int) {
	c.t.Helper()
	var answer struct {
		Deliveries []struct {
			Attempts []any `json:"attempts"`
		} `json:"deliveries"`
	}
	send(c.t, request(c.t, "GET", svc.url+"/v1/renders/"+jobID+"/webhook-deliveries", c.account.Secret, ""), &answer)
	for _, d := range answer.Deliveries {
		tries += len(d.Attempts)
	}
	return tries
}
