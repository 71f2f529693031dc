package identity_test

import (
	"context"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

func (h service) limit(by identity.Principal, personID string, cents *int64) error {
	return h.write(func(ctx context.Context, tx *db.Tx) error {
		return identity.SetMonthlyLimit(ctx, tx, by, personID, cents)
	})
}

// limitOf is the limit of a member as the others see it; nil for none.
func (h service) limitOf(workspaceID, personID string) (cents *int64) {
	h.t.Helper()
	found := false
	h.must(func(ctx context.Context, tx *db.Tx) error {
		all, err := identity.Members(ctx, tx, workspaceID)
		for _, m := range all {
			if m.PersonID == personID {
				found, cents = true, m.MonthlyCents
			}
		}
		return err
	})
	if !found {
		h.t.Errorf("%s is no member", personID)
	}
	return cents
}

func TestOnlyOwnersLimitWhatAMemberSpendsInAMonth(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		first, other := h.team(identity.Member)
		owner, member := h.as(first), h.as(other)
		stranger := h.as(h.open("stranger@example.com", ""))
		h.want(fault.InsufficientRole, h.limit(member, member.Credential.PersonID, nil), "a member's own limit")
		h.want(fault.InsufficientRole, h.limit(member, owner.Credential.PersonID, new(int64)), "an owner's limit by a member")
		h.want(fault.MemberNotFound, h.limit(owner, stranger.Credential.PersonID, new(int64)), "a stranger's limit")
		h.want(fault.InvalidRequest, h.limit(owner, member.Credential.PersonID, new(int64(-1))), "less than nothing")
		h.want(fault.InvalidRequest, h.limit(owner, member.Credential.PersonID, new(int64(1)<<60)), "more than there is")
		for _, cents := range []*int64{nil, new(int64), new(int64(250)), new(int64(300)), nil, nil} {
			if err := h.limit(owner, member.Credential.PersonID, cents); err != nil {
				h.t.Fatal(err)
			}
			if got := h.limitOf(owner.WorkspaceID, member.Credential.PersonID); (got == nil) != (cents == nil) || got != nil && *got != *cents {
				h.t.Errorf("a limit of %v is read as %v", cents, got)
			}
			h.audit()
		}
		if err := h.limit(owner, owner.Credential.PersonID, new(int64(1))); err != nil {
			h.t.Errorf("an owner's own limit: %v", err)
		}
	})
}

// TestALimitEndsWithTheMembership: a person who comes back has none, and nothing of it is left
// when the workspace is erased.
func TestALimitEndsWithTheMembership(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		first, other := h.team(identity.Member)
		owner, personID := h.as(first), h.as(other).Credential.PersonID
		left := func() bool {
			var err error
			h.must(func(ctx context.Context, tx *db.Tx) error {
				_, err = tx.MemberLimit(ctx, query.MemberLimitParams{WorkspaceID: owner.WorkspaceID, PersonID: personID})
				return nil
			})
			return err == nil
		}
		if err := h.limit(owner, personID, new(int64(5))); err != nil {
			h.t.Fatal(err)
		}
		if err := h.remove(owner, personID); err != nil || left() {
			h.t.Fatalf("after the removal there is a limit, or %v", err)
		}
		token, err := h.invite(owner, "other@example.com", identity.Member)
		if err == nil {
			_, err = h.accept(h.open("other@example.com", ""), token)
		}
		if err != nil {
			h.t.Fatal(err)
		}
		if got := h.limitOf(owner.WorkspaceID, personID); got != nil {
			h.t.Errorf("a person who came back may spend %d", *got)
		}
		if err := h.limit(owner, personID, new(int64(5))); err != nil {
			h.t.Fatal(err)
		}
		h.must(func(ctx context.Context, tx *db.Tx) error { return identity.Erase(ctx, tx, owner.WorkspaceID) })
		if left() {
			h.t.Error("an erased workspace has a limit")
		}
		h.audit()
	})
}
