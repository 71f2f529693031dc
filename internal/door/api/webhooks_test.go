package api_test

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/mailtest"
	"svc.example/internal/work/identity"
)

// TestAWebhookIsNamedAtTheUpload names one in both forms of POST /renders, and
// with an Idempotency-Key: the secret that the service makes is shown again only
// to a repetition of the same request.
func TestAWebhookIsNamedAtTheUpload(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.Webhooks.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
		upload := func(fields map[string]string) answer {
			return s.call("POST", "/v1/renders", s.account, s.form(fields, "scene.blend", demo.Scene()))
		}
		long := deadReceiver + strings.Repeat("x", 2048-len(deadReceiver))
		own := upload(map[string]string{"webhook_url": long, "webhook_secret": "sixteen letters!"}) // the longest, and the shortest
		if own.status != 200 || !is(own, "webhook_configured") || own.body["webhook_secret"] != nil {
			t.Errorf("with a secret: %d %v", own.status, own.body)
		}
		none := upload(nil)
		if none.status != 200 || is(none, "webhook_configured") {
			t.Errorf("without a webhook: %d %v", none.status, none.body)
		}
		for _, c := range []struct {
			fields map[string]string
			code   fault.Code
		}{
			{map[string]string{"webhook_url": "http://127.0.0.1:1024/"}, fault.InvalidWebhookURL},
			{map[string]string{"webhook_url": "https://10.0.0.1/"}, fault.InvalidWebhookURL},
			{map[string]string{"webhook_url": long + "x"}, fault.InvalidWebhookURL},
			{map[string]string{"webhook_url": strings.Repeat(long, 9)}, fault.InvalidRequest},
			{map[string]string{"webhook_url": deadReceiver, "webhook_secret": "fifteen letters"}, fault.WebhookSecretShort},
			{map[string]string{"webhook_secret": "sixteen characters"}, fault.InvalidRequest},
		} {
			if a := upload(c.fields); a.status != 400 || a.code() != c.code {
				t.Errorf("%v: %d %s, want %s", c.fields, a.status, a.code(), c.code)
			}
		}
		made := s.call("POST", "/v1/uploads", s.account, s.form(nil, "scene.blend", demo.Scene()))
		request := jsonBody(`{"upload_id":"` + made.text("upload_id") + `","webhook_url":"` + deadReceiver + `"}`)
		header := map[string]string{"Idempotency-Key": "submit-1"}
		first, again := s.callWith("POST", "/v1/renders", s.account, header, request), s.callWith("POST", "/v1/renders", s.account, header, request)
		secret := first.text("webhook_secret")
		if !strings.HasPrefix(secret, "whsec_") || again.text("webhook_secret") != secret || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("made %q, again %v", secret, again.body)
		}
		read := s.call("GET", "/v1/renders/"+first.text("job_id"), s.account, body{})
		if read.body["webhook_secret"] != nil || !is(read, "webhook_configured") {
			t.Errorf("read later: %v", read.body)
		}
	})
}

// is reads a member that is true or false.
func is(a answer, member string) bool {
	yes, _ := a.body[member].(bool)
	return yes
}

// TestAnOwnerIsMailedWhenAnEndpointIsDisabled has a receiver answer 410, and a
// mail server take what follows.
func TestAnOwnerIsMailedWhenAnEndpointIsDisabled(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
		t.Cleanup(receiver.Close)
		roots := x509.NewCertPool()
		roots.AddCert(receiver.Certificate())
		server := mailtest.Open(t, mailtest.Plain)
		s := start(t, url, func(c *app.Config) {
			c.Webhooks.Allow, c.Webhooks.Roots = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, roots
			var err error
			if c.Mail, err = identity.NewMail("smtp://"+server.Address, "renders@svc.example"); err != nil {
				t.Fatal(err)
			}
		})
		b := s.signedIn("owner@example.com")
		made := b.do("POST", "/v1/webhook-endpoints", jsonBody(`{"url":"`+receiver.URL+`/?token=hidden"}`))
		endpointID := made.text("endpoint_id")
		if a := b.do("POST", "/v1/webhook-endpoints/"+endpointID+"/test", jsonBody(`{}`)); a.status != 200 {
			t.Fatalf("test: %d %v", a.status, a.body)
		}
		message := await.Next(t, server.Messages, "the message").Text
		for _, want := range []string{"To: <owner@example.com>", "Subject: A webhook endpoint is disabled", endpointID, receiver.URL, "410 Gone"} {
			if !strings.Contains(message, want) {
				t.Errorf("the message has no %q: %s", want, message)
			}
		}
		if strings.Contains(message, "hidden") {
			t.Errorf("the message shows the address's query: %s", message)
		}
		if a := b.do("GET", "/v1/webhook-endpoints/"+endpointID, body{}); is(a, "enabled") || a.text("disabled_reason") != "gone" {
			t.Errorf("the endpoint is %v", a.body)
		}
	})
}
