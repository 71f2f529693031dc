package share_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/share"
)

// world is a store with jobs and the workspaces that share them.
type world struct {
	*jobtest.World
	shares *share.Shares
}

func each(t *testing.T, test func(t *testing.T, w world)) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		test(t, world{w, &share.Shares{DB: w.DB, Links: links.Links{PublicURL: "https://svc.example"}, Most: 3, Comments: 5}})
	})
}

// owner may do everything in a workspace.
func owner(workspaceID string) identity.Principal {
	return identity.Principal{WorkspaceID: workspaceID, Scopes: identity.AllScopes()}
}

// share shares a job.
func (w world) share(who identity.Principal, jobID string, wish share.Wish) (made share.Share, token string, err error) {
	err = w.DB.Write(w.T.Context(), func(tx *db.Tx) (err error) {
		made, err = w.shares.Make(w.T.Context(), tx, who, jobID, wish)
		return err
	})
	if err == nil {
		token = strings.TrimPrefix(*made.ShareURL, "https://svc.example/s/")
	}
	return made, token, err
}

// opens wants a token to open a job; "" wants it to open none.
func (w world) opens(token, jobID string) {
	w.T.Helper()
	o, err := w.shares.Open(w.T.Context(), token)
	if jobID == "" && !fault.Is(err, fault.ShareNotFound) {
		w.T.Errorf("it opens %s, %v", o.JobID, err)
	}
	if jobID != "" && (err != nil || o.JobID != jobID) {
		w.T.Errorf("it opens %q, want %s: %v", o.JobID, jobID, err)
	}
}

func TestALinkOpensItsJobUntilItEnds(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		jobID, other := w.Job(t, mine, 1), w.Job(t, theirs, 1)
		made, token, err := w.share(owner(mine), jobID, share.Wish{Download: true})
		if err != nil || len(token) != 43 || !made.Download || made.Proof || made.ExpiresAt.Sub(made.CreatedAt) != share.UsualLife {
			t.Fatalf("%+v, %v", made, err)
		}
		w.opens(token, jobID)
		for _, guess := range []string{"", token[1:], token + "0", strings.ToLower(token), identity.Hash(token), jobID, "%"} {
			w.opens(guess, "")
		}
		o, err := w.shares.Open(t.Context(), token)
		if err != nil || o.By != "" {
			t.Errorf("an address is shown to visitors: %q, %v", o.By, err)
		}
		for range 2 {
			if err := w.shares.Viewed(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			got, err := w.shares.Of(ctx, tx, mine, jobID)
			if err != nil || got.Views != 2 || got.LastViewedAt == nil || got.ShareURL != nil {
				t.Errorf("%+v, %v", got, err)
			}
			return nil
		})
		_, again, err := w.share(owner(mine), jobID, share.Wish{Life: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		w.opens(token, "") // the new one ends it
		w.opens(again, jobID)
		w.Advance(time.Hour)
		w.opens(again, "")
		// Another workspace's job is as one that is not there.
		if _, _, err := w.share(owner(mine), other, share.Wish{}); !fault.Is(err, fault.RenderNotFound) {
			t.Errorf("another workspace's job: %v", err)
		}
		_, third, err := w.share(owner(mine), jobID, share.Wish{})
		if err != nil {
			t.Fatal(err)
		}
		end := func(who identity.Principal) error {
			return w.DB.Write(t.Context(), func(tx *db.Tx) error { return w.shares.End(t.Context(), tx, who, jobID) })
		}
		if err := end(owner(theirs)); !fault.Is(err, fault.RenderNotFound) {
			t.Errorf("another workspace ends it: %v", err)
		}
		w.opens(third, jobID)
		if err := end(owner(mine)); err != nil {
			t.Fatal(err)
		}
		w.opens(third, "")
		if err := end(owner(mine)); !fault.Is(err, fault.ShareNotFound) {
			t.Errorf("ending it twice: %v", err)
		}
	})
}

func TestAWorkspaceHasABoundedNumberOfLinks(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		var jobs []string
		for range 4 {
			jobs = append(jobs, w.Job(t, mine, 1))
		}
		for _, jobID := range []string{jobs[0], jobs[1], jobs[2], jobs[2]} { // the last replaces one
			if _, _, err := w.share(owner(mine), jobID, share.Wish{Life: time.Hour}); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := w.share(owner(mine), jobs[3], share.Wish{}); !fault.Is(err, fault.ShareLimitReached) {
			t.Errorf("one more: %v", err)
		}
		if _, _, err := w.share(owner(theirs), w.Job(t, theirs, 1), share.Wish{}); err != nil {
			t.Errorf("another workspace: %v", err)
		}
		w.Advance(time.Hour) // those that have ended do not count
		_, token, err := w.share(owner(mine), jobs[3], share.Wish{})
		if err != nil {
			t.Fatal(err)
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			all, err := w.shares.List(ctx, tx, mine)
			if err != nil || len(all) != 1 || all[0].JobID != jobs[3] {
				t.Errorf("%+v, %v", all, err)
			}
			return nil
		})
		reads := identity.Principal{WorkspaceID: mine, Scopes: identity.Scopes{identity.ScopeRead}}
		if _, _, err := w.share(reads, jobs[0], share.Wish{}); !fault.Is(err, fault.InsufficientScope) {
			t.Errorf("a key that only reads publishes: %v", err)
		}
		for _, life := range []time.Duration{-time.Hour, share.LongestLife + 1} {
			if _, _, err := w.share(owner(mine), jobs[0], share.Wish{Life: life}); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("for %s: %v", life, err)
			}
		}
		w.shares.Most = 0
		w.opens(token, "") // sharing is switched off
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return share.Erase(ctx, tx, mine) })
		w.shares.Most = 3
		w.opens(token, "")
	})
}

func TestTheAuditSeesEveryChangeOfALink(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine := w.Workspace(t)
		_, token, err := w.share(owner(mine), w.Job(t, mine, 1), share.Wish{Download: true, Proof: true, Comments: true})
		if err != nil {
			t.Fatal(err)
		}
		o, err := w.shares.Open(t.Context(), token)
		if err == nil {
			err = w.shares.Viewed(t.Context(), o)
		}
		if err == nil {
			err = w.shares.Add(t.Context(), o, share.Said{Frame: 1, Author: "Ada", Text: "a"})
		}
		if err != nil {
			t.Fatal(err)
		}
		unseen := dbtest.Unseen(t, w.URL, func(tx *db.Tx) (breaches int, err error) {
			err = share.Audit(context.Background(), tx, func(string, string, string, ...any) { breaches++ })
			return breaches, err
		}, "share", "share_comment")
		// How often a page was opened follows from nothing.
		if got := strings.Join(unseen, " "); got != "" && got != "share.viewed_at share.views" && got != "share.views share.viewed_at" {
			t.Errorf("it does not see %v", unseen)
		}
	})
}
