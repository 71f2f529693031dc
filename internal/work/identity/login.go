package identity

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Login is what an OpenID Connect issuer says of somebody. Subject is who they
// are at Issuer, for ever; the address may change.
type Login struct {
	Issuer        string
	Subject       string
	Email         string
	EmailVerified bool
}

// SignInBy opens a session for whom an issuer vouches. A first sign-in is
// joined to the person of that address, and makes the person and a workspace
// where there is none; therefore the issuer must have verified the address. The
// session that the browser had before, "" when none, ends. Errors:
// sign_in_failed.
func SignInBy(ctx context.Context, tx *db.Tx, l Login, before string) (Opened, error) {
	known, err := tx.LoginPerson(ctx, query.LoginPersonParams{Issuer: l.Issuer, Subject: l.Subject})
	if err == nil {
		return open(ctx, tx, Person{known.PersonID, known.Email, known.WorkspaceID}, before)
	}
	if !db.IsNotFound(err) {
		return Opened{}, fmt.Errorf("look up login: %w", err)
	}
	if !l.EmailVerified || l.Email == "" {
		return Opened{}, fault.New(fault.SignInFailed, "The issuer has not verified your e-mail address.")
	}
	p, err := CreateWorkspace(ctx, tx, l.Email)
	if err != nil {
		return Opened{}, err
	}
	err = tx.LoginCreate(ctx, query.LoginCreateParams{Issuer: l.Issuer, Subject: l.Subject, PersonID: p.PersonID, CreatedAt: tx.Now})
	if err != nil {
		return Opened{}, fmt.Errorf("create login: %w", err)
	}
	return open(ctx, tx, p, before)
}
