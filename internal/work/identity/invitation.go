package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"errors"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/ratelimit"
)

// InvitationQueue is the lease queue of invitations to mail. The subject is the invitation.
const InvitationQueue = "invitation"

// InvitationLife is how long an invitation can be accepted.
const InvitationLife = 7 * 24 * time.Hour

// Bounds on invitations, so that nobody fills a mailbox with them.
const (
	InvitationsPerDay     = 20 // of a workspace
	invitationsPerAddress = 3  // a day, by all workspaces together
	MaxMembers            = 50 // with the open invitations
	invitationsWindow     = 24 * time.Hour
)

// Invitations brings people into workspaces.
//
// What always holds: an invitation is for one address and works once, until it expires, is
// revoked or replaced, or its sender is no owner any more. Its token follows from its id and
// the service's key, so that each try of the mail has the same link; only its hash is stored.
type Invitations struct {
	DB      *db.DB
	Address links.Links // builds the URL that opens an invitation
	// Send mails an invitation; nil when no mail server is configured. Then the owner gets
	// the link and passes it on.
	Send func(ctx context.Context, to, subject, text string) error
}

// Invitation is an invitation as the workspace sees it.
type Invitation struct {
	InvitationID         string
	Email                string
	Role                 Role
	InvitedBy            string // an address; "" where that person is gone
	CreatedAt, ExpiresAt time.Time
}

// token is the secret of an invitation.
func (i Invitations) token(invitationID string) string {
	mac := hmac.New(sha512.New, i.Address.Key)
	mac.Write([]byte("invitation\n" + invitationID))
	var seed [64]byte
	copy(seed[:], mac.Sum(nil))
	return SecretFrom("", seed)
}

// Invite invites an address to the caller's workspace, in place of an earlier invitation of
// it. link is for the owner to pass on; "" where it is mailed. Errors: insufficient_role for
// anyone but an owner, invalid_request for an address, a role or a member; rate_limited.
func (i Invitations) Invite(ctx context.Context, tx *db.Tx, who Principal, email string, role Role) (link string, err error) {
	if email, err = address(email); err != nil {
		return "", err
	}
	if !role.Includes(Viewer) {
		return "", fault.Field("role", "must be owner, member or viewer")
	}
	if err := lockFor(ctx, tx, who.WorkspaceID, who.Credential.PersonID, Owner); err != nil {
		return "", err
	}
	if err := mayInvite(ctx, tx, who.WorkspaceID, email); err != nil {
		return "", err
	}
	if err := ratelimit.Share(ctx, ratelimit.SignInMail); err != nil {
		return "", err
	}
	replaced, err := tx.InvitationsReplace(ctx, query.InvitationsReplaceParams{Now: tx.Now, WorkspaceID: who.WorkspaceID, Email: email})
	if err := renewEnded(ctx, tx, replaced, err); err != nil {
		return "", err
	}
	row := query.Invitation{
		InvitationID: id.New(id.Invitation), WorkspaceID: who.WorkspaceID, Email: email, Role: string(role), InvitedBy: who.Credential.PersonID,
		CreatedAt: tx.Now, ExpiresAt: tx.Now + InvitationLife.Microseconds(),
	}
	token := i.token(row.InvitationID)
	row.TokenSha256 = Hash(token)
	row.RowSum = invitations.Of(row)
	if err := tx.InvitationCreate(ctx, query.InvitationCreateParams(row)); err != nil {
		return "", fmt.Errorf("create an invitation: %w", err)
	}
	if i.Send == nil {
		return i.Address.Invitation(token), nil
	}
	return "", lease.Add(ctx, tx, InvitationQueue, row.InvitationID, 0, tx.Time())
}

// mayInvite refuses an address that is a member, and invitations above the bounds. Errors:
// invalid_request, rate_limited.
func mayInvite(ctx context.Context, tx *db.Tx, workspaceID, email string) error {
	people, err := Members(ctx, tx, workspaceID)
	if err != nil {
		return err
	}
	for _, m := range people {
		if m.Email == email {
			return fault.Field("email", "is a member already")
		}
	}
	if err := tx.InvitationsToLock(ctx, email); err != nil {
		return fmt.Errorf("lock the invitations of an address: %w", err)
	}
	since := tx.Now - invitationsWindow.Microseconds()
	lately, err := tx.InvitationsLately(ctx, query.InvitationsLatelyParams{WorkspaceID: workspaceID, Since: since, Now: tx.Now})
	if err != nil {
		return fmt.Errorf("count invitations: %w", err)
	}
	to := int64(0)
	for _, known := range []string{email, Hash(email)} { // also those to workspaces that are erased
		n, err := tx.InvitationsTo(ctx, query.InvitationsToParams{Email: known, Since: since})
		if err != nil {
			return fmt.Errorf("count the invitations of an address: %w", err)
		}
		to += n
	}
	switch {
	case int64(len(people))+lately.Open >= MaxMembers:
		return fault.Field("email", "cannot be invited: the workspace has %d members and open invitations, which is the maximum", MaxMembers)
	case lately.Sent >= InvitationsPerDay:
		return fault.New(fault.RateLimited, "The workspace has sent %d invitations in 24 hours, which is the maximum.", InvitationsPerDay).After(time.Hour)
	case to >= invitationsPerAddress:
		return fault.New(fault.RateLimited, "This address has been invited %d times in 24 hours, which is the maximum.", invitationsPerAddress).After(time.Hour)
	}
	return nil
}

// renewEnded writes the sums of invitations that a statement has ended.
func renewEnded(ctx context.Context, tx *db.Tx, ended []query.Invitation, err error) error {
	if err != nil {
		return fmt.Errorf("end invitations: %w", err)
	}
	for _, row := range ended {
		if err := invitations.Renew(ctx, tx, row); err != nil {
			return err
		}
	}
	return nil
}

// Deliver handles a lease of InvitationQueue. An invitation that has ended meanwhile is not
// sent.
func (i Invitations) Deliver(ctx context.Context, work lease.Lease) error {
	var row query.InvitationGetRow
	var open bool
	err := i.DB.Read(ctx, func(tx *db.Tx) (err error) {
		row, err = tx.InvitationGet(ctx, work.Subject)
		if db.IsNotFound(err) { // erased
			return nil
		}
		open = row.EndedAt == 0 && row.ExpiresAt > tx.Now
		return err
	})
	if err != nil {
		return fmt.Errorf("read an invitation: %w", err)
	}
	var failed error
	if open && i.Send != nil {
		failed = i.Send(ctx, row.Email, "Invitation to a workspace on "+contract.Service, i.text(row))
	}
	if failed != nil {
		return failed
	}
	return i.DB.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error { return lease.Finish(ctx, tx, work.Ref()) })
}

// text is the mail. It names the sender and not the workspace, whose name could be any text.
func (i Invitations) text(row query.InvitationGetRow) string {
	as := "a " + row.Role
	if row.Role == string(Owner) {
		as = "an " + row.Role
	}
	return fmt.Sprintf("%s invites you to a workspace, as %s. Open this link to accept:\n\n%s\n\n"+
		"It works once, until %s, and only when you are signed in with this address.\nIf you do not know the sender, ignore this message.\n",
		row.InvitedBy, as, i.Address.Invitation(i.token(row.InvitationID)), db.Time(row.ExpiresAt).UTC().Format("2 January 2006"))
}

// Open lists the open invitations to a workspace, the newest first.
func (i Invitations) Open(ctx context.Context, tx *db.Tx, workspaceID string) ([]Invitation, error) {
	rows, err := tx.InvitationsOf(ctx, query.InvitationsOfParams{WorkspaceID: workspaceID, Now: tx.Now})
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	all := make([]Invitation, len(rows))
	for n, r := range rows {
		all[n] = Invitation{r.InvitationID, r.Email, Role(r.Role), r.InvitedBy, db.Time(r.CreatedAt), db.Time(r.ExpiresAt)}
	}
	return all, nil
}

// Revoke ends an open invitation to the caller's workspace. Errors: insufficient_role for
// anyone but an owner, invitation_invalid.
func (i Invitations) Revoke(ctx context.Context, tx *db.Tx, who Principal, invitationID string) error {
	if err := lockFor(ctx, tx, who.WorkspaceID, who.Credential.PersonID, Owner); err != nil {
		return err
	}
	row, err := tx.InvitationEnd(ctx, query.InvitationEndParams{Now: tx.Now, InvitationID: invitationID, WorkspaceID: who.WorkspaceID})
	n, err := invitations.Changed(ctx, tx, row, err)
	if err == nil && n == 0 {
		err = invitationInvalid()
	}
	return err
}

// Offer is an invitation as the invited person sees it.
type Offer struct {
	Workspace string // its name
	Role      Role
	InvitedBy string
}

// Find returns what an invitation offers to the caller. Errors: invitation_invalid, also for
// an invitation of another address.
func (i Invitations) Find(ctx context.Context, tx *db.Tx, who Principal, token string) (Offer, error) {
	row, err := i.open(ctx, tx, who, token)
	if err != nil {
		return Offer{}, err
	}
	full, err := tx.InvitationGet(ctx, row.InvitationID)
	if err != nil {
		return Offer{}, fmt.Errorf("read an invitation: %w", err)
	}
	return Offer{full.Name, Role(full.Role), full.InvitedBy}, nil
}

// open finds the open invitation of a token, for the caller. Error: invitation_invalid.
func (i Invitations) open(ctx context.Context, tx *db.Tx, who Principal, token string) (query.Invitation, error) {
	row, err := tx.InvitationByToken(ctx, Hash(token))
	if db.IsNotFound(err) || (err == nil && (row.EndedAt != 0 || row.ExpiresAt <= tx.Now)) {
		return row, invitationInvalid()
	}
	if err != nil {
		return row, fmt.Errorf("look up an invitation: %w", err)
	}
	if who.Credential.Kind != SessionCredential || row.Email != who.Credential.Email {
		return row, fault.New(fault.InvitationInvalid, "This invitation was sent to another address than %s.", who.Credential.Email).
			WithAction("Sign out, then sign in with the address that got the invitation.")
	}
	return row, nil
}

func invitationInvalid() error {
	return fault.New(fault.InvitationInvalid, "This invitation is invalid, has expired, or was already used.")
}

// Accept makes the caller a member, and opens a session in the workspace in place of the one
// that session belongs to. Errors: invitation_invalid, unauthenticated.
func (i Invitations) Accept(ctx context.Context, tx *db.Tx, who Principal, session, token string) (Opened, error) {
	row, err := i.open(ctx, tx, who, token)
	if err != nil {
		return Opened{}, err
	}
	if err := LockWorkspace(ctx, tx, row.WorkspaceID); err != nil {
		if fault.Is(err, fault.WorkspaceNotFound) {
			err = invitationInvalid()
		}
		return Opened{}, err
	}
	// Only now it is certain that nobody has used, revoked or replaced it.
	ended, err := tx.InvitationEnd(ctx, query.InvitationEndParams{Now: tx.Now, InvitationID: row.InvitationID, WorkspaceID: row.WorkspaceID})
	n, err := invitations.Changed(ctx, tx, ended, err)
	if err == nil && n == 0 {
		err = invitationInvalid()
	}
	if err == nil {
		_, err = join(ctx, tx, row.WorkspaceID, who.Credential.PersonID, Role(row.Role), row.InvitedBy)
	}
	if err != nil {
		return Opened{}, err
	}
	return Switch(ctx, tx, session, row.WorkspaceID)
}

// endInvitationsBy ends the open invitations that a person sent, who could have sent one to
// another address of theirs.
func endInvitationsBy(ctx context.Context, tx *db.Tx, workspaceID, personID string) error {
	ended, err := tx.InvitationsEndBy(ctx, query.InvitationsEndByParams{Now: tx.Now, WorkspaceID: workspaceID, InvitedBy: personID})
	return renewEnded(ctx, tx, ended, err)
}

// eraseInvitations deletes the invitations to a workspace. Of one that counts against its
// address, the address's hash stays while it does: otherwise erasing would make room for more.
func eraseInvitations(ctx context.Context, tx *db.Tx, workspaceID string) error {
	since := tx.Now - invitationsWindow.Microseconds()
	if err := tx.InvitationsErase(ctx, query.InvitationsEraseParams{WorkspaceID: workspaceID, Before: since}); err != nil {
		return err
	}
	counted, err := tx.InvitationsSince(ctx, query.InvitationsSinceParams{WorkspaceID: workspaceID, Since: since})
	if err != nil {
		return err
	}
	for _, row := range counted {
		if !strings.Contains(row.Email, "@") { // it was erased before
			continue
		}
		row, err := tx.InvitationHide(ctx, query.InvitationHideParams{
			Email: Hash(row.Email), ExpiresAt: row.CreatedAt + invitationsWindow.Microseconds(), Now: tx.Now, InvitationID: row.InvitationID,
		})
		if _, err = invitations.Changed(ctx, tx, row, err); err != nil {
			return err
		}
	}
	return nil
}

// ForgetInvitations deletes invitations that have expired, with their addresses, and dead
// letters of their mails. It returns how many.
func ForgetInvitations(ctx context.Context, d *db.DB) (n int64, err error) {
	err = d.Write(ctx, func(tx *db.Tx) (err error) {
		n, err = tx.InvitationsForget(ctx, tx.Now)
		return err
	})
	letters, dead := lease.ForgetDead(ctx, d, InvitationQueue, unsentKept)
	return n + letters, errors.Join(err, dead)
}
