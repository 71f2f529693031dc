package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/seal"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/job"
	"svc.example/internal/work/project"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/webhook"
)

// Breach is something that should never be: a promise of this house that the
// store does not keep.
type Breach struct {
	Rule   string `json:"rule"`   // which promise
	Thing  string `json:"thing"`  // the id it shows at
	Detail string `json:"detail"` // what was found
}

// Audited tells what an audit has looked at.
type Audited struct {
	Jobs     int
	Wallets  int
	Receipts int
	// Benchmarks are the benchmark receipts that count.
	Benchmarks int
	Leaves     int
	Breaches   []Breach
}

// Audit checks money, frames, leases, receipts, the log, webhooks and files over
// the whole store. Rows are read at one moment; files are read after it, those of jobs
// that have not moved since.
func Audit(ctx context.Context, d *db.DB, blobs blob.Store, ring *signing.Ring, sealed *seal.Keys) (Audited, error) {
	a := &auditor{}
	var done []finished
	var needed []query.AuditLiveFilesRow
	var keys []receipt.PublicKey
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		for _, check := range []func(context.Context, *db.Tx) error{a.money, a.frames, a.leases, a.receiptRows} {
			if err := check(ctx, tx); err != nil {
				return err
			}
		}
		if err := project.Audit(ctx, tx, a.breach); err != nil {
			return err
		}
		if err := a.webhooks(ctx, tx, sealed); err != nil {
			return err
		}
		if keys, err = signing.PublicKeys(ctx, tx); err != nil {
			return err
		}
		if err := a.log(ctx, tx, ring, keys); err != nil {
			return err
		}
		if done, err = a.finishedJobs(ctx, tx); err != nil {
			return err
		}
		if needed, err = tx.AuditLiveFiles(ctx); err != nil {
			return err
		}
		a.Benchmarks, err = leaderboard.Audit(ctx, tx, leaderboard.Auditor{Keys: keys, Leaf: a.owned, Breach: a.breach})
		return err
	})
	if err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	for _, f := range done {
		if err := a.files(ctx, blobs, keys, f); err != nil {
			return Audited{}, fmt.Errorf("audit: %w", err)
		}
	}
	if err := a.liveFiles(ctx, d, blobs, needed); err != nil {
		return Audited{}, fmt.Errorf("audit: %w", err)
	}
	a.strangers()
	return a.Audited, nil
}

type auditor struct {
	Audited
	leaves  []receipt.Entry // of the log, by index
	claimed map[int64]bool  // leaves that belong to a receipt
}

func (a *auditor) breach(rule, thing, format string, args ...any) {
	a.Breaches = append(a.Breaches, Breach{rule, thing, fmt.Sprintf(format, args...)})
}

// money: the ledger is balanced, wallets say what it says, and every job that
// has ended has settled exactly what it reserved.
func (a *auditor) money(ctx context.Context, tx *db.Tx) error {
	unbalanced, err := tx.AuditUnbalanced(ctx)
	if err != nil {
		return err
	}
	for _, t := range unbalanced {
		a.breach("ledger transactions balance", t.TransactionID, "%s: %d postings add up to %d", t.Kind, t.Postings, t.Total)
	}
	wallets, err := tx.AuditBalances(ctx)
	if err != nil {
		return err
	}
	a.Wallets = len(wallets)
	for _, w := range wallets {
		if w.AvailableCents != w.AvailablePosted || w.ReservedCents != w.ReservedPosted {
			a.breach("wallets equal their postings", w.WorkspaceID, "wallet has %d available and %d reserved, postings %d and %d",
				w.AvailableCents, w.ReservedCents, w.AvailablePosted, w.ReservedPosted)
		}
	}
	jobs, err := tx.AuditJobMoney(ctx)
	if err != nil {
		return err
	}
	a.Jobs = len(jobs)
	for _, m := range jobs {
		captured, released := int64(0), int64(0)
		switch job.Status(m.Status) {
		case job.Completed:
			captured = m.PriceCents
		case job.Failed, job.Cancelled:
			released = m.PriceCents
		}
		if m.Reserved != m.PriceCents || m.Captured != captured || m.Released != released || m.ChargedCents != captured {
			a.breach("a job's money is settled once", m.JobID, "%s at %d cents: reserved %d, captured %d, released %d, charged %d",
				m.Status, m.PriceCents, m.Reserved, m.Captured, m.Released, m.ChargedCents)
		}
	}
	return nil
}

func (a *auditor) frames(ctx context.Context, tx *db.Tx) error {
	rows, err := tx.AuditFrames(ctx)
	for _, r := range rows {
		a.breach("a frame has one winner", r.JobID, "%s with %d of %d frames, but %d frame rows", r.Status, r.FramesCompleted, r.FrameCount, r.Frames)
	}
	return err
}

// leases: every frame that is missing is still to be done, and nothing else is.
func (a *auditor) leases(ctx context.Context, tx *db.Tx) error {
	rows, err := tx.AuditLeases(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		a.breach("missing frames are leased out", r.JobID, "%s with %d of %d frames, but %d leases", r.Status, r.FramesCompleted, r.FrameCount, r.Leases)
	}
	turns, err := tx.AuditTurns(ctx)
	if err != nil {
		return err
	}
	for _, r := range turns {
		a.breach("a job's turn says what waits", r.Party, "it says %d, there are %d", r.Waiting, r.Leases)
	}
	stuck, err := tx.AuditPackaging(ctx)
	for _, jobID := range stuck {
		a.breach("a job in packaging is packed", jobID, "no lease of queue %s", job.PackageQueue)
	}
	if err != nil {
		return err
	}
	waiting, err := tx.AuditAwaiting(ctx)
	for _, jobID := range waiting {
		a.breach("a job waits for its submit for a day at most", jobID, "no lease ends the wait")
	}
	return err
}

// webhooks: every end is told, and what waits will be delivered.
func (a *auditor) webhooks(ctx context.Context, tx *db.Tx, keys *seal.Keys) error {
	found, err := webhook.Audit(ctx, tx, keys)
	for _, b := range found {
		a.breach(b.Rule, b.Thing, "%s", b.Detail)
	}
	return err
}

func (a *auditor) receiptRows(ctx context.Context, tx *db.Tx) error {
	rows, err := tx.AuditReceipts(ctx)
	for _, r := range rows {
		a.breach("completed means one receipt", r.JobID, "%s with %d receipts", r.Status, r.Receipts)
	}
	return err
}

// finished is a completed job with what it promises.
type finished struct {
	job     job.Record
	receipt query.Receipt
}

func (a *auditor) finishedJobs(ctx context.Context, tx *db.Tx) (out []finished, err error) {
	after := ""
	for {
		rows, err := tx.JobIDs(ctx, after)
		if err != nil || len(rows) == 0 {
			return out, err
		}
		for _, r := range rows {
			after = r.JobID
			if job.Status(r.Status) != job.Completed {
				continue
			}
			f := finished{}
			if f.job, err = tx.JobGet(ctx, r.JobID); err != nil {
				return nil, err
			}
			if f.receipt, err = tx.ReceiptByJob(ctx, r.JobID); db.IsNotFound(err) {
				continue // told by receiptRows
			} else if err != nil {
				return nil, err
			}
			out = append(out, f)
		}
	}
}

// files: a completed job's artifact is there, is what the receipt says, and the
// receipt is signed and agrees with the job.
func (a *auditor) files(ctx context.Context, blobs blob.Store, keys []receipt.PublicKey, f finished) error {
	a.Receipts++
	r, err := receipt.Open([]byte(f.receipt.Envelope), keys)
	if err != nil {
		a.breach("receipts are signed by our keys", f.receipt.ReceiptID, "%v", err)
		return nil
	}
	if r.JobID != f.job.JobID || r.Artifact.SHA256 != f.job.ArtifactSha256 || r.ChargedCents != f.job.ChargedCents || len(r.Frames) != int(f.job.FrameCount) {
		a.breach("a receipt agrees with its job", f.receipt.ReceiptID, "receipt and job %s differ", f.job.JobID)
	}
	a.leaf(f.receipt, r)
	if f.job.ArtifactRemovedAt != 0 {
		return nil
	}
	file, err := blobs.Open(ctx, f.job.ArtifactKey)
	if err != nil {
		a.breach("completed means the artifact is there", f.job.JobID, "%v", err)
		return nil
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.job.ArtifactSha256 {
		a.breach("the artifact is what the receipt says", f.job.JobID, "on disk %s, receipt %s", got, f.job.ArtifactSha256)
	}
	return nil
}

// liveFiles: a job that goes on has its input and the frames that were accepted.
func (a *auditor) liveFiles(ctx context.Context, d *db.DB, blobs blob.Store, needed []query.AuditLiveFilesRow) error {
	var missing []query.AuditLiveFilesRow
	for _, n := range needed {
		file, err := blobs.Open(ctx, n.BlobKey)
		switch {
		case err == nil:
			_ = file.Close()
		case errors.Is(err, blob.ErrNotFound):
			missing = append(missing, n)
		default:
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return d.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.AuditLiveFiles(ctx)
		still := map[query.AuditLiveFilesRow]bool{}
		for _, n := range rows {
			still[n] = true
		}
		for _, n := range missing {
			if still[n] { // else the job has ended since, and its files went
				a.breach("a job that goes on has its files", n.JobID, "%s is not there", n.BlobKey)
			}
		}
		return err
	})
}
