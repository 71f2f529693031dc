package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Types of webhook events; docs/webhook-events.md says what they are.
const (
	EventCompleted = "render.completed"
	EventFailed    = "render.failed"
	EventCancelled = "render.cancelled"
	EventWalletLow = "wallet.low"   // it is about no job, nor is
	EventTest      = "webhook.test" // the test of an endpoint
)

// WebhookEvent is the content of a verified webhook. A receiver may get one event
// several times, with the same ID, and must act on it once.
type WebhookEvent struct {
	ID        string    // the webhook-id: equal whenever the same event is sent again
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"` // when it happened
	// Job is the job as it was then; nil for an event that is not about a job. Read the job before you act on
	// it irreversibly (spec 6).
	Job *Job `json:"-"`
}

// webhookTolerance is the accepted difference between a call's time and now. It
// bounds how long a recorded call can be replayed, and how wrong the receiver's
// clock may be.
const webhookTolerance = 5 * time.Minute

// VerifyWebhook checks with the webhook's secret that the service sent body with
// header, at about now, and decodes it. body must be the bytes as received:
// decoding and encoding them again changes what was signed. During a rotation
// either secret is accepted. An error means: do not act on it.
func VerifyWebhook(secret string, header http.Header, body []byte, now time.Time) (*WebhookEvent, error) {
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	if id == "" || stamp == "" {
		return nil, errors.New("verify webhook: it has no webhook-id or no webhook-timestamp")
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("verify webhook: read webhook-timestamp: %w", err)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > webhookTolerance || age < -webhookTolerance {
		return nil, fmt.Errorf("verify webhook: its timestamp is %s away from now, which is too much", age)
	}
	if err := checkSignature(secret, header.Get("webhook-signature"), id+"."+stamp+"."+string(body)); err != nil {
		return nil, fmt.Errorf("verify webhook: %w", err)
	}
	e := &WebhookEvent{ID: id}
	var data struct {
		Job *Job `json:"data"`
	}
	if err := errors.Join(json.Unmarshal(body, e), json.Unmarshal(body, &data)); err != nil {
		return nil, fmt.Errorf("read webhook: %w", err)
	}
	if strings.HasPrefix(e.Type, "render.") {
		e.Job = data.Job
	}
	return e, nil
}

// checkSignature looks for one valid signature of the text among several, which a
// rotation makes. A secret that begins with whsec_ is base64, any other is taken as
// it is (decisions 9).
func checkSignature(secret, signatures, text string) error {
	key := []byte(secret)
	if encoded, prefixed := strings.CutPrefix(secret, "whsec_"); prefixed {
		var err error
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return errors.New("the secret is not base64 after whsec_")
		}
	}
	if len(key) == 0 {
		return errors.New("the secret is empty") // anyone could sign with it
	}
	// The id and the time are signed with the body, so none of them can be
	// exchanged.
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	want := mac.Sum(nil)
	for signature := range strings.FieldsSeq(signatures) {
		encoded, v1 := strings.CutPrefix(signature, "v1,")
		got, err := base64.StdEncoding.DecodeString(encoded)
		if v1 && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return errors.New("no signature was made with this secret")
}
