package identity_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

const vouching = "https://id.example.com"

// byDomain is a service whose people sign in by an issuer.
var byDomain = identity.Domains{Issuer: vouching, Barred: []string{"Barred.example"}}

// vouched signs a person in, for whom the issuer vouches.
func (h service) vouched(email string) identity.Opened {
	h.t.Helper()
	return h.asserted(identity.Login{Issuer: vouching, Subject: email, Email: email, EmailVerified: true})
}

func (h service) asserted(l identity.Login) (o identity.Opened) {
	h.t.Helper()
	h.must(func(ctx context.Context, tx *db.Tx) (err error) {
		o, err = byDomain.SignIn(ctx, tx, l, "")
		return err
	})
	return o
}

func (h service) claim(by identity.Principal, role identity.Role) error {
	return h.write(func(ctx context.Context, tx *db.Tx) error { return byDomain.Claim(ctx, tx, by, role) })
}

func (h service) release(by identity.Principal, domain string) error {
	return h.write(func(ctx context.Context, tx *db.Tx) error { return byDomain.Release(ctx, tx, by, domain) })
}

// claimed is a workspace whose owner has claimed studio.example.
func (h service) claimed(role identity.Role) identity.Principal {
	h.t.Helper()
	owner := h.as(h.vouched("Owner@Studio.example"))
	if err := h.claim(owner, role); err != nil {
		h.t.Fatal(err)
	}
	return owner
}

// roleOf is the role of an address in a workspace; "" for none.
func (h service) roleOf(workspaceID, email string) (role identity.Role) {
	h.t.Helper()
	h.must(func(ctx context.Context, tx *db.Tx) error {
		all, err := identity.Members(ctx, tx, workspaceID)
		for _, m := range all {
			if m.Email == email {
				role = m.Role
			}
		}
		return err
	})
	return role
}

// outside fails the test if an address is in a workspace.
func (h service) outside(workspaceID, email, why string) {
	h.t.Helper()
	if role := h.roleOf(workspaceID, email); role != "" {
		h.t.Errorf("%s: %s is a %s", why, email, role)
	}
}

func TestAPersonJoinsByTheDomainOfAVerifiedAddress(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		known := h.open("known@studio.example", "") // by a link, before
		owner := h.claimed(identity.Member)
		first := h.vouched("first@studio.example")
		if h.roleOf(owner.WorkspaceID, "first@studio.example") != identity.Member || first.Person.WorkspaceID != owner.WorkspaceID {
			h.t.Errorf("the first one has the role %q and opens %s", h.roleOf(owner.WorkspaceID, "first@studio.example"), first.Person.WorkspaceID)
		}
		if again := h.vouched("first@studio.example"); again.Person.WorkspaceID != owner.WorkspaceID {
			h.t.Errorf("again: %s", again.Person.WorkspaceID)
		}
		if o := h.vouched("known@studio.example"); o.Person.WorkspaceID != known.Person.WorkspaceID || h.roleOf(owner.WorkspaceID, "known@studio.example") != identity.Member {
			h.t.Errorf("a person with a workspace of their own opens %s instead", o.Person.WorkspaceID)
		}
		if err := h.claim(owner, identity.Viewer); err != nil {
			h.t.Fatal(err)
		}
		h.vouched("second@studio.example")
		if first, second := h.roleOf(owner.WorkspaceID, "first@studio.example"), h.roleOf(owner.WorkspaceID, "second@studio.example"); first != identity.Member || second != identity.Viewer {
			h.t.Errorf("with another role, the first is a %q and the second a %q", first, second)
		}
		h.must(func(ctx context.Context, tx *db.Tx) error {
			all, err := identity.Members(ctx, tx, owner.WorkspaceID)
			if len(all) != 4 || all[0].AddedBy != "" || all[1].AddedBy != "@studio.example" {
				h.t.Errorf("members are %+v", all)
			}
			return err
		})
		h.audit()
	})
}

func TestNobodyElseJoinsByADomain(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		owner := h.claimed(identity.Member)
		h.open("link@studio.example", "")
		h.outside(owner.WorkspaceID, "link@studio.example", "by a link")
		for _, email := range []string{"a@other.example", "a@sub.studio.example", "a@notstudio.example", "studio.example@other.example"} {
			h.vouched(email)
			h.outside(owner.WorkspaceID, email, "another domain")
		}
		h.asserted(identity.Login{Issuer: vouching, Subject: "s1", Email: "moved@other.example", EmailVerified: true})
		h.asserted(identity.Login{Issuer: vouching, Subject: "s1", Email: "moved@studio.example", EmailVerified: true})
		h.outside(owner.WorkspaceID, "moved@other.example", "known by another address")
		h.open("unverified@studio.example", "")
		known := identity.Login{Issuer: vouching, Subject: "s2", Email: "unverified@studio.example", EmailVerified: true}
		h.must(func(ctx context.Context, tx *db.Tx) error {
			_, err := identity.Domains{Issuer: vouching, Barred: []string{"*"}}.SignIn(ctx, tx, known, "") // the operator bars all domains
			return err
		})
		known.EmailVerified = false
		h.asserted(known)
		h.outside(owner.WorkspaceID, known.Email, "not verified any more")
		known.EmailVerified = true
		h.asserted(known)
		if h.roleOf(owner.WorkspaceID, known.Email) != identity.Member {
			h.t.Error("a verified address does not join")
		}
		h.audit()
	})
}

func TestWhoHasLeftAWorkspaceDoesNotJoinItAgainByTheirDomain(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		owner := h.as(h.vouched("owner@studio.example"))
		join := func(email string) identity.Principal {
			token, err := h.invite(owner, email, identity.Member)
			if err != nil {
				h.t.Fatal(err)
			}
			in, err := h.accept(h.vouched(email), token)
			if err != nil {
				h.t.Fatal(err)
			}
			return h.as(in)
		}
		out := func(by, who identity.Principal) {
			if err := h.remove(by, who.Credential.PersonID); err != nil {
				h.t.Fatal(err)
			}
		}
		early := join("early@studio.example")
		out(owner, early) // before there is a claim
		if err := h.claim(owner, identity.Member); err != nil {
			h.t.Fatal(err)
		}
		removed := h.as(h.vouched("removed@studio.example"))
		out(owner, removed)
		left := h.as(h.vouched("left@studio.example"))
		out(left, left)
		for _, email := range []string{"early@studio.example", "removed@studio.example", "left@studio.example"} {
			o := h.vouched(email)
			h.outside(owner.WorkspaceID, email, "at the next sign-in")
			h.must(func(ctx context.Context, tx *db.Tx) error { return identity.Erase(ctx, tx, o.Person.WorkspaceID) })
			h.vouched(email)
			h.outside(owner.WorkspaceID, email, "with a new account")
			h.asserted(identity.Login{Issuer: vouching, Subject: "another login of " + email, Email: email, EmailVerified: true})
			h.outside(owner.WorkspaceID, email, "with a new login")
		}
		o := h.asserted(identity.Login{Issuer: vouching, Subject: "renamed", Email: "before@studio.example", EmailVerified: true})
		out(owner, h.as(o))
		home := h.asserted(identity.Login{Issuer: vouching, Subject: "renamed", Email: "before@studio.example", EmailVerified: true}).Person.WorkspaceID
		h.must(func(ctx context.Context, tx *db.Tx) error { return identity.Erase(ctx, tx, home) })
		h.asserted(identity.Login{Issuer: vouching, Subject: "renamed", Email: "after@studio.example", EmailVerified: true})
		h.outside(owner.WorkspaceID, "after@studio.example", "with a new account and another address")
		h.audit()

		join("removed@studio.example")
		h.vouched("removed@studio.example")
		if h.roleOf(owner.WorkspaceID, "removed@studio.example") != identity.Member {
			h.t.Error("an invitation does not bring back who was removed")
		}
	})
}

func TestAnOwnerClaimsTheDomainOfTheirOwnVerifiedAddress(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		refused := func(o identity.Opened, code fault.Code, what string) {
			h.t.Helper()
			h.want(code, h.claim(h.as(o), identity.Member), what)
		}
		refused(h.open("link@studio.example", ""), fault.InvalidRequest, "an owner who signed in by a link")
		for _, email := range []string{"a@gmail.com", "a@yahoo.co.uk", "a@proton.me", "a@barred.example", "a@[127.0.0.1]"} {
			refused(h.vouched(email), fault.InvalidRequest, email)
		}
		owner := h.vouched("owner@studio.example")
		h.want(fault.InvalidRequest, h.claim(h.as(owner), identity.Owner), "everyone as an owner")
		h.want(fault.InvalidRequest, h.claim(h.as(owner), "admin"), "a role that there is not")
		h.asserted(identity.Login{Issuer: vouching, Subject: "owner@studio.example", Email: "owner@studio.example"})
		refused(owner, fault.InvalidRequest, "an address that is not verified any more")
		h.asserted(identity.Login{Issuer: vouching, Subject: "owner@studio.example", Email: "owner@elsewhere.example", EmailVerified: true})
		refused(owner, fault.InvalidRequest, "an owner whose address is another one now")
		owner = h.vouched("owner@studio.example")
		for _, role := range []identity.Role{identity.Viewer, identity.Member} {
			email := string(role) + "@studio.example"
			token, err := h.invite(h.as(owner), email, role)
			if err != nil {
				h.t.Fatal(err)
			}
			in, err := h.accept(h.vouched(email), token)
			if err != nil {
				h.t.Fatal(err)
			}
			refused(in, fault.InsufficientRole, "a "+string(role))
			h.want(fault.InsufficientRole, h.release(h.as(in), "studio.example"), "a release by a "+string(role))
		}
		other := h.vouched("other@elsewhere.example")
		h.must(func(ctx context.Context, tx *db.Tx) error {
			h.want(fault.InvalidRequest, identity.Domains{}.Claim(ctx, tx, h.as(owner), identity.Member), "without an issuer")
			h.want(fault.InvalidRequest, identity.Domains{Issuer: "https://new.example"}.Claim(ctx, tx, h.as(owner), identity.Member), "with another issuer")
			h.want(fault.InvalidRequest, identity.Domains{Issuer: vouching, Barred: []string{"*"}}.Claim(ctx, tx, h.as(owner), identity.Member), "with all domains barred")
			return nil
		})
		if err := h.claim(h.as(owner), identity.Member); err != nil {
			h.t.Fatal(err)
		}
		if err := h.release(h.as(other), "studio.example"); err != nil {
			h.t.Fatal(err)
		}
		h.vouched("new@studio.example")
		if h.roleOf(owner.Person.WorkspaceID, "new@studio.example") != identity.Member {
			h.t.Error("another workspace has released the domain")
		}
		h.skew.Add(int64(contract.SessionLife))
		h.want(fault.InvalidRequest, h.claim(identity.Principal{WorkspaceID: owner.Person.WorkspaceID, Credential: identity.Credential{PersonID: owner.Person.PersonID}}, identity.Viewer), "long after the issuer vouched")
		h.audit()
	})
}

func TestADomainBelongsToOneWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		const rivals = 6
		owners := make([]identity.Principal, rivals)
		for i := range owners {
			owners[i] = h.as(h.vouched(fmt.Sprintf("owner%d@studio.example", i)))
		}
		won := make([]bool, rivals)
		var wg sync.WaitGroup
		for i, owner := range owners {
			wg.Go(func() {
				err := h.claim(owner, identity.Member)
				won[i] = err == nil
				if err != nil && !fault.Is(err, fault.InvalidRequest) {
					h.t.Error(err)
				}
			})
		}
		wg.Wait()
		var winner identity.Principal
		n := 0
		for i, owner := range owners {
			if won[i] {
				n, winner = n+1, owner
			}
		}
		if n != 1 {
			h.t.Fatalf("%d workspaces have claimed the domain", n)
		}
		h.vouched("new@studio.example")
		if h.roleOf(winner.WorkspaceID, "new@studio.example") != identity.Member {
			h.t.Error("the winner's workspace admits nobody")
		}
		for range 2 {
			if err := h.release(winner, "studio.example"); err != nil {
				h.t.Fatal(err)
			}
		}
		h.vouched("later@studio.example")
		h.outside(winner.WorkspaceID, "later@studio.example", "after the release")
		h.audit()
	})
}

func TestAClaimEndsWithTheRoleOfWhoMadeIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h service, by, claimant identity.Principal) error{
		"smaller role": func(h service, by, claimant identity.Principal) error {
			return h.setRole(by, claimant.Credential.PersonID, identity.Member)
		},
		"transfer": func(h service, by, claimant identity.Principal) error {
			return h.write(func(ctx context.Context, tx *db.Tx) error {
				return identity.Transfer(ctx, tx, claimant, by.Credential.PersonID)
			})
		},
		"removed": func(h service, by, claimant identity.Principal) error {
			return h.remove(by, claimant.Credential.PersonID)
		},
		"left": func(h service, _, claimant identity.Principal) error {
			return h.remove(claimant, claimant.Credential.PersonID)
		},
		"operator": func(h service, _, _ identity.Principal) error {
			return h.write(func(ctx context.Context, tx *db.Tx) error {
				if workspaceID, err := identity.Claimant(ctx, tx, "studio.example"); err != nil || workspaceID == "" {
					h.t.Errorf("the claimant is %q, %v", workspaceID, err)
				}
				return identity.ReleaseDomain(ctx, tx, "studio.example")
			})
		},
		"erased": func(h service, _, claimant identity.Principal) error {
			return h.write(func(ctx context.Context, tx *db.Tx) error { return identity.Erase(ctx, tx, claimant.WorkspaceID) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(h service) {
				claimant := h.claimed(identity.Member)
				token, err := h.invite(claimant, "second@other.example", identity.Owner)
				if err != nil {
					h.t.Fatal(err)
				}
				in, err := h.accept(h.open("second@other.example", ""), token)
				if err != nil {
					h.t.Fatal(err)
				}
				if err := end(h, h.as(in), claimant); err != nil {
					h.t.Fatal(err)
				}
				h.vouched("new@studio.example")
				h.outside(claimant.WorkspaceID, "new@studio.example", "after the claim ended")
				rival := h.as(h.vouched("rival@studio.example"))
				if err := h.claim(rival, identity.Member); err != nil {
					h.t.Errorf("another workspace cannot claim it: %v", err)
				}
				h.audit()
			})
		})
	}
}

func TestADomainFillsNoWorkspaceBeyondItsBound(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		owner := h.claimed(identity.Member)
		if _, err := h.invite(owner, "friend@other.example", identity.Member); err != nil {
			h.t.Fatal(err)
		}
		for i := range identity.MaxMembers - 2 {
			h.vouched(fmt.Sprintf("p%d@studio.example", i))
		}
		o := h.vouched("late@studio.example")
		h.outside(owner.WorkspaceID, "late@studio.example", "a full workspace")
		if o.Person.WorkspaceID == owner.WorkspaceID {
			h.t.Error("a session in a workspace that is full")
		}
		h.must(func(ctx context.Context, tx *db.Tx) error {
			all, err := identity.Members(ctx, tx, owner.WorkspaceID)
			if len(all) != identity.MaxMembers-1 {
				h.t.Errorf("the workspace has %d members", len(all))
			}
			return err
		})
		if err := h.remove(owner, h.as(h.vouched("p0@studio.example")).Credential.PersonID); err != nil {
			h.t.Fatal(err)
		}
		h.vouched("late@studio.example")
		if h.roleOf(owner.WorkspaceID, "late@studio.example") != identity.Member {
			h.t.Error("nobody takes the place that is free")
		}
	})
}

// TestAClaimByAnOwnerOfBeforeAdmitsNobody: a program of an older version takes the role and does
// not know of claims.
func TestAClaimByAnOwnerOfBeforeAdmitsNobody(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		claimant := h.claimed(identity.Member)
		h.must(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.MemberSetRole(ctx, query.MemberSetRoleParams{WorkspaceID: claimant.WorkspaceID, PersonID: claimant.Credential.PersonID, Role: string(identity.Member)})
			return err
		})
		h.vouched("new@studio.example")
		h.outside(claimant.WorkspaceID, "new@studio.example", "the claimant is no owner")
	})
}

func TestDomainsAreListedTheNewestFirst(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		var names []string
		for i := range 5 {
			name := fmt.Sprintf("d%d.example", i)
			if err := h.claim(h.as(h.vouched("owner@"+name)), identity.Viewer); err != nil {
				h.t.Fatal(err)
			}
			names = append([]string{name}, names...)
		}
		h.must(func(ctx context.Context, tx *db.Tx) error {
			var listed []string
			for before := ""; ; before = listed[len(listed)-1] {
				page, err := identity.DomainsOf(ctx, tx, "", before, 2)
				if err != nil || len(page) == 0 {
					break
				}
				for _, d := range page {
					listed = append(listed, d.Name)
					if d.ClaimedBy != "owner@"+d.Name || d.Role != identity.Viewer || d.ClaimedAt.IsZero() {
						h.t.Errorf("listed as %+v", d)
					}
				}
			}
			if strings.Join(listed, " ") != strings.Join(names, " ") {
				h.t.Errorf("listed are %v", listed)
			}
			h.want(fault.DomainNotFound, identity.ReleaseDomain(ctx, tx, "none.example"), "a domain that nobody has")
			return nil
		})
	})
}
