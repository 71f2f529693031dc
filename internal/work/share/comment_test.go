package share_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/share"
)

// opened shares a new job and opens its link.
func (w world) opened(workspaceID string, comments bool) share.Opened {
	w.T.Helper()
	_, token, err := w.share(owner(workspaceID), w.Job(w.T, workspaceID, 1), share.Wish{Comments: comments})
	if err != nil {
		w.T.Fatal(err)
	}
	o, err := w.shares.Open(w.T.Context(), token)
	if err != nil {
		w.T.Fatal(err)
	}
	return o
}

// say adds a comment to frame 1.
func (w world) say(o share.Opened, text string) error {
	return w.shares.Add(w.T.Context(), o, share.Said{Frame: 1, Text: text})
}

// of reads the comments on a job as its workspace sees them.
func (w world) of(workspaceID, jobID string) (all []share.Comment) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) (err error) {
		all, err = share.OfJob(ctx, tx, workspaceID, jobID, "", 100)
		return err
	})
	return all
}

// shown reads what a link shows of frame 1.
func (w world) shown(o share.Opened) share.Shown {
	w.T.Helper()
	shown, err := w.shares.Shown(w.T.Context(), o, 1)
	if err != nil {
		w.T.Fatal(err)
	}
	return shown
}

func TestALinkShowsTheCommentsThatCameByIt(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		o, silent, other := w.opened(mine, true), w.opened(mine, false), w.opened(theirs, true)
		if err := w.say(o, "one"); err != nil {
			t.Fatal(err)
		}
		if err := w.say(silent, "two"); !fault.Is(err, fault.ShareNotFound) {
			t.Errorf("a link without comments takes one: %v", err)
		}
		if got := w.shown(o); len(got.OfFrame) != 1 || got.OfFrame[0].Text != "one" || len(got.Frames) != 1 || got.Frames[0] != (share.Commented{Frame: 1, Comments: 1}) {
			t.Errorf("it shows %+v", got)
		}
		for name, o := range map[string]share.Opened{"a link without comments": silent, "another workspace's": other} {
			if got := w.shown(o); len(got.OfFrame)+len(got.Frames) > 0 {
				t.Errorf("%s shows %+v", name, got)
			}
		}
		// A new link of the job begins empty; the workspace sees what came by the old one.
		_, token, err := w.share(owner(mine), o.JobID, share.Wish{Comments: true})
		if err != nil {
			t.Fatal(err)
		}
		next, err := w.shares.Open(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.say(o, "late"); !fault.Is(err, fault.ShareNotFound) {
			t.Errorf("a link that has ended takes a comment: %v", err)
		}
		if got := w.shown(next); len(got.OfFrame) != 0 {
			t.Errorf("the new link shows %+v", got)
		}
		if got := w.of(mine, o.JobID); len(got) != 1 || got[0].Text != "one" || got[0].JobID != o.JobID || got[0].DoneAt != nil {
			t.Errorf("the workspace sees %+v", got)
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			if _, err := share.OfJob(ctx, tx, theirs, o.JobID, "", 100); !fault.Is(err, fault.RenderNotFound) {
				t.Errorf("another workspace lists them: %v", err)
			}
			return nil
		})
		w.Advance(share.UsualLife)
		if err := w.say(next, "late"); !fault.Is(err, fault.ShareNotFound) {
			t.Errorf("a link that has expired takes a comment: %v", err)
		}
	})
}

func TestAWorkspaceOpensAndClosesComments(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine := w.Workspace(t)
		o := w.opened(mine, false)
		allow := func(who identity.Principal, comments bool) (made share.Share, err error) {
			err = w.DB.Write(t.Context(), func(tx *db.Tx) (err error) {
				made, err = w.shares.Allow(t.Context(), tx, who, o.JobID, comments)
				return err
			})
			return made, err
		}
		if made, err := allow(owner(mine), true); err != nil || !made.Comments {
			t.Fatalf("%+v, %v", made, err)
		}
		o.Comments = true // as the next request finds it
		if err := w.say(o, "one"); err != nil {
			t.Fatal(err)
		}
		made, err := allow(owner(mine), false)
		if err != nil || made.Comments || made.OpenComments != 1 {
			t.Fatalf("%+v, %v", made, err)
		}
		if err := w.say(o, "two"); !fault.Is(err, fault.ShareNotFound) {
			t.Errorf("closed comments take one from a page that was opened before: %v", err)
		}
		reads := identity.Principal{WorkspaceID: mine, Scopes: identity.Scopes{identity.ScopeRead}}
		if _, err := allow(reads, true); !fault.Is(err, fault.InsufficientScope) {
			t.Errorf("a key that only reads: %v", err)
		}
		if _, err := allow(owner(w.Workspace(t)), true); !fault.Is(err, fault.RenderNotFound) {
			t.Errorf("another workspace: %v", err)
		}
		allowed := w.opened(mine, true)
		w.shares.Comments = 0
		if _, err := allow(owner(mine), true); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("a service without comments: %v", err)
		}
		if _, _, err := w.share(owner(mine), o.JobID, share.Wish{Comments: true}); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("a link with comments on a service without: %v", err)
		}
		allowed.Comments = false // as its page finds it now
		if err := w.say(allowed, "three"); !fault.Is(err, fault.ShareNotFound) {
			t.Errorf("a comment on a service without: %v", err)
		}
	})
}

func TestCommentsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		o := w.opened(w.Workspace(t), true)
		for said, field := range map[share.Said]string{
			{Text: " \n\t\u200b\r\n"}:                    "comment",
			{Text: strings.Repeat("ä", 1001)}:            "comment",
			{Text: "a", Author: strings.Repeat("x", 61)}: "name",
		} {
			if err := w.shares.Add(t.Context(), o, said); !fault.Is(err, fault.InvalidRequest) || !strings.HasPrefix(err.Error(), "invalid_request: "+field) {
				t.Errorf("%q by %q: %v", said.Text, said.Author, err)
			}
		}
		// Of twenty at once, five are kept: the bound of a job.
		var all sync.WaitGroup
		kept := make(chan error, 20)
		for i := range cap(kept) {
			all.Go(func() { kept <- w.say(o, fmt.Sprint(i)) })
		}
		all.Wait()
		close(kept)
		refused := 0
		for err := range kept {
			if fault.Is(err, fault.ShareLimitReached) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if got := w.of(o.WorkspaceID, o.JobID); refused != 15 || len(got) != 5 {
			t.Errorf("%d refused, %d kept", refused, len(got))
		}
		var shares ratelimit.Shares
		ctx, got := shares.Of(t.Context(), "198.51.100.1"), 0
		for range 100 {
			if err := w.shares.Add(ctx, o, share.Said{Text: "a"}); !fault.Is(err, fault.RateLimited) {
				got++
			}
		}
		if got > 2*ratelimit.PoolShares()[ratelimit.Comments].Burst {
			t.Errorf("one address gets through %d times", got)
		}
	})
}

func TestTextOfVisitorsIsKeptInOneForm(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		o := w.opened(w.Workspace(t), true)
		err := w.shares.Add(t.Context(), o, share.Said{Author: " A\nda\u202e ", Text: "\r\n<b>e\u0301</b>\x1b[2J \r\n\r\n\r\n\r\n=1+1\xff\u2764\ufe0f"})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.of(o.WorkspaceID, o.JobID)[0]; got.Author != "A da" || got.Text != "<b>\u00e9</b>[2J\n\n=1+1\u2764" {
			t.Errorf("%q by %q", got.Text, got.Author)
		}
	})
}

func TestAWorkspaceMarksAndDeletesItsComments(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		o := w.opened(mine, true)
		for _, text := range []string{"one", "two", "three"} {
			if err := w.say(o, text); err != nil {
				t.Fatal(err)
			}
		}
		all := w.of(mine, o.JobID)
		last := all[0].CommentID
		open := func() (n int) {
			w.Read(t, func(ctx context.Context, tx *db.Tx) (err error) {
				n, err = share.CountOpen(ctx, tx, mine)
				return err
			})
			return n
		}
		reads := identity.Principal{WorkspaceID: mine, Scopes: identity.Scopes{identity.ScopeRead}}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			for _, do := range []func(who identity.Principal) error{
				func(who identity.Principal) error { return share.SetDone(ctx, tx, who, o.JobID, last, true) },
				func(who identity.Principal) error { return share.Delete(ctx, tx, who, o.JobID, last) },
				func(who identity.Principal) error { return share.DeleteAll(ctx, tx, who, o.JobID) },
			} {
				if err := do(owner(theirs)); err != nil {
					t.Error(err)
				}
				if err := do(reads); !fault.Is(err, fault.InsufficientScope) {
					t.Errorf("a key that only reads: %v", err)
				}
			}
			return nil
		})
		if got := w.of(mine, o.JobID); len(got) != 3 || open() != 3 {
			t.Fatalf("others changed them to %+v", got)
		}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			return share.SetDone(ctx, tx, owner(mine), o.JobID, last, true)
		})
		if got := w.of(mine, o.JobID); got[0].DoneAt == nil || open() != 2 {
			t.Errorf("done: %+v, %d open", got[0], open())
		}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			return share.SetDone(ctx, tx, owner(mine), o.JobID, last, false)
		})
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			return share.Delete(ctx, tx, owner(mine), o.JobID, all[1].CommentID)
		})
		if got := w.of(mine, o.JobID); len(got) != 2 || open() != 2 || len(w.shown(o).OfFrame) != 2 {
			t.Errorf("%d are left, %d open", len(got), open())
		}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			return share.Audit(ctx, tx, func(rule, subject, _ string, _ ...any) { t.Errorf("%s: %s", rule, subject) })
		})
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return share.DeleteAll(ctx, tx, owner(mine), o.JobID) })
		if got := w.of(mine, o.JobID); len(got) != 0 {
			t.Errorf("%d are left", len(got))
		}
	})
}

func TestCommentsGoAfterAYearAndWithTheirWorkspace(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		o, other := w.opened(mine, true), w.opened(theirs, true)
		for _, o := range []share.Opened{o, other} {
			if err := w.say(o, "one"); err != nil {
				t.Fatal(err)
			}
		}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return share.Erase(ctx, tx, mine) })
		if got := w.of(mine, o.JobID); len(got) != 0 {
			t.Errorf("an erased workspace has %+v", got)
		}
		for after, want := range map[time.Duration]int{0: 1, share.CommentLife + time.Hour: 0} {
			w.Advance(after)
			if _, err := share.Forget(t.Context(), w.DB); err != nil {
				t.Fatal(err)
			}
			if got := w.of(theirs, other.JobID); after > 0 && len(got) != want {
				t.Errorf("after %s there are %d", after, len(got))
			}
		}
	})
}

// TestACommentIsToldToThePeopleOfItsWorkspace, and one that was refused to nobody.
func TestACommentIsToldToThePeopleOfItsWorkspace(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		told := func(workspaceID string) (waits notice.Waiting) {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error {
				people, err := identity.Members(ctx, tx, workspaceID)
				if err == nil {
					err = notice.Verified(ctx, tx, people[0].PersonID)
				}
				if err == nil {
					waits, err = notice.Read(ctx, tx, people[0].PersonID)
				}
				return err
			})
			return waits
		}
		told(mine)
		told(theirs)
		o := w.opened(mine, true)
		if err := w.say(o, ""); err == nil || !told(mine).Empty() {
			t.Errorf("an empty comment: %v", err)
		}
		for range 2 {
			if err := w.say(o, "the hand clips"); err != nil {
				t.Fatal(err)
			}
		}
		if waits := told(mine); len(waits.Commented) != 1 || waits.Commented[0].JobID != o.JobID || waits.Commented[0].Comments != 2 {
			t.Errorf("they are told of %+v", waits.Commented)
		}
		if !told(theirs).Empty() {
			t.Error("others are told")
		}
	})
}
