package identity_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/work/identity"
)

// invitations are those of a service without a mail server: the owner gets the link.
func (h service) invitations() identity.Invitations {
	return identity.Invitations{DB: h.DB, Address: links.Links{PublicURL: "https://svc.example", Key: []byte("the service's key")}}
}

// as is the person of a session.
func (h service) as(o identity.Opened) identity.Principal {
	h.t.Helper()
	who, err := identity.Session(h.t.Context(), h.DB, o.Token)
	if err != nil {
		h.t.Fatal(err)
	}
	return who
}

// invite invites an address, and returns the token.
func (h service) invite(by identity.Principal, email string, role identity.Role) (token string, err error) {
	err = h.write(func(ctx context.Context, tx *db.Tx) error {
		link, err := h.invitations().Invite(ctx, tx, by, email, role)
		at, _ := url.Parse(link)
		token = at.Query().Get("token")
		return err
	})
	return token, err
}

func (h service) accept(o identity.Opened, token string) (in identity.Opened, err error) {
	who := h.as(o)
	err = h.write(func(ctx context.Context, tx *db.Tx) (err error) {
		in, err = h.invitations().Accept(ctx, tx, who, o.Token, token)
		return err
	})
	return in, err
}

// team is a workspace with an owner, and with one more person.
func (h service) team(role identity.Role) (owner, other identity.Opened) {
	h.t.Helper()
	owner = h.open("owner@example.com", "")
	token, err := h.invite(h.as(owner), "Other@example.com", role)
	if err == nil {
		other, err = h.accept(h.open("other@example.com", ""), token)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return owner, other
}

func (h service) setRole(by identity.Principal, personID string, to identity.Role) error {
	return h.write(func(ctx context.Context, tx *db.Tx) error { return identity.SetRole(ctx, tx, by, personID, to) })
}

func (h service) remove(by identity.Principal, personID string) error {
	return h.write(func(ctx context.Context, tx *db.Tx) error { return identity.Remove(ctx, tx, by, personID) })
}

// audit fails the test for a breach.
func (h service) audit() {
	h.t.Helper()
	err := h.Read(h.t.Context(), func(tx *db.Tx) error {
		return identity.Audit(h.t.Context(), tx, func(rule, subject, _ string, _ ...any) { h.t.Errorf("breach of %q at %s", rule, subject) })
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h service) want(code fault.Code, err error, what string) {
	h.t.Helper()
	if !fault.Is(err, code) {
		h.t.Errorf("%s: %v, want %s", what, err, code)
	}
}

func TestARoleMayDoWhatThoseBelowItMay(t *testing.T) {
	t.Parallel()
	for i, role := range identity.Roles() {
		for j, other := range identity.Roles() {
			if role.Includes(other) != (i <= j) {
				t.Errorf("%s includes %s: %v", role, other, role.Includes(other))
			}
		}
		if role.Includes("admin") || identity.Role("admin").Includes(role) || identity.Role("").Includes(role) {
			t.Errorf("a word that is no role may do something next to %s", role)
		}
	}
	if err := (identity.Principal{}).RequireRole(identity.Viewer); !fault.Is(err, fault.InsufficientRole) {
		t.Errorf("nobody: %v", err)
	}
}

func TestAnInvitationIsForOneAddressAndWorksOnce(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		owner := h.as(h.open("owner@example.com", ""))
		token, err := h.invite(owner, "friend@example.com", identity.Member)
		if err != nil {
			h.t.Fatal(err)
		}
		_, err = h.accept(h.open("thief@example.com", ""), token)
		h.want(fault.InvitationInvalid, err, "a forwarded invitation")
		_, err = h.accept(h.open("friend@example.com", ""), strings.Repeat("A", len(token)))
		h.want(fault.InvitationInvalid, err, "a guessed token")
		friends := []identity.Opened{h.open("friend@example.com", ""), h.open("friend@example.com", ""), h.open("friend@example.com", "")}
		var wg sync.WaitGroup
		joined := make([]error, len(friends))
		for i := range friends {
			wg.Go(func() { _, joined[i] = h.accept(friends[i], token) })
		}
		wg.Wait()
		if n := len(slices.DeleteFunc(slices.Clone(joined), func(err error) bool { return err != nil })); n != 1 {
			h.t.Errorf("it worked %d times: %v", n, joined)
		}
		in := h.as(h.open("friend@example.com", ""))
		if in.WorkspaceID != owner.WorkspaceID || in.Role != identity.Member {
			h.t.Errorf("the next sign-in opens %s as %s", in.WorkspaceID, in.Role)
		}
		h.audit()
	})
}

func TestAnInvitationEndsWithItsSenderItsReplacementItsTimeOrARevocation(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		first, second := h.team(identity.Owner)
		friend := func() identity.Opened { return h.open("friend@example.com", "") }
		invite := func(by identity.Opened) string {
			token, err := h.invite(h.as(by), "friend@example.com", identity.Owner)
			if err != nil {
				h.t.Fatal(err)
			}
			return token
		}
		replaced, sent := invite(second), invite(second)
		_, err := h.accept(friend(), replaced)
		h.want(fault.InvitationInvalid, err, "a replaced one")
		if err := h.setRole(h.as(first), h.as(second).Credential.PersonID, identity.Member); err != nil {
			h.t.Fatal(err)
		}
		_, err = h.accept(friend(), sent)
		h.want(fault.InvitationInvalid, err, "one whose sender is no owner any more")
		revoked := invite(first)
		h.must(func(ctx context.Context, tx *db.Tx) error {
			open, err := h.invitations().Open(ctx, tx, h.as(first).WorkspaceID)
			if err != nil || len(open) != 1 || open[0].InvitedBy != "owner@example.com" {
				h.t.Fatalf("open are %+v, %v", open, err)
			}
			h.want(fault.InsufficientRole, h.invitations().Revoke(ctx, tx, h.as(second), open[0].InvitationID), "a member who revokes one")
			return h.invitations().Revoke(ctx, tx, h.as(first), open[0].InvitationID)
		})
		_, err = h.accept(friend(), revoked)
		h.want(fault.InvitationInvalid, err, "a revoked one")
		h.skew.Add(int64(25 * time.Hour)) // the address may be invited again
		late := invite(first)
		h.skew.Add(int64(identity.InvitationLife))
		_, err = h.accept(friend(), late)
		h.want(fault.InvitationInvalid, err, "an expired one")
		if n, err := identity.ForgetInvitations(h.t.Context(), h.DB); err != nil || n == 0 {
			h.t.Errorf("%d expired invitations are forgotten, %v", n, err)
		}
		h.audit()
	})
}

func TestInvitationsFillNoMailbox(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		owner := h.as(h.open("owner@example.com", ""))
		for range 3 {
			if _, err := h.invite(owner, "victim@example.com", identity.Viewer); err != nil {
				h.t.Fatal(err)
			}
		}
		_, err := h.invite(owner, "victim@example.com", identity.Viewer)
		h.want(fault.RateLimited, err, "a fourth invitation")
		_, err = h.invite(h.as(h.open("accomplice@example.com", "")), "victim@example.com", identity.Viewer)
		h.want(fault.RateLimited, err, "one by another workspace")
		for i := range identity.InvitationsPerDay - 3 {
			if _, err := h.invite(owner, string(rune('a'+i))+"@example.com", identity.Viewer); err != nil {
				h.t.Fatal(err)
			}
		}
		_, err = h.invite(owner, "z@example.com", identity.Viewer)
		h.want(fault.RateLimited, err, "more than a workspace sends in a day")
		for _, bad := range []string{"x", `"a b"@example.com`, "a@example.com\r\nBcc: b@example.com", "owner@example.com"} {
			_, err = h.invite(owner, bad, identity.Viewer)
			h.want(fault.InvalidRequest, err, bad)
		}
		_, err = h.invite(owner, "y@example.com", "root")
		h.want(fault.InvalidRequest, err, "an unknown role")
	})
}

// TestManyWorkspacesAtOnceInviteAnAddressAsOftenAsOneMay: none of them sees what the others have
// not committed yet.
func TestManyWorkspacesAtOnceInviteAnAddressAsOftenAsOneMay(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		for round := range 5 {
			email := fmt.Sprintf("victim-%d@example.com", round)
			owners := make([]identity.Principal, 8)
			for i := range owners {
				owners[i] = h.as(h.open(fmt.Sprintf("owner-%d-%d@example.com", round, i), ""))
			}
			refused := make([]error, len(owners))
			begin := make(chan struct{})
			var wg sync.WaitGroup
			for i, owner := range owners {
				wg.Go(func() {
					<-begin
					_, refused[i] = h.invite(owner, email, identity.Viewer)
				})
			}
			close(begin)
			wg.Wait()
			sent := 0
			for _, err := range refused {
				if err == nil {
					sent++
					continue
				}
				h.want(fault.RateLimited, err, "an invitation too many")
			}
			if sent != 3 {
				h.t.Errorf("%s was invited %d times, want 3", email, sent)
			}
		}
	})
}

func TestOnlyOwnersChangeWhoIsInAWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		first, other := h.team(identity.Member)
		owner, member := h.as(first), h.as(other)
		_, err := h.invite(member, "friend@example.com", identity.Viewer)
		h.want(fault.InsufficientRole, err, "a member who invites")
		h.want(fault.InsufficientRole, h.setRole(member, member.Credential.PersonID, identity.Owner), "a member who makes themselves an owner")
		h.want(fault.InsufficientRole, h.remove(member, owner.Credential.PersonID), "a member who removes an owner")
		h.want(fault.InvalidRequest, h.setRole(owner, member.Credential.PersonID, "root"), "an unknown role")
		stranger := h.as(h.open("stranger@example.com", ""))
		h.want(fault.MemberNotFound, h.setRole(owner, stranger.Credential.PersonID, identity.Viewer), "a stranger's role")
		h.want(fault.MemberNotFound, h.remove(owner, stranger.Credential.PersonID), "removing a stranger")
		// A principal that was read before its person was removed is worth nothing.
		if err := h.remove(owner, member.Credential.PersonID); err != nil {
			h.t.Fatal(err)
		}
		h.want(fault.InsufficientRole, h.remove(member, member.Credential.PersonID), "a removed person who leaves")
		h.want(fault.LastOwner, h.remove(owner, owner.Credential.PersonID), "the last owner who leaves")
		h.want(fault.LastOwner, h.setRole(owner, owner.Credential.PersonID, identity.Viewer), "the last owner's role")
		h.audit()
	})
}

// TestTwoOwnersWhoDemoteEachOtherAtOnceLeaveOneOwner has them act at the same instant.
func TestTwoOwnersWhoDemoteEachOtherAtOnceLeaveOneOwner(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		a, b := h.team(identity.Owner)
		one, two := h.as(a), h.as(b)
		var errs [2]error
		var wg sync.WaitGroup
		wg.Go(func() { errs[0] = h.setRole(one, two.Credential.PersonID, identity.Viewer) })
		wg.Go(func() { errs[1] = h.remove(two, one.Credential.PersonID) })
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			h.t.Errorf("both did, or none: %v", errs)
		}
		for _, err := range errs {
			if err != nil {
				h.want(fault.InsufficientRole, err, "the later one")
			}
		}
		h.audit()
	})
}

func TestARemovedPersonLosesTheirSessionsAndKeysInThatWorkspaceAndNothingElse(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		first, second := h.team(identity.Owner)
		owner, who := h.as(first), h.as(second)
		elsewhere := h.open("other@example.com", "")
		mine := h.home(who.Credential.PersonID, who.WorkspaceID)
		h.must(func(ctx context.Context, tx *db.Tx) (err error) {
			elsewhere, err = identity.Switch(ctx, tx, elsewhere.Token, mine)
			return err
		})
		var account, agent, kept identity.NewKey
		h.must(func(ctx context.Context, tx *db.Tx) (err error) {
			if account, err = identity.CreateOwnAccountKey(ctx, tx, who, "theirs", false); err != nil {
				return err
			}
			if agent, err = identity.CreateAgentKey(ctx, tx, who.WorkspaceID, identity.AgentTerms{Name: "theirs", MadeBy: who.Credential.PersonID}); err != nil {
				return err
			}
			kept, err = identity.CreateOwnAccountKey(ctx, tx, owner, "the owner's", false)
			return err
		})
		if err := h.remove(owner, who.Credential.PersonID); err != nil {
			h.t.Fatal(err)
		}
		_, err := identity.Session(h.t.Context(), h.DB, second.Token)
		h.want(fault.Unauthenticated, err, "their session")
		_, err = identity.Account(h.t.Context(), h.DB, "Bearer "+account.Secret)
		h.want(fault.Unauthenticated, err, "their account key")
		_, err = identity.Agent(h.t.Context(), h.DB, "Bearer "+agent.Secret, "")
		h.want(fault.Unauthenticated, err, "their agent key")
		if _, err := identity.Account(h.t.Context(), h.DB, "Bearer "+kept.Secret); err != nil {
			h.t.Errorf("the owner's key: %v", err)
		}
		if in := h.as(elsewhere); in.WorkspaceID != mine || in.Role != identity.Owner {
			h.t.Errorf("their own workspace: %+v", in)
		}
		// Requests that were under way make no key, in the browser or for a program.
		err = h.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := identity.CreateAgentKey(ctx, tx, who.WorkspaceID, identity.AgentTerms{Name: "late", MadeBy: who.Credential.PersonID, OnlyTokens: true})
			return err
		})
		h.want(fault.InsufficientRole, err, "a program that they let in")
		err = h.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := identity.CreateOwnAccountKey(ctx, tx, who, "late", false)
			return err
		})
		h.want(fault.InsufficientRole, err, "a key by a request that was under way")
		err = h.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := identity.Switch(ctx, tx, elsewhere.Token, who.WorkspaceID)
			return err
		})
		h.want(fault.WorkspaceNotFound, err, "switching back")
		if in := h.as(h.open("other@example.com", "")); in.WorkspaceID != mine {
			h.t.Errorf("the next sign-in opens %s", in.WorkspaceID)
		}
		h.audit()
	})
}

// home is the workspace of a person besides one.
func (h service) home(personID, besides string) (workspaceID string) {
	h.t.Helper()
	h.must(func(ctx context.Context, tx *db.Tx) error {
		all, err := identity.Memberships(ctx, tx, personID)
		for _, m := range all {
			if m.WorkspaceID != besides {
				workspaceID = m.WorkspaceID
			}
		}
		return err
	})
	return workspaceID
}

func TestAPersonWhoTransfersAWorkspaceAndLeavesItGetsANewOne(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		first, second := h.team(identity.Viewer)
		founder, heir := h.as(first), h.as(second)
		var key identity.NewKey
		h.must(func(ctx context.Context, tx *db.Tx) (err error) {
			key, err = identity.CreateOwnAccountKey(ctx, tx, founder, "the founder's", false)
			return err
		})
		h.must(func(ctx context.Context, tx *db.Tx) error {
			return identity.Transfer(ctx, tx, founder, heir.Credential.PersonID)
		})
		if a, b := h.as(first).Role, h.as(second).Role; a != identity.Member || b != identity.Owner {
			h.t.Errorf("they are %s and %s", a, b)
		}
		_, err := identity.Account(h.t.Context(), h.DB, "Bearer "+key.Secret)
		h.want(fault.Unauthenticated, err, "the key of a former owner, who knows it")
		if err := h.remove(founder, founder.Credential.PersonID); err != nil {
			h.t.Fatal(err)
		}
		in := h.as(h.open("owner@example.com", ""))
		if in.WorkspaceID == founder.WorkspaceID || in.Role != identity.Owner {
			h.t.Errorf("the founder's next sign-in opens %s as %s", in.WorkspaceID, in.Role)
		}
		h.must(func(ctx context.Context, tx *db.Tx) error { return identity.Erase(ctx, tx, founder.WorkspaceID) })
		_, err = identity.Session(h.t.Context(), h.DB, second.Token)
		h.want(fault.Unauthenticated, err, "a session in an erased workspace")
		if in := h.as(h.open("other@example.com", "")); in.WorkspaceID == founder.WorkspaceID || in.Role != identity.Owner || in.Credential.PersonID != heir.Credential.PersonID {
			h.t.Errorf("a person who is in another workspace too was erased with one: %+v", in)
		}
		h.audit()
	})
}

func TestErasingAWorkspaceMakesNoRoomForMoreInvitationsOfAnAddress(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		var token string
		for range 3 {
			owner := h.as(h.open("owner@example.com", ""))
			made, err := h.invite(owner, "friend@example.com", identity.Member)
			if err != nil {
				h.t.Fatal(err)
			}
			token = made
			for range 2 { // erasing is repeatable
				h.must(func(ctx context.Context, tx *db.Tx) error { return identity.Erase(ctx, tx, owner.WorkspaceID) })
			}
			h.must(func(ctx context.Context, tx *db.Tx) error {
				rows, err := tx.InvitationsTo(ctx, query.InvitationsToParams{Email: "friend@example.com"})
				if rows != 0 {
					h.t.Errorf("%d invitations have the address after the workspace was erased", rows)
				}
				return err
			})
		}
		_, err := h.invite(h.as(h.open("owner@example.com", "")), "friend@example.com", identity.Member)
		h.want(fault.RateLimited, err, "a fourth invitation in a day")
		_, err = h.accept(h.open("friend@example.com", ""), token)
		h.want(fault.InvitationInvalid, err, "an invitation to an erased workspace")
		h.audit()
	})
}
