package operator_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	why "svc.example/internal/ground/reason"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/invoice"
	"svc.example/internal/work/job"
	"svc.example/internal/work/operator"
)

// write runs do in a transaction.
func write(t *testing.T, d *db.DB, do func(ctx context.Context, tx *db.Tx) error) error {
	t.Helper()
	return d.Write(t.Context(), func(tx *db.Tx) error { return do(t.Context(), tx) })
}

// acts reads the record.
func acts(t *testing.T, d *db.DB) (all []operator.Done) {
	t.Helper()
	err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
		all, err = operator.Acts(t.Context(), tx, "", 100)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// workspace makes a person with a workspace.
func workspace(t *testing.T, d *db.DB, email string) (p identity.Person) {
	t.Helper()
	err := write(t, d, func(ctx context.Context, tx *db.Tx) (err error) {
		p, err = identity.CreateWorkspace(ctx, tx, email)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatAnOperatorDoesIsRecordedWithIt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ada := workspace(t, d, "ada@example.com")
		for range 2 { // the second credits nothing more, and is reported too
			err := write(t, d, func(ctx context.Context, tx *db.Tx) error {
				act, err := operator.Credit(ctx, tx, ada.WorkspaceID, "invoice 7", 500)
				if err != nil {
					return err
				}
				return act.Perform(ctx, tx, operator.Account("root"))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		all := acts(t, d)
		if len(all) != 2 || all[0].Actor != "root" || all[0].Way != operator.Command || all[0].WorkspaceID != ada.WorkspaceID ||
			!strings.HasPrefix(all[1].What, "add $5.00 to the wallet of ") || all[0].ActedAt.IsZero() {
			t.Errorf("the record is %+v", all)
		}
	})
}

func TestAnActThatFailsIsNotRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		boom := errors.New("boom")
		err := write(t, d, func(ctx context.Context, tx *db.Tx) error {
			return operator.Act{What: "fail", Do: func(context.Context, *db.Tx) error { return boom }}.Perform(ctx, tx, operator.Account("root"))
		})
		if !errors.Is(err, boom) || len(acts(t, d)) != 0 {
			t.Errorf("%v; recorded %+v", err, acts(t, d))
		}
	})
}

func TestNobodyElseActs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := operator.Person(identity.Principal{WorkspaceID: "WSP-1", Scopes: identity.AllScopes()}); !fault.Is(err, fault.RouteNotFound) {
			t.Errorf("a person who is not an operator: %v", err)
		}
		err := write(t, d, func(ctx context.Context, tx *db.Tx) error {
			return operator.Act{What: "do", Do: func(context.Context, *db.Tx) error { t.Error("it is done"); return nil }}.Perform(ctx, tx, operator.Actor{})
		})
		if !fault.Is(err, fault.RouteNotFound) {
			t.Errorf("no actor: %v", err)
		}
	})
}

// TestAnOperatorIsOneFromTheNextRequestOn, and no longer than that.
func TestAnOperatorIsOneFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var session identity.Opened
		err := write(t, d, func(ctx context.Context, tx *db.Tx) error {
			link, err := identity.CreateSignInLink(ctx, tx, "ada@example.com")
			if err == nil {
				session, err = identity.SignIn(ctx, tx, link, "")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []bool{true, true, false, false} {
			err := write(t, d, func(ctx context.Context, tx *db.Tx) error {
				act, err := operator.SetOperator(ctx, tx, " Ada@Example.com ", want)
				if err != nil {
					return err
				}
				return act.Perform(ctx, tx, operator.Account("root"))
			})
			if err != nil {
				t.Fatal(err)
			}
			who, err := identity.Session(t.Context(), d, session.Token)
			if err != nil || who.Operator != want {
				t.Errorf("operator is %t, want %t: %v", who.Operator, want, err)
			}
		}
		err = write(t, d, func(ctx context.Context, tx *db.Tx) error {
			_, err := operator.SetOperator(ctx, tx, "bob@example.com", true)
			return err
		})
		if !fault.Is(err, fault.PersonNotFound) {
			t.Errorf("a stranger: %v", err)
		}
	})
}

func TestAFrozenWorkspaceStartsNothingUntilItIsLifted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ada := workspace(t, d, "ada@example.com")
		perform := func(propose func(ctx context.Context, tx *db.Tx) (operator.Act, error)) error {
			return write(t, d, func(ctx context.Context, tx *db.Tx) error {
				act, err := propose(ctx, tx)
				if err == nil {
					err = act.Perform(ctx, tx, operator.Account("root"))
				}
				return err
			})
		}
		starts := func() error {
			return write(t, d, func(ctx context.Context, tx *db.Tx) error { return freeze.Require(ctx, tx, ada.WorkspaceID) })
		}
		freeze := func(reason string) func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
			return func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.FreezeWorkspace(ctx, tx, ada.WorkspaceID, reason)
			}
		}
		for _, reason := range []string{"", " \n", strings.Repeat("x", why.MaxBytes+1)} {
			if err := perform(freeze(reason)); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("reason %.10q: %v", reason, err)
			}
		}
		for _, reason := range []string{"its card was stolen", "a dispute\nis open"} {
			if err := perform(freeze(reason)); err != nil {
				t.Fatal(err)
			}
		}
		if err := starts(); !fault.Is(err, fault.WorkspaceFrozen) || !strings.Contains(err.Error(), `a dispute\nis open`) {
			t.Errorf("a frozen workspace: %v", err)
		}
		err := perform(func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
			return operator.UnfreezeWorkspace(ctx, tx, ada.WorkspaceID)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := starts(); err != nil {
			t.Errorf("it is lifted: %v", err)
		}
	})
}

// TestAnActIsRefusedBeforeItIsAskedFor where it could not be done.
func TestAnActIsRefusedBeforeItIsAskedFor(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		jobs := &job.Jobs{Log: slog.New(slog.DiscardHandler)}
		for name, c := range map[string]struct {
			code    fault.Code
			propose func(ctx context.Context, tx *db.Tx) (operator.Act, error)
		}{
			"drain": {fault.WorkerNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.DrainWorker(ctx, tx, "NOD-1", false)
			}},
			"forget": {fault.WorkerNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.ForgetWorker(ctx, tx, "NOD-1")
			}},
			"cancel": {fault.RenderNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.CancelJob(ctx, tx, jobs, "JOB-1")
			}},
			"fail": {fault.RenderNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.FailJob(ctx, tx, jobs, "JOB-1", "x")
			}},
			"credit": {fault.WorkspaceNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.Credit(ctx, tx, "WSP-1", "r", 1)
			}},
			"cents": {fault.InvalidRequest, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.Credit(ctx, tx, "WSP-1", "r", -1)
			}},
			"refund": {fault.RenderNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.Refund(ctx, tx, "JOB-1", "r", 1)
			}},
			"freeze": {fault.WorkspaceNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.FreezeWorkspace(ctx, tx, "WSP-1", "x")
			}},
			"keep": {fault.WorkspaceNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.KeepArtifacts(ctx, tx, "WSP-1", 7)
			}},
			"limit": {fault.WorkspaceNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.LimitSpending(ctx, tx, "WSP-1", 500)
			}},
			"issuer": {fault.InvalidRequest, func(context.Context, *db.Tx) (operator.Act, error) {
				return operator.SetInvoiceIssuer(invoice.Issuer{Prefix: "A1"})
			}},
			"tags": {fault.WorkspaceNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.RequireTags(ctx, tx, "WSP-1", []string{"rtx"})
			}},
			"a tag": {fault.InvalidRequest, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.RequireTags(ctx, tx, "WSP-1", []string{"RTX"})
			}},
			"frames at once": {fault.InvalidRequest, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.LimitFrames(ctx, tx, "WSP-1", -1)
			}},
			"daily cents": {fault.InvalidRequest, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.LimitSpending(ctx, tx, "WSP-1", -1)
			}},
			"days": {fault.InvalidRequest, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.KeepArtifacts(ctx, tx, "WSP-1", identity.MostArtifactDays+1)
			}},
			"lift": {fault.WorkspaceNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.UnfreezeWorkspace(ctx, tx, "WSP-1")
			}},
			"hide": {fault.ResultNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.HideResults(ctx, tx, []string{"BMR-1"}, "x", nil)
			}},
			"show": {fault.ResultNotFound, func(ctx context.Context, tx *db.Tx) (operator.Act, error) {
				return operator.ShowResults(ctx, tx, []string{"BMR-1"}, nil)
			}},
		} {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				_, err := c.propose(t.Context(), tx)
				return err
			})
			if !fault.Is(err, c.code) {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
	})
}

// TestOnlyOfPeopleWhoAreErasedTheRecordForgetsWhoActed: an operator who was a member of an erased
// workspace, and is in another, stays named.
func TestOnlyOfPeopleWhoAreErasedTheRecordForgetsWhoActed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ada := workspace(t, d, "ada@example.com")
		workspace(t, d, "bob@example.com")
		apptest.Join(t, d, ada.WorkspaceID, "bob@example.com", identity.Viewer)
		for _, actor := range []string{"ada@example.com", "bob@example.com"} {
			err := write(t, d, func(ctx context.Context, tx *db.Tx) error {
				return operator.Act{What: "do", Do: func(context.Context, *db.Tx) error { return nil }}.Perform(ctx, tx, operator.Account(actor))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		err := write(t, d, func(ctx context.Context, tx *db.Tx) error {
			return errors.Join(operator.Erase(ctx, tx, ada.WorkspaceID), identity.Erase(ctx, tx, ada.WorkspaceID))
		})
		if all := acts(t, d); err != nil || len(all) != 2 || all[0].Actor != "bob@example.com" || all[1].Actor != "erased" {
			t.Errorf("%v; the record is %+v", err, all)
		}
	})
}
