package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
)

// LinkQueue is the queue of links to be sent. The subject is the address, so
// that somebody who asks twice at once gets one link.
const LinkQueue = "sign_in_link"

// What one address may get, lest strangers fill its mailbox.
const (
	linksPerAddress = 3
	linksWindow     = contract.SignInLinkLife
)

// AskForLink has a one-time link sent to an address. It tells nobody whether
// the address is known, nor whether it has had its share; only what is no
// address is an error (invalid_request).
func AskForLink(ctx context.Context, tx *db.Tx, email string) error {
	email, err := address(email)
	if err != nil {
		return err
	}
	sent, err := tx.SignInLinksOf(ctx, query.SignInLinksOfParams{Email: email, Since: tx.Now - linksWindow.Microseconds()})
	if err != nil {
		return fmt.Errorf("count sign-in links: %w", err)
	}
	if sent >= linksPerAddress {
		return nil
	}
	return lease.Add(ctx, tx, LinkQueue, email, 0, tx.Time())
}

// CreateSignInLink makes the one-time token of a link that lives 15 minutes.
// Error: invalid_request where the address is none, which a person could not be
// made of when the link is used.
func CreateSignInLink(ctx context.Context, tx *db.Tx, email string) (token string, err error) {
	if email, err = address(email); err != nil {
		return "", err
	}
	if token, err = newSecret(""); err != nil {
		return "", err
	}
	err = tx.SignInLinkCreate(ctx, query.SignInLinkCreateParams{
		TokenSha256: hash(token), Email: email,
		CreatedAt: tx.Now, ExpiresAt: tx.Now + contract.SignInLinkLife.Microseconds(),
	})
	if err != nil {
		return "", fmt.Errorf("create sign-in link: %w", err)
	}
	return token, nil
}

// Links makes the links that were asked for and has them delivered.
type Links struct {
	DB      *db.DB
	Address links.Links // what opens a link
	// Deliver brings a link to its address: by mail, or by the operator.
	Deliver func(ctx context.Context, email, link string) error
}

// MaxDeliveries is how often a link is tried: with the runner's pauses, about a
// minute. Who asked is waiting in front of a screen, and can ask again.
const MaxDeliveries = 6

// Send is the work of a lease of LinkQueue. Every try makes a link of its own,
// since a token is kept nowhere; that of a failed try is taken back.
func (l Links) Send(ctx context.Context, work lease.Lease) error {
	var token string
	err := l.DB.Write(ctx, func(tx *db.Tx) (err error) {
		token, err = CreateSignInLink(ctx, tx, work.Subject)
		return err
	})
	if err != nil {
		return err
	}
	failed := l.Deliver(ctx, work.Subject, l.Address.SignIn(token))
	ctx = context.WithoutCancel(ctx) // what was sent is noted even while the server stops
	err = l.DB.Write(ctx, func(tx *db.Tx) error {
		if failed == nil {
			return lease.Finish(ctx, tx, work.Ref())
		}
		if err := tx.SignInLinkDelete(ctx, hash(token)); err != nil {
			return fmt.Errorf("take sign-in link back: %w", err)
		}
		return nil
	})
	return errors.Join(failed, err)
}

// unsentKept is how long an operator finds a link that could not be sent among the
// dead letters: anyone can ask for one, to any address.
const unsentKept = 30 * 24 * time.Hour

// ForgetUnsent removes dead letters of LinkQueue that are older.
func ForgetUnsent(ctx context.Context, d *db.DB) (int64, error) {
	return lease.ForgetDead(ctx, d, LinkQueue, unsentKept)
}
