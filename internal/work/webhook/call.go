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
	"svc.example/internal/ground/tracing"
	"svc.example/internal/work/webhook/chat"
)

// maxAnswerRead bounds how much of an answer the client reads, in bytes. Reading a
// short answer to its end lets the next call reuse the connection. The bound keeps a
// receiver from holding a call open by an endless answer.
const maxAnswerRead = 16 << 10

// userAgent lets a receiver recognise these calls in its access log.
const userAgent = "svc-webhooks/1"

// attempt is one call of a due delivery. It carries everything that the call needs,
// because the call runs outside any transaction.
type attempt struct {
	delivery query.WebhookDelivery
	endpoint query.WebhookEndpoint
	body     string
	secrets  []string
	at       time.Time // by the database's clock, which the signature's timestamp uses
}

// outcome is the result of one attempt. An outcome with took == 0 means that the
// delivery was not called, because its endpoint was disabled meanwhile.
type outcome struct {
	attempt
	// took is the time from the start of the call to the end of the answer's body, by
	// this process's clock.
	took   time.Duration
	status int    // 0 when no answer came
	err    string // the reason, in words for the endpoint's owner
	// answer is the start of the body, at most contract.WebhookAnswerKept bytes before
	// unreadable characters are replaced.
	answer     string
	retryAfter time.Duration // from the Retry-After header; 0 when absent
}

// succeeded reports whether the receiver has accepted the event: any 2xx (decisions 9).
// A redirect is a failure, because the client follows none.
func (o outcome) succeeded() bool { return o.status >= 200 && o.status <= 299 }

// call makes one attempt. It returns an outcome and no error: a failed call is a result
// to record, not a reason to stop the delivery queue. It blocks for at most
// contract.WebhookTimeout, the client's limit for the whole exchange, and touches no
// shared state, so calls of a delivery queue run side by side.
func (h *Hooks) call(ctx context.Context, a attempt) outcome {
	began := time.Now()
	o := outcome{attempt: a}
	ctx, end := tracing.Root(ctx, "webhook", tracing.JobID(a.delivery.JobID))
	res, err := h.post(ctx, a)
	defer func() { end(err) }()
	if err != nil {
		o.err = reasonOf(err)
	} else {
		o.status, o.retryAfter = res.StatusCode, parseRetryAfter(res.Header, a.at)
		o.answer = readAnswer(res.Body)
	}
	o.took = time.Since(began)
	return o
}

// post makes the call: of a message where the address is a chat's, otherwise of the signed
// event. On success the caller closes the body.
func (h *Hooks) post(ctx context.Context, a attempt) (*http.Response, error) {
	to, err := h.chatOf(a.endpoint.Url), error(nil)
	if to != chat.None {
		if a.body, err = to.Message(a.body, h.JobPage); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.endpoint.Url, strings.NewReader(a.body))
	if err != nil {
		return nil, fmt.Errorf("make the call: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent)
	if to == chat.None {
		if err := h.sign(r.Header, a); err != nil {
			return nil, err
		}
		tracing.Tell(ctx, r.Header)
	}
	return h.client.Do(r)
}

// sign adds the headers of Standard Webhooks. It signs with the time of the attempt, so that a
// receiver can refuse a replayed old request. A try therefore never reuses the signature of the
// one before; only id and body stay the same.
func (h *Hooks) sign(header http.Header, a attempt) error {
	at := a.at
	if h.SignedAt != nil {
		at = h.SignedAt(at)
	}
	signature, err := sign(a.secrets, a.delivery.EventID, at, a.body)
	if err != nil {
		return err
	}
	header.Set(standardwebhooks.HeaderWebhookID, a.delivery.EventID)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}

// readAnswer returns the start of an answer as text that both databases store:
// PostgreSQL refuses invalid UTF-8 and NUL bytes.
func readAnswer(body io.ReadCloser) string {
	defer func() { _ = body.Close() }()
	first, _ := io.ReadAll(io.LimitReader(body, contract.WebhookAnswerKept)) // the status alone decides; the body is for the log
	_, _ = io.Copy(io.Discard, body)
	return strings.ReplaceAll(strings.ToValidUTF8(string(first), "\uFFFD"), "\x00", "\uFFFD")
}

// reasonOf translates an error for the endpoint's owner. It never copies an unknown
// error's text, which could describe the network on this side.
//
// The order matters: a refused address also arrives wrapped in a url.Error, and a
// time-out while dialling is a net.OpError too, so the more telling case comes first.
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
