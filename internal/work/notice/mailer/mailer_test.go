package mailer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/notice"
	"svc.example/internal/work/notice/mailer"
)

const pause = 10 * time.Minute

// world is a store with jobs, and what was mailed about them.
type world struct {
	*jobtest.World
	mailer *mailer.Mailer
	mails  []identity.Message
	broken error // what the mail server answers
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	jobtest.Each(t, func(t *testing.T, j *jobtest.World) {
		j.Jobs.NoticePause = pause
		w := &world{World: j}
		w.mailer = &mailer.Mailer{DB: j.DB, Jobs: j.Jobs, Watch: j.Watch, Links: links.Links{PublicURL: "https://svc.example", Key: []byte("0123456789abcdef0123456789abcdef")}, Pause: pause,
			Send: func(_ context.Context, m identity.Message) error {
				if w.broken == nil {
					w.mails = append(w.mails, m)
				}
				return w.broken
			}}
		test(t, w)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			return notice.Audit(ctx, tx, func(rule, subject, _ string, _ ...any) { t.Errorf("breach: %s: %s", rule, subject) })
		})
	})
}

// person makes a workspace with a person whose address is verified.
func (w *world) person(t *testing.T) (workspaceID, personID string) {
	t.Helper()
	workspaceID = w.Workspace(t)
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		people, err := tx.MembersOf(ctx, workspaceID)
		if err != nil {
			return err
		}
		personID = people[0].PersonID
		return notice.Verified(ctx, tx, personID)
	})
	return workspaceID, personID
}

// ended starts a job and ends it.
func (w *world) ended(t *testing.T, workspaceID string) (jobID string) {
	t.Helper()
	jobID = w.Job(t, workspaceID, 1)
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		_, err := w.Jobs.FailByOperator(ctx, tx, jobID, "The machine <b>burns</b>.")
		return err
	})
	return jobID
}

// send sends the mails that are due after a while, and returns them.
func (w *world) send(t *testing.T, after time.Duration) []identity.Message {
	t.Helper()
	w.Advance(after)
	w.mails = nil
	for {
		var claimed []lease.Lease
		w.Write(t, func(ctx context.Context, tx *db.Tx) (err error) {
			claimed, err = lease.Claim(ctx, tx, notice.Queue, "test", 1, time.Minute)
			return err
		})
		if len(claimed) == 0 {
			return w.mails
		}
		if err := w.mailer.Notify(t.Context(), claimed[0]); err != nil {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error {
				_, err := lease.Fail(ctx, tx, claimed[0].Ref(), "mail", err.Error(), time.Minute)
				return err
			})
			return nil
		}
	}
}

// soon is longer than a mail waits for other jobs.
const soon = time.Minute

func TestAPersonIsToldWhyAJobFailed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, _ := w.person(t)
		jobID := w.ended(t, workspace)
		mails := w.send(t, soon)
		if len(mails) != 1 {
			t.Fatalf("%d mails, want 1", len(mails))
		}
		m := mails[0]
		if m.Subject != "a.blend: render failed, nothing charged" || !strings.HasSuffix(m.To, "@example.com") {
			t.Errorf("the mail to %s says %q", m.To, m.Subject)
		}
		for _, part := range []string{"The machine <b>burns</b>.", "https://svc.example/console/jobs/" + jobID, m.Unsubscribe} {
			if !strings.Contains(m.Text, part) {
				t.Errorf("the text lacks %q: %s", part, m.Text)
			}
		}
		if strings.Contains(m.HTML, "<b>") || !strings.Contains(m.HTML, "&lt;b&gt;burns") || !strings.Contains(m.HTML, `href="https://svc.example/console/jobs/`+jobID+`"`) {
			t.Errorf("the HTML is %s", m.HTML)
		}
		if again := w.send(t, pause); len(again) > 0 {
			t.Errorf("it is told again: %v", again)
		}
	})
}

func TestOnlyProvedAddressesAreTold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.ended(t, w.Workspace(t))
		if mails := w.send(t, soon); len(mails) > 0 {
			t.Errorf("%v is told", mails[0].To)
		}
	})
}

func TestACancelledJobIsNoNews(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, _ := w.person(t)
		jobID := w.Job(t, workspace, 1)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := w.Jobs.Cancel(ctx, tx, workspace, jobID)
			return err
		})
		if mails := w.send(t, soon); len(mails) > 0 {
			t.Errorf("%s", mails[0].Subject)
		}
	})
}

// TestJobsThatEndTogetherShareAMail ends 25 at once, of which a mail names 20, and one after the
// mail, which waits for the next.
func TestJobsThatEndTogetherShareAMail(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, _ := w.person(t)
		other, _ := w.person(t)
		for range 25 {
			w.ended(t, workspace)
		}
		theirs := w.ended(t, other)
		mails := w.send(t, soon)
		subjects := []string{}
		for _, m := range mails {
			subjects = append(subjects, m.Subject)
			if m.Subject != "a.blend: render failed, nothing charged" && (strings.Contains(m.Text, theirs) || strings.Count(m.Text, "/console/jobs/") != 20 || !strings.Contains(m.Text, "And 5 more: https://svc.example/console")) {
				t.Errorf("the mail of all is %s", m.Text)
			}
		}
		if slices.Sort(subjects); !slices.Equal(subjects, []string{"25 renders ended, 25 failed", "a.blend: render failed, nothing charged"}) {
			t.Errorf("the mails are %q", subjects)
		}
		late := w.ended(t, workspace)
		if mails := w.send(t, pause-2*soon); len(mails) > 0 {
			t.Errorf("a mail comes before the pause ends: %s", mails[0].Subject)
		}
		if mails := w.send(t, 2*soon); len(mails) != 1 || !strings.Contains(mails[0].Text, late) {
			t.Errorf("after the pause: %v", mails)
		}
	})
}

func TestWhoUnsubscribesGetsNoMailThatWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, personID := w.person(t)
		set := func(on bool) {
			w.Write(t, func(ctx context.Context, tx *db.Tx) error { return notice.Set(ctx, tx, personID, on) })
		}
		w.ended(t, workspace)
		set(false)
		w.ended(t, workspace)
		if mails := w.send(t, soon); len(mails) > 0 {
			t.Errorf("%s", mails[0].Subject)
		}
		set(true)
		w.ended(t, workspace)
		if mails := w.send(t, soon); len(mails) != 1 || strings.Contains(mails[0].Subject, "renders") {
			t.Errorf("once they want mails again: %v", mails)
		}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return notice.Set(ctx, tx, "PRS-0", true) }) // no such person
	})
}

// TestAMailThatFailsIsSentLater has the mail server away for a while, and then until the mail is
// a dead letter: the next end of a job tells of all.
func TestAMailThatFailsIsSentLater(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, personID := w.person(t)
		first := w.ended(t, workspace)
		w.broken = errors.New("the mail server is away")
		w.send(t, soon)
		w.broken = nil
		mails := w.send(t, soon)
		if len(mails) != 1 || !strings.Contains(mails[0].Text, first) {
			t.Fatalf("after the outage: %v", mails)
		}

		second := w.ended(t, workspace)
		w.broken = errors.New("the mail server is away")
		w.Advance(pause)
		queue := lease.Queue{Name: notice.Queue, LongestPause: time.Second, MaxFailures: 1}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			claimed, err := lease.Claim(ctx, tx, notice.Queue, "test", 1, time.Minute)
			if err != nil || len(claimed) != 1 || claimed[0].Subject != personID {
				return errors.Join(err, errors.New("no mail waits"))
			}
			_, err = queue.Fail(ctx, tx, claimed[0], "mail", "away")
			return err
		})
		w.broken = nil
		if mails := w.send(t, soon); len(mails) > 0 {
			t.Errorf("a dead letter is sent: %s", mails[0].Subject)
		}
		third := w.ended(t, workspace)
		if mails := w.send(t, soon); len(mails) != 1 || !strings.Contains(mails[0].Text, second) || !strings.Contains(mails[0].Text, third) {
			t.Errorf("the next mail: %v", mails)
		}
	})
}

// TestWithoutMailNothingWaits: where the operator sends no mails, notices go all the same.
func TestWithoutMailNothingWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.mailer.Send = nil
		workspace, personID := w.person(t)
		w.ended(t, workspace)
		w.send(t, soon)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			if left, err := notice.Read(ctx, tx, personID); err != nil || len(left.Jobs) > 0 {
				t.Errorf("%v wait, %v", left.Jobs, err)
			}
			return nil
		})
	})
}

func TestErasingAWorkspaceErasesWhomToTell(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, _ := w.person(t)
		w.ended(t, workspace)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := erase.Workspace(ctx, tx, workspace)
			return err
		})
		if mails := w.send(t, soon); len(mails) > 0 {
			t.Errorf("%s is still told", mails[0].To)
		}
	})
}

// comment leaves a comment of a visitor on a job, and returns its id.
func (w *world) comment(t *testing.T, workspaceID, jobID string) (commentID string) {
	t.Helper()
	commentID = id.New(id.Comment)
	w.Write(t, func(ctx context.Context, tx *db.Tx) error {
		err := tx.CommentAdd(ctx, query.CommentAddParams{CommentID: commentID, WorkspaceID: workspaceID, JobID: jobID, Frame: 1, Author: "A visitor", Body: "Buy <b>this</b>!", CreatedAt: tx.Now})
		if err == nil {
			err = notice.AddComment(ctx, tx, workspaceID, jobID, pause)
		}
		return err
	})
	return commentID
}

// TestPeopleAreToldOfCommentsOnTheirJobs: how many there are and where, with none of their text,
// and no more often than of jobs.
func TestPeopleAreToldOfCommentsOnTheirJobs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		workspace, _ := w.person(t)
		other, _ := w.person(t)
		jobID := w.Job(t, workspace, 1)
		for range 3 {
			w.comment(t, workspace, jobID)
		}
		mails := w.send(t, soon)
		if len(mails) != 1 || mails[0].Subject != "a.blend: 3 new comments" {
			t.Fatalf("the mails are %+v", mails)
		}
		m := mails[0]
		for _, text := range []string{m.Text, m.HTML} {
			if !strings.Contains(text, "https://svc.example/console/jobs/"+jobID+"/comments") || !strings.Contains(text, "3 new comments") || !strings.Contains(text, "The newest one is about frame 1.") || strings.Contains(text, "Buy") || strings.Contains(text, "visitor") {
				t.Errorf("the mail says %s", text)
			}
		}
		if m.Unsubscribe == "" || m.ID == "" {
			t.Errorf("the mail has no end or no name: %+v", m)
		}

		w.comment(t, workspace, jobID)
		second := w.Job(t, workspace, 1)
		w.comment(t, workspace, second)
		if mails := w.send(t, soon); len(mails) > 0 {
			t.Errorf("within the pause: %q", mails[0].Subject)
		}
		if mails = w.send(t, pause); len(mails) != 1 || mails[0].Subject != "2 new comments on 2 renders" || mails[0].ID == m.ID {
			t.Fatalf("after the pause: %+v", mails)
		}
		if !strings.Contains(mails[0].HTML, "https://svc.example/console/comments") {
			t.Errorf("the button is missing in %s", mails[0].HTML)
		}

		gone := w.comment(t, workspace, jobID)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.CommentDelete(ctx, query.CommentDeleteParams{CommentID: gone, JobID: jobID, WorkspaceID: workspace})
			return err
		})
		failed := w.ended(t, workspace)
		w.comment(t, workspace, failed)
		if mails = w.send(t, pause+soon); len(mails) != 1 || !strings.HasPrefix(mails[0].Subject, "a.blend: render failed, nothing charged, ") {
			t.Errorf("with a job that ended: %+v", mails)
		}
		if mails = w.send(t, pause+soon); len(mails) > 0 {
			t.Errorf("again: %q", mails[0].Subject)
		}
		if mails := w.send(t, soon); len(mails) > 0 || other == "" {
			t.Errorf("others are told: %+v", mails)
		}
	})
}

// TestNobodyIsToldOfCommentsWhoWantsNoMailOrHasLeft, or whose comments are gone.
func TestNobodyIsToldOfCommentsWhoWantsNoMailOrHasLeft(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		silent := func(why string) {
			t.Helper()
			if mails := w.send(t, pause+soon); len(mails) > 0 {
				t.Errorf("%s: %q", why, mails[0].Subject)
			}
		}
		workspace, personID := w.person(t)
		jobID := w.Job(t, workspace, 1)
		gone := w.comment(t, workspace, jobID)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.CommentDelete(ctx, query.CommentDeleteParams{CommentID: gone, JobID: jobID, WorkspaceID: workspace})
			return err
		})
		silent("a comment that was deleted")
		w.comment(t, workspace, jobID)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return notice.Set(ctx, tx, personID, false) })
		w.comment(t, workspace, jobID)
		silent("a person after unsubscribing")
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return notice.Set(ctx, tx, personID, true) })
		w.comment(t, workspace, jobID)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return notice.Forget(ctx, tx, workspace, personID) })
		silent("a person after leaving the workspace")
		w.comment(t, workspace, jobID)
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return notice.Erase(ctx, tx, workspace) })
		silent("a workspace that was erased")
		unverified := w.Workspace(t)
		w.comment(t, unverified, w.Job(t, unverified, 1))
		silent("an address that is not verified")
	})
}
