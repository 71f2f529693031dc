package client

import (
	"context"
	"errors"
	"iter"
)

// RawWebhook is an event of the workspace as a webhook endpoint gets it. Body is what
// would be signed and sent, byte for byte.
type RawWebhook struct {
	ID   string // the webhook-id
	Type string // one of the Event constants
	Body []byte
}

// OldestEvent is the id before the oldest event that the service keeps.
const OldestEvent = "0"

// WebhookEvents yields the ends of the workspace's jobs after the event with the id
// after, or from now on when after is empty, until the context ends. Each comes once and
// in order.
//
// Once the stream has been open, it survives lost connections and restarts of the
// server, and misses nothing in between. It yields an error only when the first
// connection fails as often as [WithAttempts] says, when the context ends, or when the
// server refuses for good; the error is the last thing it yields.
func (c *Client) WebhookEvents(ctx context.Context, after string) iter.Seq2[RawWebhook, error] {
	return func(yield func(RawWebhook, error) bool) {
		f := &webhookFollower{client: c, lastID: after, yield: yield}
		if err := f.run(ctx); err != nil && !errors.Is(err, errDone) {
			yield(RawWebhook{}, &CallError{Server: c.base.String(), Call: "GET " + f.path(), cause: err})
		}
	}
}

// webhookFollower is the state of one loop over events, over all of its connections.
type webhookFollower struct {
	client *Client
	yield  func(RawWebhook, error) bool
	lastID string // of the last event handed on, or where the stream began
	opened bool   // a stream has told where it begins
	heard  bool   // this connection has said something
}

// run opens one stream after another.
func (f *webhookFollower) run(ctx context.Context) error {
	for failures := 1; ; failures++ {
		f.heard = false
		err := f.stream(ctx)
		if f.heard {
			failures = 1
		}
		attempts := f.client.retry.attempts
		if f.opened {
			attempts = WithoutEnd
		}
		if errors.Is(err, errDone) || (err != nil && !passing(ctx, err) && !(f.opened && unknownHost(err))) || failures >= attempts {
			return err
		}
		if stopped := f.client.retry.pause(ctx, failures, attempts, err); stopped != nil {
			return stopped
		}
	}
}

// stream yields the events of one connection, until it breaks.
func (f *webhookFollower) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := f.client.openStream(ctx, cancel, f.path(), f.lastID)
	if err != nil {
		return err
	}
	defer body.Close()
	return readMessages(body, f.hand)
}

// path is where the client's kind of key finds the stream.
func (f *webhookFollower) path() string {
	if f.client.AccountKey() {
		return "/v1/events"
	}
	return "/node/v1/events"
}

// hand yields an event; an entry without data only says where the stream begins.
func (f *webhookFollower) hand(m message) error {
	f.heard, f.opened = true, true
	if m.id != "" {
		f.lastID = m.id
	}
	if m.data != "" && !f.yield(RawWebhook{ID: m.id, Type: m.kind, Body: []byte(m.data)}, nil) {
		return errDone
	}
	return nil
}
