package identity_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
)

// link makes the token of a one-time link.
func (h service) link(email string) (token string) {
	h.t.Helper()
	h.must(func(ctx context.Context, tx *db.Tx) (err error) {
		token, err = identity.CreateSignInLink(ctx, tx, email)
		return err
	})
	return token
}

func (h service) signIn(token, before string) (o identity.Opened, err error) {
	err = h.write(func(ctx context.Context, tx *db.Tx) error {
		o, err = identity.SignIn(ctx, tx, token, before)
		return err
	})
	return o, err
}

// open signs a person in.
func (h service) open(email, before string) identity.Opened {
	h.t.Helper()
	o, err := h.signIn(h.link(email), before)
	if err != nil {
		h.t.Fatal(err)
	}
	return o
}

func TestSignInLinkWorksOnceAndNotTooLate(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		token := h.link(" New@Example.com ")
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if _, err := h.signIn(token, ""); err == nil {
					won.Add(1)
				} else if !fault.Is(err, fault.LinkInvalid) {
					h.t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			h.t.Fatalf("the link worked %d times", won.Load())
		}
		late := h.link("new@example.com")
		h.skew.Add(int64(contract.SignInLinkLife))
		if _, err := h.signIn(late, ""); !fault.Is(err, fault.LinkInvalid) {
			h.t.Fatalf("late: %v", err)
		}
	})
}

func TestFirstSignInMakesAPersonAndAWorkspaceAndTheNextFindsThem(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		first := h.open("New@Example.com", "")
		if first.Person.Email != "new@example.com" || first.Person.WorkspaceID == h.workspace {
			h.t.Fatalf("got %+v", first)
		}
		if next := h.open("new@example.com", ""); next.Person != first.Person || next.Token == first.Token {
			h.t.Fatalf("got %+v after %+v", next, first)
		}
	})
}

func TestSessionLastsFourteenDaysOrUntilSignOut(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		refused := func(token string) {
			h.t.Helper()
			if _, err := identity.Session(h.t.Context(), h.DB, token); !fault.Is(err, fault.Unauthenticated) {
				h.t.Errorf("an ended session: %v", err)
			}
		}
		left, kept := h.open("a@example.com", ""), h.open("a@example.com", "")
		h.must(func(ctx context.Context, tx *db.Tx) error { return identity.SignOut(ctx, tx, left.Token) })
		refused(left.Token)
		h.skew.Add(int64(contract.SessionLife - time.Minute))
		if p, err := identity.Session(h.t.Context(), h.DB, kept.Token); err != nil || p.WorkspaceID != kept.Person.WorkspaceID || p.Credential.Email != "a@example.com" {
			h.t.Fatalf("got %+v, %v", p, err)
		}
		h.skew.Add(int64(time.Minute))
		refused(kept.Token)
		refused("")
	})
}

func TestSigningInEndsTheSessionThatTheBrowserHad(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		old, other := h.open("a@example.com", ""), h.open("a@example.com", "")
		h.open("a@example.com", old.Token)
		if _, err := identity.Session(h.t.Context(), h.DB, old.Token); !fault.Is(err, fault.Unauthenticated) {
			h.t.Errorf("the old session: %v", err)
		}
		if _, err := identity.Session(h.t.Context(), h.DB, other.Token); err != nil {
			h.t.Errorf("another browser's session: %v", err)
		}
	})
}

func TestSignInDeletesExpiredSessions(t *testing.T) {
	t.Parallel()
	each(t, func(h service) {
		ended := h.open("a@example.com", "")
		h.link("b@example.com")
		h.skew.Add(int64(contract.SessionLife))
		kept := h.open("c@example.com", "")
		for token, gone := range map[string]bool{ended.Token: true, kept.Token: false} {
			sum := sha256.Sum256([]byte(token))
			h.must(func(ctx context.Context, tx *db.Tx) error {
				if _, err := tx.SessionGet(ctx, hex.EncodeToString(sum[:])); db.IsNotFound(err) != gone {
					h.t.Errorf("session gone: want %v, got %v", gone, err)
				}
				return nil
			})
		}
		for email, want := range map[string]int64{"b@example.com": 0, "c@example.com": 1} {
			h.must(func(ctx context.Context, tx *db.Tx) error {
				if n, err := tx.SignInLinksOf(ctx, query.SignInLinksOfParams{Email: email}); err != nil || n != want {
					h.t.Errorf("%s has %d links, %v; want %d", email, n, err, want)
				}
				return nil
			})
		}
	})
}
