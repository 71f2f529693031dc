package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/numbers"
	why "svc.example/internal/ground/reason"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/notice/operators"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/wallet"
)

// DrainWorker gives a worker no more frames, or with undo gives it frames again. Error:
// worker_not_found.
func DrainWorker(ctx context.Context, tx *db.Tx, workerID string, undo bool) (Act, error) {
	w, err := dispatch.FindWorker(ctx, tx, workerID)
	what := fmt.Sprintf("give the worker %s (%s) no more frames; it finishes the %d that it has", w.WorkerID, w.Name, w.Frames)
	if undo {
		what = fmt.Sprintf("give the worker %s (%s) frames again", w.WorkerID, w.Name)
	}
	return Act{What: what, Do: func(ctx context.Context, tx *db.Tx) error { return dispatch.Drain(ctx, tx, workerID, undo) }}, err
}

// ForgetWorker removes a worker that has left. Errors: worker_not_found; of the act,
// worker_in_use.
func ForgetWorker(ctx context.Context, tx *db.Tx, workerID string) (Act, error) {
	w, err := dispatch.FindWorker(ctx, tx, workerID)
	return Act{
		What: fmt.Sprintf("remove the worker %s (%s) from the list; if it comes back, it registers again", w.WorkerID, w.Name),
		Do:   func(ctx context.Context, tx *db.Tx) error { return dispatch.Forget(ctx, tx, workerID) },
	}, err
}

// ResetReuse lets frames of a class of workers be reused again. Error: reuse_class_not_found.
func ResetReuse(ctx context.Context, tx *db.Tx, classID string) (Act, error) {
	s, err := reuse.StandingOf(ctx, tx, classID)
	return Act{
		What: fmt.Sprintf("reuse frames of %s with Blender %s again (%s), of which %d showed the same when they were rendered again, and %d something else", s.DeviceName, s.BlenderVersion, classID, s.Agreed, s.Differed),
		Do:   func(ctx context.Context, tx *db.Tx) error { return reuse.Reset(ctx, tx, classID) },
	}, err
}

// TestAlerts sends a test message to the receivers of alerts.
func TestAlerts() Act {
	return Act{What: "send a test message to the receivers of alerts (--alert-mail and --alert-url of svc serve)", Do: operators.QueueTest}
}

// AnyBlender lets workers with other Blender versions and other denoising render the rest of a
// job. Errors: render_not_found, invalid_request for the reason, job_ended.
func AnyBlender(ctx context.Context, tx *db.Tx, jobID, reason string) (Act, error) {
	record, err := job.Read(ctx, tx, jobID)
	if err != nil {
		return Act{}, err
	}
	if reason, err = why.Of(reason); err != nil {
		return Act{}, err
	}
	return Act{
		What:        fmt.Sprintf("let workers with any Blender version and denoising render the rest of %s; its frames may differ from each other, and its receipt names all versions", jobID),
		WorkspaceID: record.WorkspaceID, Reason: reason,
		Do: func(ctx context.Context, tx *db.Tx) error { return dispatch.AllowAnyKind(ctx, tx, jobID) },
	}, nil
}

// PauseJob keeps workers from taking more frames of a job. Errors: render_not_found,
// invalid_request for the reason; of the act, render_not_pausable.
func PauseJob(ctx context.Context, tx *db.Tx, jobs *job.Jobs, jobID, reason string) (Act, error) {
	record, err := job.Read(ctx, tx, jobID)
	if err != nil {
		return Act{}, err
	}
	if reason, err = why.Of(reason); err != nil {
		return Act{}, err
	}
	return Act{
		What:        fmt.Sprintf("pause %s of %s: workers finish the frames of it that they have and take no more", jobID, record.WorkspaceID),
		WorkspaceID: record.WorkspaceID, Reason: reason,
		Do: func(ctx context.Context, tx *db.Tx) error {
			_, err := jobs.Pause(ctx, tx, record.WorkspaceID, jobID, dispatch.ByOperator)
			return err
		},
	}, nil
}

// ResumeJob lets workers take frames of a paused job again, also of one that its workspace
// paused. Errors: render_not_found; of the act, render_not_pausable.
func ResumeJob(ctx context.Context, tx *db.Tx, jobs *job.Jobs, jobID string) (Act, error) {
	record, err := job.Read(ctx, tx, jobID)
	return Act{
		What: fmt.Sprintf("resume %s of %s: workers take its frames again", jobID, record.WorkspaceID), WorkspaceID: record.WorkspaceID,
		Do: func(ctx context.Context, tx *db.Tx) error {
			_, err := jobs.Resume(ctx, tx, record.WorkspaceID, jobID, dispatch.ByOperator)
			return err
		},
	}, err
}

// PrioritizeJob orders a job among those of its workspace. Errors: render_not_found; of the
// act, invalid_request, render_not_pausable.
func PrioritizeJob(ctx context.Context, tx *db.Tx, jobs *job.Jobs, jobID string, priority int) (Act, error) {
	record, err := job.Read(ctx, tx, jobID)
	return Act{
		What: fmt.Sprintf("give %s the priority %d among the jobs of %s", jobID, priority, record.WorkspaceID), WorkspaceID: record.WorkspaceID,
		Do: func(ctx context.Context, tx *db.Tx) error {
			_, err := jobs.SetPriority(ctx, tx, record.WorkspaceID, jobID, priority)
			return err
		},
	}, err
}

// CancelJob cancels a job that no worker has claimed. Errors: render_not_found; of the act,
// render_not_cancellable.
func CancelJob(ctx context.Context, tx *db.Tx, jobs *job.Jobs, jobID string) (Act, error) {
	record, err := job.Read(ctx, tx, jobID)
	return Act{What: endWords(record), WorkspaceID: record.WorkspaceID, Do: func(ctx context.Context, tx *db.Tx) error {
		_, err := jobs.Cancel(ctx, tx, record.WorkspaceID, jobID)
		return err
	}}, err
}

// FailJob ends a job at any time, with a reason that its owner reads. Errors:
// render_not_found, invalid_request for the reason, job_ended.
func FailJob(ctx context.Context, tx *db.Tx, jobs *job.Jobs, jobID, reason string) (Act, error) {
	record, err := job.Read(ctx, tx, jobID)
	if err != nil {
		return Act{}, err
	}
	if reason, err = why.Of(reason); err != nil {
		return Act{}, err
	}
	if job.Status(record.Status).Terminal() {
		return Act{}, fault.New(fault.JobEnded, "Job %s has already ended: it is %s.", jobID, record.Status)
	}
	return Act{What: endWords(record), WorkspaceID: record.WorkspaceID, Reason: reason, Do: func(ctx context.Context, tx *db.Tx) error {
		_, err := jobs.FailByOperator(ctx, tx, jobID, reason)
		return err
	}}, nil
}

// endWords name the job that ends.
func endWords(record job.Record) string {
	return fmt.Sprintf("end %s of %s (%s, %d of %s) and give %s back", record.JobID, record.WorkspaceID, record.Status,
		record.FramesCompleted, count(int(record.FrameCount), "frame"), numbers.Dollars(record.PriceCents))
}

// Credit adds money to a wallet, once for a reference. Errors: workspace_not_found,
// invalid_request, also of the act for the reference of another credit.
func Credit(ctx context.Context, tx *db.Tx, workspaceID, reference string, cents int64) (Act, error) {
	if err := amount(cents); err != nil {
		return Act{}, err
	}
	b, err := wallet.Get(ctx, tx, workspaceID)
	return Act{
		What:        fmt.Sprintf("add %s to the wallet of %s, which has %s available", numbers.Dollars(cents), workspaceID, numbers.Dollars(b.AvailableCents)),
		WorkspaceID: workspaceID,
		Do: func(ctx context.Context, tx *db.Tx) error {
			return wallet.Credit(ctx, tx, workspaceID, reference, cents)
		},
	}, err
}

// Refund returns money that a job has paid, once for a reference, at most what it paid.
// Errors: render_not_found, invalid_request.
func Refund(ctx context.Context, tx *db.Tx, jobID, reference string, cents int64) (Act, error) {
	if err := amount(cents); err != nil {
		return Act{}, err
	}
	paid, err := job.Read(ctx, tx, jobID)
	return Act{
		What:        fmt.Sprintf("return %s of the %s that %s paid to %s", numbers.Dollars(cents), numbers.Dollars(paid.ChargedCents), jobID, paid.WorkspaceID),
		WorkspaceID: paid.WorkspaceID,
		Do: func(ctx context.Context, tx *db.Tx) error {
			_, err := wallet.Refund(ctx, tx, jobID, reference, cents)
			return err
		},
	}, err
}

// amount refuses cents that no entry of the ledger may have. Error: invalid_request.
func amount(cents int64) error {
	if cents < 1 || cents > wallet.MaxCents {
		return fault.Field("cents", "is %d; it must be 1 to %d", cents, int64(wallet.MaxCents))
	}
	return nil
}

// FreezeWorkspace keeps a workspace from starting jobs, with a reason that it reads.
// Errors: workspace_not_found, invalid_request for the reason.
func FreezeWorkspace(ctx context.Context, tx *db.Tx, workspaceID, reason string) (Act, error) {
	reason, err := why.Of(reason)
	if err != nil {
		return Act{}, err
	}
	_, err = wallet.Get(ctx, tx, workspaceID)
	return Act{
		What:        fmt.Sprintf("freeze %s: it cannot start jobs or order previews; running jobs continue", workspaceID),
		WorkspaceID: workspaceID, Reason: reason,
		Do: func(ctx context.Context, tx *db.Tx) error { return freeze.Set(ctx, tx, workspaceID, reason) },
	}, err
}

// KeepArtifacts sets for how many days the artifacts of a workspace's jobs are kept that complete
// from now on; 0 means as the service's setting. Errors: workspace_not_found, invalid_request.
func KeepArtifacts(ctx context.Context, tx *db.Tx, workspaceID string, days int) (Act, error) {
	if days < 0 || days > identity.MostArtifactDays {
		return Act{}, fault.Field("days", "is %d; it must be 1 to %d, or 0 for the setting of the service", days, identity.MostArtifactDays)
	}
	_, err := wallet.Get(ctx, tx, workspaceID)
	what := fmt.Sprintf("keep the ZIPs of jobs of %s that complete from now on for %s", workspaceID, count(days, "day"))
	if days == 0 {
		what = fmt.Sprintf("keep the ZIPs of jobs of %s that complete from now on as long as those of all workspaces", workspaceID)
	}
	return Act{
		What: what, WorkspaceID: workspaceID,
		Do: func(ctx context.Context, tx *db.Tx) error {
			return identity.SetArtifactDays(ctx, tx, workspaceID, days)
		},
	}, err
}

// LimitSpending sets what a workspace may spend in a calendar day (UTC), in cents; 0 means no
// limit. Errors: workspace_not_found, invalid_request.
func LimitSpending(ctx context.Context, tx *db.Tx, workspaceID string, cents int64) (Act, error) {
	if cents < 0 || cents > wallet.MaxCents {
		return Act{}, fault.Field("daily_cents", "is %d; it must be 1 to %d, or 0 for no limit", cents, int64(wallet.MaxCents))
	}
	_, err := wallet.Get(ctx, tx, workspaceID)
	what := fmt.Sprintf("let %s spend at most %s in a day (UTC); jobs of today count", workspaceID, numbers.Dollars(cents))
	if cents == 0 {
		what = fmt.Sprintf("let %s spend without a daily limit", workspaceID)
	}
	return Act{
		What: what, WorkspaceID: workspaceID,
		Do: func(ctx context.Context, tx *db.Tx) error {
			return identity.SetDailyCents(ctx, tx, workspaceID, cents)
		},
	}, err
}

// UnfreezeWorkspace lets a workspace start jobs again. Error: workspace_not_found.
func UnfreezeWorkspace(ctx context.Context, tx *db.Tx, workspaceID string) (Act, error) {
	_, err := wallet.Get(ctx, tx, workspaceID)
	return Act{
		What:        fmt.Sprintf("let %s start jobs again", workspaceID),
		WorkspaceID: workspaceID,
		Do:          func(ctx context.Context, tx *db.Tx) error { return freeze.Lift(ctx, tx, workspaceID) },
	}, err
}

// RemoveTestWorld ends the test world of a workspace; a service that runs removes it within
// minutes. Error: workspace_not_found.
func RemoveTestWorld(ctx context.Context, tx *db.Tx, workspaceID string) (Act, error) {
	lives, err := testmode.Lives(ctx, tx, workspaceID)
	if err == nil && !lives {
		err = fault.New(fault.WorkspaceNotFound, "Workspace %s has no test world.", workspaceID)
	}
	return Act{
		What:        fmt.Sprintf("remove the test world of %s with everything in it; a service that runs does it within minutes", workspaceID),
		WorkspaceID: workspaceID,
		Do:          func(ctx context.Context, tx *db.Tx) error { return testmode.End(ctx, tx, workspaceID) },
	}, err
}

// HideResults removes benchmark results from every page, with a reason that their own
// pages show; changed, unless nil, gets how many. Errors: result_not_found,
// invalid_request for the reason.
func HideResults(ctx context.Context, tx *db.Tx, resultIDs []string, reason string, changed *int64) (Act, error) {
	reason, err := why.Of(reason)
	if err != nil {
		return Act{}, err
	}
	return Act{
		What:   fmt.Sprintf("take %s off every page and out of every count; the log of receipts keeps them", results(resultIDs)),
		Reason: reason,
		Do: counted(changed, func(ctx context.Context, tx *db.Tx) (int64, error) {
			return leaderboard.Hide(ctx, tx, resultIDs, reason)
		}),
	}, leaderboard.Accepted(ctx, tx, resultIDs)
}

// ShowResults shows hidden results again; changed is as in HideResults. Error:
// result_not_found.
func ShowResults(ctx context.Context, tx *db.Tx, resultIDs []string, changed *int64) (Act, error) {
	return Act{
		What: fmt.Sprintf("show %s again", results(resultIDs)),
		Do: counted(changed, func(ctx context.Context, tx *db.Tx) (int64, error) {
			return leaderboard.Show(ctx, tx, resultIDs)
		}),
	}, leaderboard.Accepted(ctx, tx, resultIDs)
}

// counted keeps how many rows do has changed.
func counted(n *int64, do func(ctx context.Context, tx *db.Tx) (int64, error)) func(ctx context.Context, tx *db.Tx) error {
	return func(ctx context.Context, tx *db.Tx) error {
		changed, err := do(ctx, tx)
		if n != nil {
			*n = changed
		}
		return err
	}
}

// namedResults is how many results an act names one by one.
const namedResults = 3

// results names results: few by their ids, many by their number.
func results(ids []string) string {
	if len(ids) > namedResults {
		return count(len(ids), "result")
	}
	return "the result" + plural(len(ids)) + " " + strings.Join(ids, ", ")
}

// Requeue puts dead letters back into their queues, due at once; all of them, or none when
// one is unknown: dead_letter_not_found.
func Requeue(ids []string) Act {
	what := count(len(ids), "dead letter")
	if len(ids) == 1 {
		what = "the dead letter " + ids[0]
	}
	return Act{What: "do the work of " + what + " again, at once", Do: func(ctx context.Context, tx *db.Tx) error {
		for _, id := range ids {
			if err := lease.Requeue(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	}}
}

// RevokeKey ends a key of a workspace or of workers. Error of the act: key_not_found.
func RevokeKey(keyID string) Act {
	return Act{
		What: fmt.Sprintf("revoke the key %s: requests with it are refused from now on, and its open ones end", keyID),
		Do:   func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, keyID) },
	}
}

// RevokeOperatorKey revokes an operator key, and no key of another kind. Error of the act:
// key_not_found.
func RevokeOperatorKey(keyID string) Act {
	act := RevokeKey(keyID)
	act.Do = func(ctx context.Context, tx *db.Tx) error { return identity.RevokeOperatorKey(ctx, tx, keyID) }
	return act
}

// CreateNodeKey makes a key for workers; made gets it with its secret. Errors of the act:
// invalid_key_name.
func CreateNodeKey(name string, made *identity.NewKey) Act {
	return Act{
		What: fmt.Sprintf("create a key for workers with the name %q", name),
		Do: func(ctx context.Context, tx *db.Tx) (err error) {
			*made, err = identity.CreateNodeKey(ctx, tx, name)
			return err
		},
	}
}

// CreateKey makes an account or agent key of a workspace; made gets it with its secret. limit is
// what an agent key may spend in a calendar month, in cents; nil means no limit. Errors:
// workspace_not_found; of the act, invalid_key_name, key_limit_reached.
func CreateKey(ctx context.Context, tx *db.Tx, workspaceID, kind, name string, limit *int64, made *identity.NewKey) (Act, error) {
	_, err := wallet.Get(ctx, tx, workspaceID)
	return Act{
		What: fmt.Sprintf("create an %s key of %s with the name %q", kind, workspaceID, name), WorkspaceID: workspaceID,
		Do: func(ctx context.Context, tx *db.Tx) (err error) {
			if kind == "account" {
				*made, err = identity.CreateAccountKey(ctx, tx, workspaceID, name)
				return err
			}
			*made, err = identity.CreateAgentKey(ctx, tx, workspaceID, identity.AgentTerms{Name: name, SpendLimitCents: limit})
			return err
		},
	}, err
}

// ReleaseDomain has nobody join a workspace by a domain any more, which another workspace can
// then claim. Error: domain_not_found.
func ReleaseDomain(ctx context.Context, tx *db.Tx, domain string) (Act, error) {
	workspaceID, err := identity.Claimant(ctx, tx, domain)
	return Act{
		What: fmt.Sprintf("release the domain %s: its people do not join %s any more when they sign in, and another workspace can claim it", domain, workspaceID), WorkspaceID: workspaceID,
		Do: func(ctx context.Context, tx *db.Tx) error { return identity.ReleaseDomain(ctx, tx, domain) },
	}, err
}

// PublishProofs publishes or hides the proof pages of a workspace's receipts. Error of the act:
// workspace_not_found.
func PublishProofs(workspaceID string, on bool) Act {
	what := "hide"
	if on {
		what = "publish"
	}
	return Act{What: fmt.Sprintf("%s the proof pages of %s", what, workspaceID), WorkspaceID: workspaceID, Do: func(ctx context.Context, tx *db.Tx) error {
		return identity.SetProofPages(ctx, tx, workspaceID, on)
	}}
}

// CreateOperatorKey makes a key for the operators' API; made gets it with its secret. Errors
// of the act: those of identity.CreateOperatorKey.
func CreateOperatorKey(name string, scope identity.OperatorScope, life time.Duration, made *identity.NewKey) Act {
	return Act{
		What: fmt.Sprintf("create an operator key with the scope %s and the name %q", scope, name),
		Do: func(ctx context.Context, tx *db.Tx) (err error) {
			*made, err = identity.CreateOperatorKey(ctx, tx, name, scope, life)
			return err
		},
	}
}

// EndSigningKey ends a key that signs receipts, after a while; when is the delay in words,
// such as "now". reason is receipt.Superseded or receipt.Compromised. Errors of the act:
// key_not_found, last_signing_key, invalid_request for the reason.
func EndSigningKey(keyID string, after time.Duration, when, reason string) Act {
	return Act{
		What: fmt.Sprintf("end the signing key %s %s, as %s; what it has signed stays valid", keyID, when, reason),
		Do:   func(ctx context.Context, tx *db.Tx) error { return signing.Retire(ctx, tx, keyID, after, reason) },
	}
}

// SetOperator makes a person an operator, or takes that away. The address is the reason in
// the record, so that it goes with the person's workspace. Errors: person_not_found,
// invalid_request for the address.
func SetOperator(ctx context.Context, tx *db.Tx, email string, is bool) (Act, error) {
	p, err := identity.PersonOf(ctx, tx, email)
	what := "let the person of %s do everything that operators do in the browser"
	if !is {
		what = "take from the person of %s what operators do in the browser"
	}
	return Act{What: fmt.Sprintf(what, p.WorkspaceID), WorkspaceID: p.WorkspaceID, Reason: p.Email, Do: func(ctx context.Context, tx *db.Tx) error {
		_, err := identity.SetOperator(ctx, tx, p.Email, is)
		return err
	}}, err
}

// count writes a number of things.
func count(n int, one string) string { return fmt.Sprintf("%d %s%s", n, one, plural(n)) }

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
