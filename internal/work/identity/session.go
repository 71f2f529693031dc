package identity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity/inflight"
	"svc.example/internal/work/notice"
)

// Opened is a session that was just opened. Nothing stores Token: it goes into the
// browser's cookie, and the database keeps its hash. Expires is at most
// contract.SessionLife from now.
type Opened struct {
	Person  Person
	Token   string
	Expires time.Time
}

// SignIn uses the token of a link, once, and opens a session. The first sign-in creates
// a person and a workspace. A link that came by mail verifies the address. The browser's previous session, "" when none, ends. The
// token counts as used only if the transaction commits. Errors: link_invalid,
// unavailable when another sign-in is creating the same person.
func SignIn(ctx context.Context, tx *db.Tx, linkToken, before string) (Opened, error) {
	link, err := tx.SignInLinkUse(ctx, query.SignInLinkUseParams{Now: tx.Now, TokenSha256: Hash(linkToken)})
	if db.IsNotFound(err) {
		return Opened{}, linkInvalid()
	}
	if err != nil {
		return Opened{}, fmt.Errorf("use sign-in link: %w", err)
	}
	if err := signInLinks.Renew(ctx, tx, link); err != nil {
		return Opened{}, err
	}
	p, err := CreateWorkspace(ctx, tx, link.Email)
	if err == nil && strings.HasPrefix(linkToken, mailedLink) {
		err = notice.Verified(ctx, tx, p.PersonID)
	}
	if err != nil {
		return Opened{}, err
	}
	return open(ctx, tx, p, before, tx.Time().Add(contract.SessionLife))
}

// open always makes a new session, so that a token planted in the browser before the
// sign-in is worthless. It also deletes expired sessions and links: signing in is
// what creates them, so the tables stay small without a job of their own.
func open(ctx context.Context, tx *db.Tx, p Person, before string, until time.Time) (Opened, error) {
	for _, clear := range []func() error{
		func() error { return tx.SessionDelete(ctx, Hash(before)) },
		func() error { return tx.SessionsEnd(ctx, tx.Now) },
		func() error { return tx.SignInLinksEnd(ctx, tx.Now) },
	} {
		if err := clear(); err != nil {
			return Opened{}, fmt.Errorf("clear ended sessions and links: %w", err)
		}
	}
	token, err := NewSecret("")
	if err != nil {
		return Opened{}, err
	}
	o := Opened{p, token, until}
	row := query.Session{TokenSha256: Hash(token), PersonID: p.PersonID, CreatedAt: tx.Now, ExpiresAt: db.Micros(o.Expires), WorkspaceID: p.WorkspaceID}
	row.RowSum = sessions.Of(row)
	if err := tx.SessionCreate(ctx, query.SessionCreateParams(row)); err != nil {
		return Opened{}, fmt.Errorf("create session: %w", err)
	}
	return o, nil
}

// SignInAgain is the suggested action for a caller without a session.
const SignInAgain = "Sign in on the service's own pages, then call again."

// Session authenticates a session cookie's value. The person acts for the session's
// workspace within their role there, and without a spending limit. A session of a workspace
// that the person has left opens nothing. The session does not get longer by its
// use. Errors: unauthenticated, rate_limited.
func Session(ctx context.Context, d *db.DB, token string) (p Principal, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		row, err := tx.SessionGet(ctx, Hash(token))
		if db.IsNotFound(err) || (err == nil && row.ExpiresAt <= tx.Now) {
			return fault.New(fault.Unauthenticated, "The session has ended.").WithAction(SignInAgain)
		}
		if err != nil {
			return fmt.Errorf("look up session: %w", err)
		}
		role := Role(row.Role)
		p = Principal{
			WorkspaceID: row.WorkspaceID, Credential: Credential{Kind: SessionCredential, Email: row.Email, PersonID: row.PersonID},
			Scopes: role.scopes(), Role: role, Operator: row.OperatorSince != 0,
		}
		return nil
	})
	if err == nil {
		err = inflight.Hold(ctx, Hash(token), p.WorkspaceID)
	}
	return p, err
}

// SignOut ends a session. An unknown token changes nothing and is no error: the person
// wanted to be signed out.
func SignOut(ctx context.Context, tx *db.Tx, token string) error {
	if err := tx.SessionDelete(ctx, Hash(token)); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}

// OpenSession is a session as its person sees it.
type OpenSession struct {
	Own               bool // the one that asks
	CreatedAt, EndsAt time.Time
}

// Sessions lists the sessions of the person to whom one belongs, the newest first; none for
// a token that opens nothing.
func Sessions(ctx context.Context, tx *db.Tx, token string) ([]OpenSession, error) {
	rows, err := tx.SessionsOf(ctx, query.SessionsOfParams{TokenSha256: Hash(token), Now: tx.Now})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	out := make([]OpenSession, 0, len(rows))
	for _, r := range rows {
		out = append(out, OpenSession{r.Own == 1, db.Time(r.CreatedAt), db.Time(r.ExpiresAt)})
	}
	return out, nil
}

// EndOtherSessions ends all sessions of the person to whom one belongs, but that one, and
// says how many those were.
func EndOtherSessions(ctx context.Context, tx *db.Tx, token string) (int64, error) {
	n, err := tx.SessionsEndOthers(ctx, Hash(token))
	if err != nil {
		return 0, fmt.Errorf("end other sessions: %w", err)
	}
	return n, nil
}
