package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/outbound"
)

// drained is how much of an answer is read, bytes, so that its connection can be
// used again.
const drained = 16 << 10

// userAgent names who calls.
const userAgent = "svc-webhooks/1"

// letter is a delivery that is due, with all that its call needs.
type letter struct {
	delivery query.WebhookDelivery
	endpoint query.WebhookEndpoint
	body     string
	secrets  []string
	at       time.Time // of the try, by the house's clock
}

// outcome is what became of a call.
type outcome struct {
	letter
	took   time.Duration
	status int    // 0: no answer came
	err    string // why, in words for the endpoint's owner
	answer string
	wish   time.Duration // Retry-After
}

func (o outcome) taken() bool { return o.status >= 200 && o.status <= 299 }

// call makes one try.
func (h *Hooks) call(ctx context.Context, l letter) outcome {
	began := time.Now()
	o := outcome{letter: l}
	res, err := h.post(ctx, l)
	if err != nil {
		o.err = reasonOf(err)
	} else {
		o.status, o.wish = res.StatusCode, wishOf(res.Header, l.at)
		o.answer = readAnswer(res.Body)
	}
	o.took = time.Since(began)
	return o
}

func (h *Hooks) post(ctx context.Context, l letter) (*http.Response, error) {
	signature, err := sign(l.secrets, l.delivery.EventID, l.at, l.body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.endpoint.Url, strings.NewReader(l.body))
	if err != nil {
		return nil, fmt.Errorf("make the call: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set(standardwebhooks.HeaderWebhookID, l.delivery.EventID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(l.at.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return h.client.Do(r)
}

// readAnswer gives the first bytes of an answer as text that any database takes.
func readAnswer(body io.ReadCloser) string {
	defer func() { _ = body.Close() }()
	first, _ := io.ReadAll(io.LimitReader(body, contract.WebhookAnswerKept)) // the status has said all that counts
	_, _ = io.Copy(io.Discard, body)
	return strings.ReplaceAll(strings.ToValidUTF8(string(first), "\uFFFD"), "\x00", "\uFFFD")
}

// reasonOf says why no answer came. What it makes of an unknown error tells
// nothing of the network here.
func reasonOf(err error) string {
	if refused, ok := errors.AsType[*outbound.Refused](err); ok {
		return "the address is not called: " + refused.Reason
	}
	if failed, ok := errors.AsType[*url.Error](err); ok && failed.Timeout() {
		return fmt.Sprintf("no answer within %d seconds", int(contract.WebhookTimeout.Seconds()))
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "the host name could not be looked up"
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return "no connection could be made"
	}
	if text := err.Error(); strings.Contains(text, "tls:") || strings.Contains(text, "x509:") {
		return "the server's certificate, or its TLS, is not in order"
	}
	return "the connection broke off"
}
