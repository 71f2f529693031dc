// Package operators tells operators what is wrong with the service and when it is over, by mail
// and by a message to a chat or another receiver.
//
// What always holds: trouble is told once when it has lasted for a while, and once when it is
// over, however many processes look. The transaction that finds it queues the messages, so no
// crash loses one. Trouble that ends sooner is not told. A database that is away cannot be told
// this way: only monitoring from outside sees that (docs/observe.md).
//
// Start reading at Watch.Look; alerts.go lists what is looked for, send.go sends.
package operators

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/process"
	"svc.example/internal/work/receipt/signing"
)

// Standing is trouble that is not over.
type Standing struct {
	Name   string     `json:"name"` // such as no_worker; of a machine's own trouble disk_low@HOST
	Title  string     `json:"title"`
	Since  time.Time  `json:"since"`
	ToldAt *time.Time `json:"told_at"` // nil while it has not lasted long enough
}

// Standings lists trouble by name.
func Standings(ctx context.Context, tx *db.Tx) ([]Standing, error) {
	rows, err := tx.OperatorAlerts(ctx)
	if err != nil {
		return nil, fmt.Errorf("list alerts: %w", err)
	}
	all := make([]Standing, 0, len(rows))
	for _, r := range rows {
		s := Standing{Name: r.Name, Title: Lookup(r.Name).Title, Since: db.Time(r.Since)}
		if r.ToldAt != 0 {
			s.ToldAt = new(db.Time(r.ToldAt))
		}
		all = append(all, s)
	}
	return all, nil
}

// Every is the pause between two looks.
const Every = time.Minute

// Config is whom to tell of what. The zero value tells nobody.
type Config struct {
	// Mail are addresses. They need Watch.Send.
	Mail []string
	// URL receives messages: an incoming webhook of Slack or Discord, or any address that takes
	// JSON. It is the operator's own, so it may be a private one; "" for none.
	URL string
	// Names are the alerts that are told; nil means all.
	Names []string
}

// Check refuses receivers and names that cannot be.
func Check(mail []string, address string, names []string) error {
	for _, to := range mail {
		if parsed, err := netmail.ParseAddress(to); err != nil || parsed.Address != to {
			return fmt.Errorf("%q is no mail address for alerts", to)
		}
	}
	if parsed, err := url.Parse(address); address != "" && (err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "") {
		return errors.New("the address for alerts must begin with https:// or http://")
	}
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("there is no alert %q; choose from %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Watch looks for trouble and tells it. Every field is required except Send.
type Watch struct {
	Config Config
	DB     *db.DB
	Keys   *signing.Ring
	// Free tells how many bytes the data folder has left.
	Free func() (int64, error)
	Host string // names this machine
	Page string // the public address of the service
	// Files tells whether the store of files can be written.
	Files func() error
	// Send sends a mail; nil when no mail server is configured.
	Send func(ctx context.Context, m identity.Message) error
}

// Look looks once: it remembers trouble that is new, tells what has lasted long enough, and
// what is over. Processes may look at the same time.
func (w *Watch) Look(ctx context.Context) error {
	if len(w.receivers()) == 0 {
		return nil
	}
	var f facts
	var known []query.OperatorAlert
	hosts := map[string]bool{}
	err := w.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if f, err = w.facts(ctx, tx); err != nil {
			return err
		}
		processes, err := process.List(ctx, tx)
		if err != nil {
			return err
		}
		for _, p := range processes {
			hosts[p.Host] = hosts[p.Host] || p.Alive
		}
		known, err = tx.OperatorAlerts(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("look for trouble: %w", err)
	}
	var there, over []string
	for _, a := range All() {
		name := a.Name
		if a.ofHost {
			name += "@" + w.Host
		}
		if w.wants(a.Name) && a.says(f) != "" {
			there = append(there, name)
		}
	}
	for _, k := range known {
		_, host, ofHost := strings.Cut(k.Name, "@")
		if !slices.Contains(there, k.Name) && (!ofHost || host == w.Host || !hosts[host]) {
			over = append(over, k.Name)
		}
	}
	if len(there) == 0 && len(over) == 0 {
		return nil
	}
	return w.DB.Write(ctx, func(tx *db.Tx) error { return w.record(ctx, tx, there, over) })
}

// record stores which trouble is there and which is over, and queues what that tells.
func (w *Watch) record(ctx context.Context, tx *db.Tx, there, over []string) error {
	for _, name := range there {
		if err := tx.OperatorAlertAdd(ctx, query.OperatorAlertAddParams{Name: name, Now: tx.Now}); err != nil {
			return fmt.Errorf("remember trouble: %w", err)
		}
		lasts := tx.Now - Lookup(name).After.Microseconds()
		told, err := tx.OperatorAlertTell(ctx, query.OperatorAlertTellParams{Name: name, Now: tx.Now, Before: lasts})
		if err != nil {
			return fmt.Errorf("remember trouble: %w", err)
		}
		for _, row := range told {
			if err := w.queue(ctx, tx, began, row); err != nil {
				return err
			}
		}
	}
	for _, name := range over {
		rows, err := tx.OperatorAlertEnd(ctx, name)
		if err != nil {
			return fmt.Errorf("forget trouble: %w", err)
		}
		for _, row := range rows {
			if row.ToldAt == 0 || !w.wants(Lookup(name).Name) {
				continue // nobody knows of it, or nobody looks any more whether it is over
			}
			if err := w.queue(ctx, tx, ended, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// queue queues the message of an alert to each receiver.
func (w *Watch) queue(ctx context.Context, tx *db.Tx, state string, row query.OperatorAlert) error {
	for _, to := range w.receivers() {
		if err := lease.Add(ctx, tx, Queue, strings.Join([]string{state, row.Name, to}, " "), row.Since, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether the operator chose an alert.
func (w *Watch) wants(name string) bool {
	return w.Config.Names == nil || slices.Contains(w.Config.Names, name)
}

// receivers are the addresses of mails, and toURL.
func (w *Watch) receivers() (all []string) {
	if w.Send != nil {
		all = append(all, w.Config.Mail...)
	}
	if w.Config.URL != "" {
		all = append(all, toURL)
	}
	return all
}
