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
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/plainjson"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/webhook"
)

// Queue is the lease queue of messages. The subject is state, alert and receiver, separated by
// blanks, or testAlert; the item is since when there is trouble.
const Queue = "operator_notice"

// MaxTries bounds the tries of a message: with the runner's pauses, about an hour.
const MaxTries = 60

// States of a message.
const (
	began = "began"
	ended = "over"
)

// toURL is the receiver of messages at Config.URL. The address is a secret, so no row has it.
const toURL = "url"

// sendTimeout bounds one message to Config.URL.
const sendTimeout = 10 * time.Second

// Message is what a receiver that is no chat service gets.
type Message struct {
	Text  string    `json:"text"` // for a person
	Alert string    `json:"alert"`
	State string    `json:"state"` // "began" or "over"
	Since time.Time `json:"since"`
}

// Notify handles a lease of Queue. A receiver that is no longer configured gets nothing. An
// error leaves the lease to the runner, which tries again later.
func (w *Watch) Notify(ctx context.Context, l lease.Lease) error {
	part := strings.SplitN(l.Subject, " ", 3)
	if l.Subject == testAlert {
		if err := w.test(ctx); err != nil {
			return err
		}
	}
	if len(part) == 3 && slices.Contains(w.receivers(), part[2]) && Lookup(part[1]).Name != "" {
		text, err := w.text(ctx, part[0], part[1])
		if err != nil {
			return err
		}
		m := Message{Text: text, Alert: part[1], State: part[0], Since: db.Time(l.Item).UTC()}
		if part[2] == toURL {
			err = w.post(ctx, m)
		} else {
			err = w.mail(ctx, part[2], m, l)
		}
		if err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // what was sent is recorded even while the service stops
	return w.DB.Write(ctx, func(tx *db.Tx) error { return lease.Finish(ctx, tx, l.Ref()) })
}

// text is what a person reads: the trouble with its figures of now, or that it is over.
func (w *Watch) text(ctx context.Context, state, name string) (string, error) {
	a := Lookup(name)
	_, host, _ := strings.Cut(name, "@")
	text := a.Title
	if host != "" {
		text += " on " + host
	}
	if state == ended {
		return fmt.Sprintf("Over: %s. (%s)", text, w.Page), nil
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
		text += ": " + figures
	}
	return fmt.Sprintf("%s. What to do: %s/guide/runbook#%s", text, w.Page, a.Runbook), nil
}

// mail sends a message to an address.
func (w *Watch) mail(ctx context.Context, to string, m Message, l lease.Lease) error {
	subject := contract.Service + ": " + Lookup(m.Alert).Title
	if m.State == ended {
		subject = contract.Service + ": over: " + Lookup(m.Alert).Title
	}
	return w.Send(ctx, identity.Message{To: to, Subject: subject, Text: m.Text + "\n",
		ID: fmt.Sprintf("%s.%s.%d", m.State, strings.ReplaceAll(m.Alert, "@", "-"), l.Item)})
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
		if chat := webhook.ChatAt(address); chat != webhook.NoChat {
			body, err = chat.Form(m.Text)
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

// testAlert is the name of a message that is no alert, for all receivers.
const testAlert = "test"

// QueueTest has the service send a test message to its receivers, so that an operator sees
// where alerts arrive.
func QueueTest(ctx context.Context, tx *db.Tx) error {
	return lease.Add(ctx, tx, Queue, testAlert, tx.Now, time.Time{})
}

// test sends a message to every receiver. It continues after one that fails.
func (w *Watch) test(ctx context.Context) error {
	m := Message{Text: fmt.Sprintf("This is a test. Alerts of %s at %s will come here.", contract.Service, w.Page), Alert: testAlert, State: began, Since: time.Now().UTC()}
	var errs []error
	for _, to := range w.receivers() {
		if to == toURL {
			errs = append(errs, w.post(ctx, m))
			continue
		}
		err := w.Send(ctx, identity.Message{To: to, Subject: contract.Service + ": test of alerts", Text: m.Text + "\n", ID: fmt.Sprintf("test.%d", m.Since.UnixMicro())})
		if err != nil {
			err = fmt.Errorf("mail %s: %w", to, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
