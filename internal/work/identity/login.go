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

// vouches reports whether the issuer says now that the address by which the service knows a
// person is theirs.
func (l Login) vouches(p Person) bool {
	email, err := address(l.Email)
	return l.EmailVerified && err == nil && email == p.Email
}

// hash is what is kept of a login whose person may be gone.
func (l Login) hash() string { return Hash("login\n" + l.Issuer + "\n" + l.Subject) }

// SignIn opens a session for a person that an issuer vouches for. The first
// sign-in joins the login to the person with that address, or creates a person and a
// workspace. The issuer must therefore have verified the address: otherwise anyone
// could take over an account. The person joins the workspace that has the domain of the
// address; that of a new person is the one that signing in opens. The browser's previous
// session, "" when none, ends. Errors: sign_in_failed.
func (d Domains) SignIn(ctx context.Context, tx *db.Tx, l Login, before string) (Opened, error) {
	p, isNew, err := known(ctx, tx, l)
	if err != nil {
		return Opened{}, err
	}
	// The workspace is locked before the rows of the person, as by those who remove a member.
	joined, err := d.admit(ctx, tx, l, p)
	if err == nil && joined != "" && isNew {
		p.WorkspaceID, err = joined, setHome(ctx, tx, p.PersonID, joined)
	}
	if err != nil {
		return Opened{}, err
	}
	row := query.PersonLogin{Issuer: l.Issuer, Subject: l.Subject, PersonID: p.PersonID, CreatedAt: tx.Now}
	if l.vouches(p) {
		row.VouchedAt = tx.Now
	}
	row.RowSum = logins.Of(row)
	if err := tx.LoginCreate(ctx, query.LoginCreateParams(row)); err != nil {
		return Opened{}, fmt.Errorf("create login: %w", err)
	}
	row, err = tx.LoginVouched(ctx, query.LoginVouchedParams{VouchedAt: row.VouchedAt, Issuer: l.Issuer, Subject: l.Subject})
	if _, err = logins.Changed(ctx, tx, row, err); err != nil {
		return Opened{}, fmt.Errorf("note that an issuer vouches for an address: %w", err)
	}
	return openVerified(ctx, tx, p, before)
}

// known finds the person of a login, or of its address at the first sign-in, or makes one.
// Error: sign_in_failed.
func known(ctx context.Context, tx *db.Tx, l Login) (p Person, isNew bool, err error) {
	found, err := tx.LoginPerson(ctx, query.LoginPersonParams{Issuer: l.Issuer, Subject: l.Subject})
	if err == nil {
		return Person{found.PersonID, found.Email, found.WorkspaceID}, false, nil
	}
	if !db.IsNotFound(err) {
		return Person{}, false, fmt.Errorf("look up login: %w", err)
	}
	if !l.EmailVerified || l.Email == "" {
		return Person{}, false, fault.New(fault.SignInFailed, "The issuer has not verified your e-mail address.")
	}
	return findOrCreate(ctx, tx, l.Email)
}

// openVerified opens a session for a person whose address the issuer had verified when the
// login was made.
func openVerified(ctx context.Context, tx *db.Tx, p Person, before string) (Opened, error) {
	if err := notice.Verified(ctx, tx, p.PersonID); err != nil {
		return Opened{}, err
	}
	return open(ctx, tx, p, before, tx.Time().Add(contract.SessionLife))
}
