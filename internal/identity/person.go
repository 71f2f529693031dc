package identity

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"svc.example/internal/contract"
	"svc.example/internal/db"
	"svc.example/internal/db/query"
	"svc.example/internal/fault"
	"svc.example/internal/id"
	"svc.example/internal/wallet"
)

// Person is somebody who signs in.
type Person struct {
	PersonID    string
	Email       string
	WorkspaceID string
}

// CreateWorkspace makes a person of that address with a workspace and an empty
// wallet. Somebody who already has one keeps it.
func CreateWorkspace(ctx context.Context, tx *db.Tx, email string) (Person, error) {
	address, err := mail.ParseAddress(email)
	if err != nil || address.Name != "" {
		return Person{}, fault.Field("email", "is not an e-mail address").Because(err)
	}
	email = strings.ToLower(address.Address)
	known, err := tx.PersonByEmail(ctx, email)
	if err == nil {
		return Person{known.PersonID, known.Email, known.WorkspaceID}, nil
	}
	if !db.Missing(err) {
		return Person{}, fmt.Errorf("look up person: %w", err)
	}
	p := Person{PersonID: id.New(id.Person), Email: email, WorkspaceID: id.New(id.Workspace)}
	err = tx.WorkspaceCreate(ctx, query.WorkspaceCreateParams{WorkspaceID: p.WorkspaceID, Name: email, CreatedAt: tx.Now})
	if err != nil {
		return Person{}, fmt.Errorf("create workspace: %w", err)
	}
	made, err := tx.PersonCreate(ctx, query.PersonCreateParams{PersonID: p.PersonID, Email: email, WorkspaceID: p.WorkspaceID, CreatedAt: tx.Now})
	if err != nil {
		return Person{}, fmt.Errorf("create person: %w", err)
	}
	if made == 0 {
		return Person{}, fault.New(fault.Unavailable, "Somebody is signing in with this address right now.")
	}
	return p, wallet.Open(ctx, tx, p.WorkspaceID)
}

// CreateSignInLink makes the one-time token of a link that lives 15 minutes.
func CreateSignInLink(ctx context.Context, tx *db.Tx, email string) (token string, err error) {
	if token, err = newSecret(""); err != nil {
		return "", err
	}
	err = tx.SignInLinkCreate(ctx, query.SignInLinkCreateParams{
		TokenSha256: hash(token), Email: strings.ToLower(strings.TrimSpace(email)),
		CreatedAt: tx.Now, ExpiresAt: tx.Now + contract.SignInLinkLife.Microseconds(),
	})
	if err != nil {
		return "", fmt.Errorf("create sign-in link: %w", err)
	}
	return token, nil
}

// SignIn takes the token of a link, once, and opens a session; a first sign-in
// makes the person and a workspace. Errors: link_invalid.
func SignIn(ctx context.Context, tx *db.Tx, linkToken string) (p Person, session string, expires time.Time, err error) {
	link, err := tx.SignInLinkUse(ctx, query.SignInLinkUseParams{Now: tx.Now, TokenSha256: hash(linkToken)})
	if db.Missing(err) {
		return p, "", expires, fault.New(fault.LinkInvalid, "This link is unknown, used or too old.")
	}
	if err != nil {
		return p, "", expires, fmt.Errorf("use sign-in link: %w", err)
	}
	if p, err = CreateWorkspace(ctx, tx, link.Email); err != nil {
		return p, "", expires, err
	}
	if session, err = newSecret(""); err != nil {
		return p, "", expires, err
	}
	expires = tx.Time().Add(contract.SessionLife)
	err = tx.SessionCreate(ctx, query.SessionCreateParams{
		TokenSha256: hash(session), PersonID: p.PersonID, CreatedAt: tx.Now, ExpiresAt: db.Micros(expires),
	})
	if err != nil {
		return p, "", expires, fmt.Errorf("create session: %w", err)
	}
	return p, session, expires, nil
}

// Session authenticates a session cookie's value, or fails with
// unauthenticated.
func Session(ctx context.Context, d *db.DB, token string) (p Person, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.SessionGet(ctx, hash(token))
		if db.Missing(err) || (err == nil && row.ExpiresAt <= tx.Now) {
			return fault.New(fault.Unauthenticated, "The session has ended; sign in again.")
		}
		if err != nil {
			return fmt.Errorf("look up session: %w", err)
		}
		p = Person{row.PersonID, row.Email, row.WorkspaceID}
		return nil
	})
	return p, err
}

// SignOut ends a session.
func SignOut(ctx context.Context, tx *db.Tx, token string) error {
	if err := tx.SessionDelete(ctx, hash(token)); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}
