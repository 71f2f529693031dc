package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Domains lets people join workspaces by the domains of their addresses, when they sign in by
// OpenID Connect.
//
// What always holds: only an owner whose address the issuer has recently verified can claim a
// domain, only that of their own address, and only for one workspace. The claim ends when that
// person is no longer an owner. Only a sign-in in which the issuer verifies the address joins a
// workspace, never one by a link, and a person who left a workspace does not join it again.
type Domains struct {
	// Issuer is whom people sign in by; "" for none. Then no domain can be claimed.
	Issuer string
	// Barred are domains that no workspace may claim, besides those of public mail services; "*"
	// bars all, those that are claimed too.
	Barred []string
}

// Domain is a domain whose people join a workspace.
type Domain struct {
	Name        string // such as example.com
	WorkspaceID string
	Role        Role   // that they get
	ClaimedBy   string // an address
	ClaimedAt   time.Time
}

// anyDomain bars all domains.
const anyDomain = "*"

// joinedBy is who brought a person in that joined by a domain, in place of a person's id.
func joinedBy(domain string) string { return "@" + domain }

// domainOf is the domain of an address in the spelling of address; "" for one that is an
// IP address.
func domainOf(email string) string {
	domain := strings.TrimSuffix(email[strings.LastIndexByte(email, '@')+1:], ".")
	if strings.HasPrefix(domain, "[") {
		return ""
	}
	return domain
}

// bars reports whether no workspace may have a domain.
func (d Domains) bars(domain string) bool {
	return domain == "" || publicMail(domain) || slices.ContainsFunc(d.Barred, func(b string) bool { return b == anyDomain || strings.EqualFold(b, domain) })
}

// Offered reports whether workspaces can claim domains.
func (d Domains) Offered() bool { return d.Issuer != "" && !slices.Contains(d.Barred, anyDomain) }

// Own is the domain that a person may claim. Error: invalid_request, which says why there is
// none.
func (d Domains) Own(ctx context.Context, tx *db.Tx, personID string) (string, error) {
	if !d.Offered() {
		return "", fault.Field("domain", "cannot be claimed on this service")
	}
	person, err := tx.PersonGet(ctx, personID)
	if err != nil {
		return "", fmt.Errorf("read a person: %w", err)
	}
	domain := domainOf(person.Email)
	if d.bars(domain) {
		return "", fault.Field("domain", "%s cannot be claimed, because anyone may have an address there", domain)
	}
	known, err := tx.LoginsOf(ctx, personID)
	if err != nil {
		return "", fmt.Errorf("list the logins of a person: %w", err)
	}
	since := db.Micros(tx.Time().Add(-contract.SessionLife))
	for _, l := range known {
		if sameIssuer(l.Issuer, d.Issuer) && l.VouchedAt > since {
			return domain, nil
		}
	}
	return "", fault.Field("domain", "cannot be claimed yet: sign out, then sign in with OpenID Connect as %s, and try again", person.Email)
}

// sameIssuer compares issuers without their scheme, which Google leaves out in tokens.
func sameIssuer(a, b string) bool {
	return strings.TrimPrefix(a, "https://") == strings.TrimPrefix(b, "https://")
}

// Claim has everyone at the domain of the caller's address join the caller's workspace when they
// sign in, with a role. For a domain that the workspace has it changes the role. Errors:
// insufficient_role for anyone but an owner; invalid_request for the role, and for a domain that
// the caller may not claim or another workspace has.
func (d Domains) Claim(ctx context.Context, tx *db.Tx, who Principal, role Role) error {
	if role != Member && role != Viewer {
		return fault.Field("role", "must be member or viewer")
	}
	if err := lockFor(ctx, tx, who.WorkspaceID, who.Credential.PersonID, Owner); err != nil {
		return err
	}
	domain, err := d.Own(ctx, tx, who.Credential.PersonID)
	if err != nil {
		return err
	}
	row := query.MemberDomain{Domain: domain, WorkspaceID: who.WorkspaceID, Role: string(role), ClaimedBy: who.Credential.PersonID, ClaimedAt: tx.Now}
	row.RowSum = memberDomains.Of(row)
	n, err := tx.MemberDomainClaim(ctx, query.MemberDomainClaimParams(row))
	if err != nil {
		return fmt.Errorf("claim a domain: %w", err)
	}
	if n == 0 {
		return fault.Field("domain", "%s belongs to another workspace; ask its owner for an invitation, or the operator of this service to release it", domain)
	}
	return nil
}

// Release ends what Claim began; those who have joined stay. Repeating it changes nothing. Error:
// insufficient_role for anyone but an owner.
func (d Domains) Release(ctx context.Context, tx *db.Tx, who Principal, domain string) error {
	if err := lockFor(ctx, tx, who.WorkspaceID, who.Credential.PersonID, Owner); err != nil {
		return err
	}
	if _, err := tx.MemberDomainRelease(ctx, query.MemberDomainReleaseParams{Domain: domain, WorkspaceID: who.WorkspaceID}); err != nil {
		return fmt.Errorf("release a domain: %w", err)
	}
	return nil
}

// DomainsOf lists the domains of a workspace, or with "" of all, the newest first, after the one
// before; "" starts at the newest.
func DomainsOf(ctx context.Context, tx *db.Tx, workspaceID, before string, limit int) ([]Domain, error) {
	rows, err := tx.MemberDomains(ctx, query.MemberDomainsParams{WorkspaceID: workspaceID, Before: before, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("list domains: %w", err)
	}
	all := make([]Domain, len(rows))
	for i, r := range rows {
		all[i] = Domain{r.Domain, r.WorkspaceID, Role(r.Role), r.ClaimedBy, db.Time(r.ClaimedAt)}
	}
	return all, nil
}

// Claimant is the workspace that has a domain. Error: domain_not_found.
func Claimant(ctx context.Context, tx *db.Tx, domain string) (workspaceID string, err error) {
	claim, err := claimOf(ctx, tx, domain)
	if err == nil && claim.WorkspaceID == "" {
		err = fault.New(fault.DomainNotFound, "No workspace has claimed the domain %s.", domain)
	}
	return claim.WorkspaceID, err
}

// claimOf reads the claim on a domain; the zero value if there is none.
func claimOf(ctx context.Context, tx *db.Tx, domain string) (query.MemberDomain, error) {
	row, err := tx.MemberDomainGet(ctx, domain)
	if db.IsNotFound(err) {
		return query.MemberDomain{}, nil
	}
	if err != nil {
		return row, fmt.Errorf("read a domain: %w", err)
	}
	return row, nil
}

// ReleaseDomain releases a domain, whichever workspace has it. Error: domain_not_found.
func ReleaseDomain(ctx context.Context, tx *db.Tx, domain string) error {
	if _, err := Claimant(ctx, tx, domain); err != nil {
		return err
	}
	if _, err := tx.MemberDomainRelease(ctx, query.MemberDomainReleaseParams{Domain: domain}); err != nil {
		return fmt.Errorf("release a domain: %w", err)
	}
	return nil
}

// admit makes a person who signs in a member of the workspace that has the domain of their
// address, and returns its id; "" for none. The address must be the one by which the service
// knows the person: its owner sees that one, and mails go there.
func (d Domains) admit(ctx context.Context, tx *db.Tx, l Login, p Person) (workspaceID string, err error) {
	domain := domainOf(p.Email)
	if !l.vouches(p) || d.bars(domain) {
		return "", nil
	}
	claim, err := claimOf(ctx, tx, domain)
	if err != nil || claim.WorkspaceID == "" {
		return "", err
	}
	if err := LockWorkspace(ctx, tx, claim.WorkspaceID); fault.Is(err, fault.WorkspaceNotFound) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	before := claim.WorkspaceID
	// Only under the lock nobody releases the domain, takes its owner's role or removes the person.
	if claim, err = claimOf(ctx, tx, domain); err != nil || claim.WorkspaceID != before {
		return "", err
	}
	if admits, err := d.admits(ctx, tx, claim, l, p); err != nil || !admits {
		return "", err
	}
	joined, err := join(ctx, tx, claim.WorkspaceID, p.PersonID, Role(claim.Role), joinedBy(domain))
	if err != nil || !joined {
		return "", err
	}
	return claim.WorkspaceID, nil
}

// admits reports whether a claim still stands, its workspace has room, and the person has not
// left that workspace before.
func (d Domains) admits(ctx context.Context, tx *db.Tx, claim query.MemberDomain, l Login, p Person) (bool, error) {
	if role, err := roleIn(ctx, tx, claim.WorkspaceID, claim.ClaimedBy); err != nil || role != Owner {
		return false, err
	}
	if left, err := tx.MemberLeft(ctx, query.MemberLeftParams{WorkspaceID: claim.WorkspaceID, Address: Hash(p.Email), Login: l.hash()}); err != nil || left > 0 {
		return false, err
	}
	count, err := tx.MemberCount(ctx, claim.WorkspaceID)
	if err != nil {
		return false, fmt.Errorf("count members: %w", err)
	}
	invited, err := tx.InvitationsLately(ctx, query.InvitationsLatelyParams{WorkspaceID: claim.WorkspaceID, Since: tx.Now, Now: tx.Now})
	if err != nil {
		return false, fmt.Errorf("count invitations: %w", err)
	}
	return count.People+invited.Open < MaxMembers, nil
}

// remember keeps a person who leaves a workspace from joining it again automatically, also with
// a new account for the same address or the same login.
func remember(ctx context.Context, tx *db.Tx, workspaceID, personID string) error {
	person, err := tx.PersonGet(ctx, personID)
	if err != nil {
		return fmt.Errorf("read a person: %w", err)
	}
	known, err := tx.LoginsOf(ctx, personID)
	if err != nil {
		return fmt.Errorf("list the logins of a person: %w", err)
	}
	who := []string{Hash(person.Email)}
	for _, l := range known {
		who = append(who, Login{Issuer: l.Issuer, Subject: l.Subject}.hash())
	}
	for _, hash := range who {
		row := query.MemberLeft{WorkspaceID: workspaceID, WhoSha256: hash, LeftAt: tx.Now}
		row.RowSum = membersLeft.Of(row)
		if err := tx.MemberLeftAdd(ctx, query.MemberLeftAddParams(row)); err != nil {
			return fmt.Errorf("remember who left: %w", err)
		}
	}
	return nil
}

// releaseBy releases the domains that a person claimed for a workspace; "" = all of them.
func releaseBy(ctx context.Context, tx *db.Tx, workspaceID, personID string) error {
	if err := tx.MemberDomainsRelease(ctx, query.MemberDomainsReleaseParams{WorkspaceID: workspaceID, ClaimedBy: personID}); err != nil {
		return fmt.Errorf("release the domains of a workspace: %w", err)
	}
	return nil
}
