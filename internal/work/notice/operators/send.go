package operators

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook/chat"
)

// Queue is the lease queue of messages. The subject is state, alert and receiver, separated by
// blanks, or tested alone, for all receivers; the item is since when there is trouble.
const Queue = "operator_notice"

// MaxTries bounds the tries of a message: with the runner's pauses, about an hour.
const MaxTries = 60

// States of a message.
const (
	began  = "began"
	ended  = "over"
	tested = "test" // no trouble: an operator tries where messages arrive
)

// toURL is the receiver of messages at Config.URL. The address is a secret, so no row has it.
const toURL = "url"

// sendTimeout bounds one message to Config.URL.
const sendTimeout = 10 * time.Second

// Message is what a receiver that is no chat service gets.
type Message struct {
	Text  string    `json:"text"` // for a person
	Alert string    `json:"alert"`
	State string    `json:"state"` // "began", "over" or "test"
	Since time.Time `json:"since"`
}

// Notify handles a lease of Queue. A receiver that is no longer configured gets nothing. An
// error leaves the lease to the runner, which tries again later.
func (w *Watch) Notify(ctx context.Context, l lease.Lease) error {
	if l.Subject == tested {
		return w.DB.Write(ctx, func(tx *db.Tx) error {
			return errors.Join(w.queue(ctx, tx, tested, query.OperatorAlert{Name: tested, Since: l.Item}), lease.Finish(ctx, tx, l.Ref()))
		})
	}
	if part := strings.SplitN(l.Subject, " ", 3); len(part) == 3 && slices.Contains(w.receivers(), part[2]) {
		if err := w.tell(ctx, part[0], part[1], part[2], l); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // what was sent is recorded even while the service stops
	return w.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
}

// tell sends one message to one receiver. An alert that no longer exists is not told.
func (w *Watch) tell(ctx context.Context, state, name, to string, l lease.Lease) error {
	a := Lookup(name)
	if state != tested && a.Name == "" {
		return nil
	}
	text, err := w.text(ctx, state, name, a)
	if err != nil {
		return err
	}
	if to == toURL {
		return w.post(ctx, Message{Text: text, Alert: name, State: state, Since: db.Time(l.Item).UTC()})
	}
	subject := map[string]string{began: a.Title, ended: "over: " + a.Title, tested: "test of alerts"}[state]
	return w.Send(ctx, identity.Message{To: to, Subject: contract.Service + ": " + subject, Text: text + "\n",
		ID: fmt.Sprintf("%s.%s.%d", state, strings.ReplaceAll(name, "@", "-"), l.Item)})
}

// text is what a person reads: the trouble with its figures of now, or that it is over.
func (w *Watch) text(ctx context.Context, state, name string, a Alert) (string, error) {
	_, host, _ := strings.Cut(name, "@")
	title := a.Title
	if host != "" {
		title += " on " + host
	}
	switch state {
	case tested:
		return fmt.Sprintf("This is a test. Alerts of %s at %s will come here.", contract.Service, w.Page), nil
	case ended:
		return fmt.Sprintf("Over: %s. (%s)", title, w.Page), nil
	}
	var f facts
	err := w.DB.Read(ctx, func(tx *db.Tx) (err error) {
		f, err = w.facts(ctx, tx)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read what is wrong: %w", err)
	}
	if figures := a.says(f); figures != "" && (host == "" || host == w.Host) {
		title += ": " + figures
	}
	return fmt.Sprintf("%s. What to do: %s/guide/%s", title, w.Page, a.Runbook), nil
}

// client calls the operator's own address, also a private one. It follows no redirect.
var client = &http.Client{
	Timeout: sendTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post sends a message to Config.URL. Errors do not repeat the address, whose path is a secret.
func (w *Watch) post(ctx context.Context, m Message) error {
	address, err := url.Parse(w.Config.URL)
	if err != nil {
		return errors.New("the address for alerts is no URL")
	}
	body, err := plainjson.Marshal(m)
	if err == nil {
		if to := chat.At(address); to != chat.None {
			body, err = to.Form(m.Text)
		}
	}
	if err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the address for alerts is no URL")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return fmt.Errorf("send an alert to %s: %w", address.Host, err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16)) // so that the connection can be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("send an alert to %s: it answers %s", address.Host, res.Status)
	}
	return nil
}

// QueueTest has the service send a test message to each receiver, so that an operator sees
// where alerts arrive.
func QueueTest(ctx context.Context, tx *db.Tx) error {
	return lease.Add(ctx, tx, Queue, tested, tx.Now, time.Time{})
}
