package operators_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/receipt/signing"
)

// world is a store, two processes that watch it, and what they have told.
type world struct {
	*jobtest.World
	watches [2]*operators.Watch
	files   [2]error // what each process finds of the store of files

	mu     sync.Mutex
	mails  []string // address: subject
	posts  []operators.Message
	status int // what the receiver of posts answers
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	jobtest.Each(t, func(t *testing.T, j *jobtest.World) {
		w := &world{World: j, status: http.StatusOK}
		receiver := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
			w.mu.Lock()
			defer w.mu.Unlock()
			var m operators.Message
			if err := json.NewDecoder(req.Body).Decode(&m); err != nil || req.Method != http.MethodPost {
				t.Errorf("%s: %v", req.Method, err)
			}
			res.WriteHeader(w.status)
			if w.status == http.StatusOK {
				w.posts = append(w.posts, m)
			}
		}))
		t.Cleanup(receiver.Close)
		keys, err := signing.Open(t.TempDir(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(t, keys.Register)
		for i, host := range []string{"a", "b"} {
			w.watches[i] = &operators.Watch{
				Config: operators.Config{Mail: []string{"ops@example.com"}, URL: receiver.URL + "/secret"},
				DB:     j.DB, Keys: keys, Free: func() (int64, error) { return 1 << 40, nil }, Host: host, Page: "https://svc.example", Files: func() error { return w.files[i] },
				Send: func(_ context.Context, m identity.Message) error {
					w.mu.Lock()
					defer w.mu.Unlock()
					w.mails = append(w.mails, m.To+": "+m.Subject)
					return nil
				},
			}
		}
		test(t, w)
	})
}

// look lets time pass, has both processes look at once, and sends what they found. It returns
// the mails, and the states and alerts of the other messages.
func (w *world) look(t *testing.T, after time.Duration) (mails, posts []string) {
	t.Helper()
	w.Advance(after)
	for _, watch := range w.watches {
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			return tx.ProcessSeen(ctx, query.ProcessSeenParams{ProcessID: "PRC-" + watch.Host, Host: watch.Host, Now: tx.Now})
		})
	}
	var looks sync.WaitGroup
	for _, watch := range w.watches {
		looks.Go(func() {
			if err := watch.Look(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	looks.Wait()
	return w.send(t)
}

// send sends what is queued.
func (w *world) send(t *testing.T) (mails, posts []string) {
	t.Helper()
	w.mails, w.posts = nil, nil
	for {
		var claimed []lease.Lease
		w.Write(t, func(ctx context.Context, tx *db.Tx) (err error) {
			claimed, err = lease.Claim(ctx, tx, operators.Queue, "test", 1, time.Minute)
			return err
		})
		if len(claimed) == 0 {
			break
		}
		if err := w.watches[0].Notify(t.Context(), claimed[0]); err != nil {
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the receiver's address: %v", err)
			}
			w.Write(t, func(ctx context.Context, tx *db.Tx) error {
				_, err := lease.Fail(ctx, tx, claimed[0].Ref(), "away", err.Error(), time.Minute)
				return err
			})
		}
	}
	for _, m := range w.posts {
		posts = append(posts, m.State+" "+m.Alert)
	}
	return w.mails, posts
}

func want(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("%s: told %q, want %q", what, got, want)
	}
}

// Trouble that lasts is told once to each receiver, however many processes look, and so is its end.
func TestTroubleIsToldOnceAndSoIsItsEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mails, posts := w.look(t, 0)
		want(t, "without trouble", append(mails, posts...))
		jobID := w.Job(t, w.Workspace(t), 2)
		mails, posts = w.look(t, 0)
		want(t, "at once", append(mails, posts...))
		mails, posts = w.look(t, 4*time.Minute)
		want(t, "after 4 minutes", append(mails, posts...))

		mails, posts = w.look(t, 2*time.Minute)
		want(t, "mails after 6 minutes", mails, "ops@example.com: svc: Frames wait, and no worker is there")
		want(t, "messages after 6 minutes", posts, "began no_worker")
		if text := w.posts[0].Text; text != "Frames wait, and no worker is there: 2 frames wait. What to do: https://svc.example/guide/runbook#svcnoworker" {
			t.Errorf("the message is %q", text)
		}
		mails, posts = w.look(t, time.Hour)
		want(t, "an hour later", append(mails, posts...))

		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			all, err := operators.Standings(ctx, tx)
			if err != nil || len(all) != 1 || all[0].Name != "no_worker" || all[0].ToldAt == nil {
				t.Errorf("there stands %+v, %v", all, err)
			}
			_, err = w.Jobs.FailByOperator(ctx, tx, jobID, "It is a test.")
			return err
		})
		mails, posts = w.look(t, time.Minute)
		want(t, "mails at the end", mails, "ops@example.com: svc: over: Frames wait, and no worker is there")
		want(t, "messages at the end", posts, "over no_worker")
		mails, posts = w.look(t, time.Minute)
		want(t, "afterwards", append(mails, posts...))
	})
}

// Trouble that ends soon is not told, nor is an alert that the operator did not choose.
func TestOnlyTroubleThatLastsAndIsChosenIsTold(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.files[0] = errors.New("away")
		w.look(t, 0)
		w.files[0] = nil
		mails, posts := w.look(t, time.Minute)
		want(t, "trouble of a minute", append(mails, posts...))
		for _, watch := range w.watches {
			watch.Config.Names = []string{"disk_low"}
		}
		w.Job(t, w.Workspace(t), 1)
		w.look(t, 0)
		mails, posts = w.look(t, time.Hour)
		want(t, "an alert that was not chosen", append(mails, posts...))

		// What was told is not over because the operator no longer wants to hear of it.
		for _, watch := range w.watches {
			watch.Config.Names = nil
		}
		w.look(t, 0)
		_, posts = w.look(t, 6*time.Minute)
		want(t, "an alert that was chosen", posts, "began no_worker")
		for _, watch := range w.watches {
			watch.Config.Names = []string{"disk_low"}
		}
		mails, posts = w.look(t, time.Minute)
		want(t, "an alert that is no longer chosen", append(mails, posts...))
	})
}

// A machine's own trouble is over when that machine says so, or is gone.
func TestATroubleOfAMachineIsItsOwn(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.files[0] = errors.New("away")
		w.look(t, 0)
		_, posts := w.look(t, 3*time.Minute)
		want(t, "on a machine", posts, "began files_down@a")
		w.watches[0] = w.watches[1]
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return tx.ProcessGone(ctx, "PRC-a") })
		_, posts = w.look(t, time.Minute)
		want(t, "without the machine", posts, "over files_down@a")
	})
}

// A receiver that fails gets its message later; the others do not get theirs again.
func TestAReceiverThatFailsGetsItsMessageLater(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Write(t, operators.QueueTest)
		mails, posts := w.send(t)
		want(t, "a test", append(mails, posts...), "ops@example.com: svc: test of alerts", "test test")
		w.files[1] = errors.New("away")
		w.look(t, 0)
		w.status = http.StatusBadGateway
		mails, posts = w.look(t, 3*time.Minute)
		want(t, "mails", mails, "ops@example.com: svc: Files cannot be stored")
		want(t, "messages to a receiver that fails", posts)
		w.status = http.StatusOK
		w.Advance(2 * time.Minute)
		mails, posts = w.send(t)
		want(t, "mails once more", mails)
		want(t, "messages when the receiver is back", posts, "began files_down@b")
	})
}

func TestReceiversThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mail          []string
		address       string
		names         []string
		good          bool
		refusalNaming string
	}{
		{mail: []string{"ops@example.com"}, address: "https://hooks.slack.com/services/x", names: []string{"disk_low"}, good: true},
		{mail: []string{"Ops <ops@example.com>"}, refusalNaming: "Ops"},
		{mail: []string{"ops"}, refusalNaming: "ops"},
		{address: "hooks.slack.com/services/x", refusalNaming: "https://"},
		{address: "ftp://example.com/x", refusalNaming: "https://"},
		{names: []string{"disk"}, refusalNaming: "disk_low"},
	} {
		err := operators.Check(c.mail, c.address, c.names)
		if c.good != (err == nil) || err != nil && !strings.Contains(err.Error(), c.refusalNaming) {
			t.Errorf("%v %q %v: %v", c.mail, c.address, c.names, err)
		}
	}
}
