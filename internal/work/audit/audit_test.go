package audit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/seal"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/audit"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/job"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/wallet"
)

// TestAuditMissesFilesOfAJobThatGoesOn: such as after a restore of a database
// without the files of its time. A job that has ended needs them no more.
func TestAuditMissesFilesOfAJobThatGoesOn(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		store := storeOf(t, w)
		want := func(when string, files ...string) {
			t.Helper()
			found, err := audit.Audit(t.Context(), store)
			if err != nil {
				t.Fatal(err)
			}
			var missing []string
			for _, b := range found.Breaches {
				if b.Rule == "a job that is running has its files" {
					missing = append(missing, b.Detail)
				}
			}
			slices.Sort(missing)
			for i, file := range files {
				files[i] = file + " is not there"
			}
			if !slices.Equal(missing, files) {
				t.Errorf("%s: the audit misses %q, want %q", when, missing, files)
			}
		}
		put := func(key string) {
			t.Helper()
			file, err := store.Blobs.Create(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.Write([]byte("x")); errors.Join(err, file.Commit()) != nil {
				t.Fatal(err)
			}
		}
		worker, workspace := w.Worker(t), w.Workspace(t)
		jobID := w.Job(t, workspace, 2)
		w.Deliver(t, w.ClaimOne(worker), time.Second)
		frame, input := "frames/"+jobID+"/1", "uploads/"+workspace+strings.Repeat("0", 64)
		put(input)
		put(frame)
		want("with all files")
		for _, key := range []string{input, frame} {
			if err := store.Blobs.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		want("without", frame, input)
		for range 3 {
			w.Fail(w.ClaimOne(worker), "blender_crashed")
		}
		w.WantStatus(jobID, job.Failed, "blender_crashed")
		want("once the job has failed")
	})
}

// storeOf is the whole store of a world, with keys and files of its own.
func storeOf(t *testing.T, w *jobtest.World) audit.Store {
	t.Helper()
	blobs, err := blob.OpenDisk(t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ring, err := signing.Open(t.TempDir(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := seal.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := seal.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return audit.Store{DB: w.DB, Blobs: blobs, Ring: ring, Seal: sealed}
}

// TestOnlyTestWorldsHaveAClockThatMoves moves it where the audit takes the store for a real
// one, and where it takes it for a test world's.
func TestOnlyTestWorldsHaveAClockThatMoves(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		store := storeOf(t, w)
		if err := w.DB.Write(t.Context(), func(tx *db.Tx) error { return tx.ClockMove(t.Context(), 1) }); err != nil {
			t.Fatal(err)
		}
		for _, store.World = range []bool{true, false} {
			found, err := audit.Audit(t.Context(), store)
			if err != nil || (len(found.Breaches) == 0) != store.World {
				t.Errorf("of a test world: %v, the audit finds %v, %v", store.World, found.Breaches, err)
			}
		}
	})
}

// errUndo rolls a transaction back.
var errUndo = errors.New("undo")

// TestEachPackagesAuditFindsItsBreach breaks each promise in a transaction of its own,
// which is rolled back after the audit.
func TestEachPackagesAuditFindsItsBreach(t *testing.T) {
	move := func(to job.Status) func(ctx context.Context, tx *db.Tx, jobID string) error {
		return func(ctx context.Context, tx *db.Tx, jobID string) error {
			_, err := tx.JobMove(ctx, query.JobMoveParams{ToStatus: string(to), Now: tx.Now, JobID: jobID, FromStatus: string(job.Queued)})
			return err
		}
	}
	harms := map[string]func(ctx context.Context, tx *db.Tx, jobID string) error{
		"a job's money is settled once":                move(job.Failed),
		"completed means one receipt":                  move(job.Completed),
		"a job in packaging is packed":                 move(job.Packaging),
		"a job waits for its submit for a day at most": move(job.AwaitingSubmit),
		"ledger transactions balance": func(ctx context.Context, tx *db.Tx, jobID string) error {
			record, err := job.Read(ctx, tx, jobID)
			if err != nil {
				return err
			}
			_, err = tx.LedgerAdd(ctx, query.LedgerAddParams{
				TransactionID: id.New(id.Transaction), Kind: string(wallet.Captured), Reference: jobID, WorkspaceID: record.WorkspaceID, JobID: jobID, AmountCents: 1,
			})
			return err
		},
		"wallets equal their postings": func(ctx context.Context, tx *db.Tx, jobID string) error {
			record, err := job.Read(ctx, tx, jobID)
			if err != nil {
				return err
			}
			_, err = tx.WalletMove(ctx, query.WalletMoveParams{Available: 1, WorkspaceID: record.WorkspaceID})
			return err
		},
		"a frame has one winner": func(ctx context.Context, tx *db.Tx, jobID string) error {
			if err := move(job.Rendering)(ctx, tx, jobID); err != nil {
				return err
			}
			_, err := job.CountFrame(ctx, tx, jobID, job.RenderedFrame{})
			return err
		},
		"missing frames are leased out": func(ctx context.Context, tx *db.Tx, jobID string) error {
			return lease.Drop(ctx, tx, dispatch.FrameQueue, jobID)
		},
		"a job's turn says what waits": func(ctx context.Context, tx *db.Tx, jobID string) error {
			_, err := tx.TurnMove(ctx, query.TurnMoveParams{Party: jobID, Waiting: 1})
			return err
		},
	}
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		jobID := w.Job(t, w.Workspace(t), 2)
		for rule, harm := range harms {
			found := map[string]bool{}
			err := w.DB.Write(t.Context(), func(tx *db.Tx) error {
				ctx := t.Context()
				if err := harm(ctx, tx, jobID); err != nil {
					return err
				}
				return errors.Join(errUndo, auditOwners(ctx, tx, func(rule, _, _ string, _ ...any) { found[rule] = true }))
			})
			if !errors.Is(err, errUndo) || !found[rule] {
				t.Errorf("%s: the audit finds %v: %v", rule, found, err)
			}
		}
		found := map[string]bool{}
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			return auditOwners(ctx, tx, func(rule, _, _ string, _ ...any) { found[rule] = true })
		})
		if len(found) > 0 {
			t.Errorf("an unharmed store has breaches of %v", found)
		}
	})
}

// auditOwners runs the audits of the packages that a job passes through.
func auditOwners(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	_, walletErr := wallet.Audit(ctx, tx, breach)
	_, jobErr := job.Audit(ctx, tx, contract.Published(), breach)
	return errors.Join(walletErr, jobErr, frames.Audit(ctx, tx, breach), dispatch.Audit(ctx, tx, breach))
}
