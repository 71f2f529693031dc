package client_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/client"
	"svc.example/internal/ground/contract"
)

const webhookBody = `{"type":"render.completed","timestamp":"2026-01-02T03:04:05Z","data":{"job_id":"JOB-1","status":"completed"}}`

// signed signs with the public library, as the service does.
func signed(t *testing.T, secret []byte, at time.Time, body string) http.Header {
	t.Helper()
	wh, err := standardwebhooks.NewWebhookRaw(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := wh.Sign("msg_1", at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	h.Set("webhook-id", "msg_1")
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", "v1,AAAA v2,nothing "+signature)
	return h
}

func TestWebhookIsVerifiedWithEitherKindOfSecret(t *testing.T) {
	t.Parallel()
	now := time.Now()
	raw := []byte("sixteen letters or more")
	for _, secret := range []string{string(raw), "whsec_" + base64.StdEncoding.EncodeToString(raw)} {
		e, err := client.VerifyWebhook(secret, signed(t, raw, now, webhookBody), []byte(webhookBody), now)
		if err != nil || e.ID != "msg_1" || e.Type != client.EventCompleted || e.Job == nil || e.Job.JobID != "JOB-1" || e.Timestamp.Year() != 2026 {
			t.Errorf("%q: %+v, %v", secret, e, err)
		}
	}
}

func TestOnlyEventsOfJobsHaveAJob(t *testing.T) {
	t.Parallel()
	now, secret := time.Now(), "sixteen letters or more"
	for _, event := range contract.Events() {
		body := `{"type":"` + event.Type + `","timestamp":"2026-01-01T00:00:00Z","data":{"job_id":"JOB-1"}}`
		e, err := client.VerifyWebhook(secret, signed(t, []byte(secret), now, body), []byte(body), now)
		if err != nil || (e.Job != nil) != event.EndsJob {
			t.Errorf("%s: %+v, %v", event.Type, e, err)
		}
	}
}

func TestWebhookOfNobodyIsRefused(t *testing.T) {
	t.Parallel()
	now := time.Now()
	raw := []byte("sixteen letters or more")
	good := signed(t, raw, now, webhookBody)
	without := func(name string) http.Header {
		h := good.Clone()
		h.Del(name)
		return h
	}
	for name, c := range map[string]struct {
		secret string
		header http.Header
		body   string
		now    time.Time
	}{
		"another secret":    {"another secret, long enough", good, webhookBody, now},
		"another body":      {string(raw), good, webhookBody + " ", now},
		"too old":           {string(raw), good, webhookBody, now.Add(6 * time.Minute)},
		"from the future":   {string(raw), good, webhookBody, now.Add(-6 * time.Minute)},
		"no id":             {string(raw), without("webhook-id"), webhookBody, now},
		"no time":           {string(raw), without("webhook-timestamp"), webhookBody, now},
		"no signature":      {string(raw), without("webhook-signature"), webhookBody, now},
		"a broken secret":   {"whsec_!", good, webhookBody, now},
		"an empty secret":   {"", signed(t, nil, now, webhookBody), webhookBody, now},
		"nothing in base64": {"whsec_", signed(t, nil, now, webhookBody), webhookBody, now},
		"what is no event":  {string(raw), signed(t, raw, now, "[]"), "[]", now},
	} {
		if e, err := client.VerifyWebhook(c.secret, c.header, []byte(c.body), c.now); err == nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
