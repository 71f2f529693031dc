package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
)

// LinkQueue is the lease queue of sign-in links to send. The subject is the address,
// so that a person who asks twice at once gets one link.
const LinkQueue = "sign_in_link"

// Bound on the links for one mailbox, so that a caller cannot fill another person's.
const (
	linksPerAddress = 3
	linksWindow     = contract.SignInLinkLife
)

// RequestLink queues a one-time link for an address. The answer never reveals whether
// the address is known, or has reached its limit: in that case nothing is queued and no
// error returned. Repeating the request while a link waits to be sent sends one. Error:
// invalid_request when the address is malformed; rate_limited when the caller's network
// address has asked for too many, so that nobody else's mail waits for them.
func RequestLink(ctx context.Context, tx *db.Tx, email string) error {
	email, err := address(email)
	if err != nil {
		return err
	}
	if err := ratelimit.Share(ctx, ratelimit.SignInMail); err != nil {
		return err
	}
	plain, tagged := mailbox(email)
	sent, err := tx.SignInLinksOf(ctx, query.SignInLinksOfParams{Email: plain, Tagged: tagged, Since: tx.Now - linksWindow.Microseconds()})
	if err != nil {
		return fmt.Errorf("count sign-in links: %w", err)
	}
	if sent >= linksPerAddress {
		return nil
	}
	return lease.Add(ctx, tx, LinkQueue, email, 0, tx.Time())
}

// mailbox is where most mail services deliver an address, which is without what follows a plus
// sign, and a pattern of the other addresses that they deliver there.
func mailbox(email string) (plain, tagged string) {
	at := strings.LastIndexByte(email, '@')
	local, _, _ := strings.Cut(email[:at], "+")
	domain := email[at:]
	escaped := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
	return local + domain, escaped.Replace(local) + "+%" + escaped.Replace(domain)
}

// CreateSignInLink makes the one-time token of a link. It is valid for
// contract.SignInLinkLife and signs in anyone who has it, so pass it only to the
// address or to the operator. Error: invalid_request when the address is malformed:
// using such a link could not create a person.
func CreateSignInLink(ctx context.Context, tx *db.Tx, email string) (token string, err error) {
	return createLink(ctx, tx, email, "")
}

// mailedLink begins the tokens of links that go to their address by mail: using one proves
// the address. Only tokens that this package made are ever accepted, so nobody can add it.
const mailedLink = "mail_"

func createLink(ctx context.Context, tx *db.Tx, email, prefix string) (token string, err error) {
	if email, err = address(email); err != nil {
		return "", err
	}
	if token, err = NewSecret(prefix); err != nil {
		return "", err
	}
	row := query.SignInLink{
		TokenSha256: Hash(token), Email: email,
		CreatedAt: tx.Now, ExpiresAt: tx.Now + contract.SignInLinkLife.Microseconds(),
	}
	row.RowSum = signInLinks.Of(row)
	if err := tx.SignInLinkCreate(ctx, query.SignInLinkCreateParams(row)); err != nil {
		return "", fmt.Errorf("create sign-in link: %w", err)
	}
	return token, nil
}

// LinkAddress returns the address that a link signs in, and does not use the link up. Error:
// link_invalid.
func LinkAddress(ctx context.Context, tx *db.Tx, token string) (string, error) {
	row, err := tx.SignInLinkGet(ctx, query.SignInLinkGetParams{Now: tx.Now, TokenSha256: Hash(token)})
	if db.IsNotFound(err) {
		return "", linkInvalid()
	}
	if err != nil {
		return "", fmt.Errorf("look up sign-in link: %w", err)
	}
	return row.Email, nil
}

// linkInvalid is the error of a link that does not work.
func linkInvalid() error {
	return fault.New(fault.LinkInvalid, "This link is invalid, has expired, or was already used.")
}

// Links makes the requested links and delivers them.
type Links struct {
	DB      *db.DB
	Address links.Links // builds the URL that opens a link
	// Deliver sends a link to its address: by mail, or through the operator.
	Deliver func(ctx context.Context, email, link string) error
	// Mailed says that Deliver sends mails.
	Mailed bool
}

// MaxDeliveries bounds the tries of a link. With the runner's pauses they take about half
// a minute; then the link is a dead letter. The person waits in front of a screen and can
// ask again.
const MaxDeliveries = 6

// Send handles a lease of LinkQueue. Every try makes a new link, because no token is
// stored. A failed try deletes its link, so that it does not count against the
// address's limit. A crash after the delivery leaves the lease to be tried again: the
// person then gets two links, and both work.
func (l Links) Send(ctx context.Context, work lease.Lease) error {
	token, prefix := "", ""
	if l.Mailed {
		prefix = mailedLink
	}
	err := l.DB.Write(ctx, func(tx *db.Tx) (err error) {
		token, err = createLink(ctx, tx, work.Subject, prefix)
		return err
	})
	if err != nil {
		return err
	}
	failed := l.Deliver(ctx, work.Subject, l.Address.SignIn(token))
	ctx = context.WithoutCancel(ctx) // a sent link is recorded even while the server stops
	err = l.DB.Write(ctx, func(tx *db.Tx) error {
		if failed == nil {
			return lease.Finish(ctx, tx, work.Ref())
		}
		if err := tx.SignInLinkDelete(ctx, Hash(token)); err != nil {
			return fmt.Errorf("delete sign-in link: %w", err)
		}
		return nil
	})
	return errors.Join(failed, err)
}

// unsentKept is how long an operator finds an undeliverable link among the dead
// letters. It is bounded because anyone can request links to any address, and each
// leaves an address in the database.
const unsentKept = 30 * 24 * time.Hour

// ForgetUnsent deletes dead letters of LinkQueue that are older than unsentKept, and
// returns how many.
func ForgetUnsent(ctx context.Context, d *db.DB) (int64, error) {
	return lease.ForgetDead(ctx, d, LinkQueue, unsentKept)
}
