package identity

import (
	"context"
	"fmt"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/notice"
)

// Login is what an OpenID Connect issuer asserts about a person. Subject identifies the
// person at Issuer forever. The address may change and may pass to someone else, so it
// counts only at the first sign-in.
type Login struct {
	Issuer        string
	Subject       string
	Email         string
	EmailVerified bool
}

// SignInByIssuer opens a session for a person that an issuer vouches for. The first
// sign-in joins the login to the person with that address, or creates a person and a
// workspace. The issuer must therefore have verified the address: otherwise anyone
// could take over an account. The browser's previous session, "" when none, ends.
// Errors: sign_in_failed.
func SignInByIssuer(ctx context.Context, tx *db.Tx, l Login, before string) (Opened, error) {
	known, err := tx.LoginPerson(ctx, query.LoginPersonParams{Issuer: l.Issuer, Subject: l.Subject})
	if err == nil {
		return openVerified(ctx, tx, Person{known.PersonID, known.Email, known.WorkspaceID}, before)
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
	row := query.PersonLogin{Issuer: l.Issuer, Subject: l.Subject, PersonID: p.PersonID, CreatedAt: tx.Now}
	row.RowSum = logins.Of(row)
	if err := tx.LoginCreate(ctx, query.LoginCreateParams(row)); err != nil {
		return Opened{}, fmt.Errorf("create login: %w", err)
	}
	return openVerified(ctx, tx, p, before)
}

// openVerified opens a session for a person whose address the issuer had verified when the
// login was made.
func openVerified(ctx context.Context, tx *db.Tx, p Person, before string) (Opened, error) {
	if err := notice.Verified(ctx, tx, p.PersonID); err != nil {
		return Opened{}, err
	}
	return open(ctx, tx, p, before, tx.Time().Add(contract.SessionLife))
}
