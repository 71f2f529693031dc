package story_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/wallet"
)

// logJobs is how many jobs two servers complete between them. Completing one takes
// two commits, so each server is killed in the middle.
func logJobs() int64 { return int64(long.Scale(300, 10_000)) }

// Two servers over one PostgreSQL pack and complete jobs at once, and each is
// killed once on the way. Every job is completed once, every receipt is its own
// leaf, and the log has neither hole nor fork: the audit at the end builds it
// anew and opens every artifact.
func TestTwoServersThatDieCompleteEveryJobIntoOneLog(t *testing.T) {
	t.Parallel()
	config := app.Config{Data: t.TempDir(), Database: dbtest.URL(t, "postgres"), Log: logOf(t), LeaseLife: time.Second, LogOrigin: "renders.example.com/log"}
	svc := open(t, config)
	packaged(t, svc, logJobs())

	left := func() (n int64) {
		svc.read(func(ctx context.Context, tx *db.Tx) error {
			head, err := receiptlog.Head(ctx, tx)
			n = logJobs() - head.Size
			return err
		})
		return n
	}
	// A completion has its artifact expire one day: that is announced.
	done, stop := svc.app.DB.Listen(lease.Topic(lease.ExpireQueue))
	defer stop()
	var stops []func() bool
	for _, kill := range []int64{logJobs() * 3 / 10, logJobs() / 2} {
		stops = append(stops, supervise(t, serverConfig{
			Listen: freeAddress(t), Data: config.Data, Database: config.Database, LeaseLife: config.LeaseLife, KillAfter: kill, NoWorker: true,
		}))
	}
	over := time.After(15 * time.Minute)
	for left() > 0 {
		select {
		case <-done:
		case <-over:
			t.Fatalf("%d jobs are not completed", left())
		}
	}
	for i, stop := range stops {
		if !stop() {
			t.Errorf("server %d was never killed", i)
		}
	}
	wantOneLog(t, svc)
}

// wantOneLog counts the leaves and checks the proofs of the first 500 receipts;
// that every receipt is its own leaf is the audit's to say.
func wantOneLog(t *testing.T, svc *service) {
	svc.read(func(ctx context.Context, tx *db.Tx) error {
		head, err := receiptlog.Head(ctx, tx)
		if err != nil || head.Size != logJobs() {
			t.Errorf("the log has %d leaves: %v", head.Size, err)
		}
		key, err := svc.app.Keys.Current(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := tx.JobIDs(ctx, "")
		if err != nil {
			return err
		}
		for _, row := range rows {
			kept, err := tx.ReceiptByJob(ctx, row.JobID)
			if err != nil {
				return err
			}
			keys := []receipt.PublicKey{key.Public()}
			r, err := receipt.Open([]byte(kept.Envelope), keys)
			if err != nil {
				return err
			}
			entry, err := receipt.EntryOf([]byte(kept.Envelope))
			if err != nil {
				return err
			}
			proof, err := receiptlog.Prove(ctx, tx, *r.LogIndex, key)
			if err != nil {
				return err
			}
			if _, err := proof.Check(entry, keys); err != nil {
				t.Errorf("%s: %v", row.JobID, err)
			}
		}
		return nil
	})
}

// packaged writes n paid jobs of one frame whose frames are all in, as if they
// had just been rendered, and the leases to pack them.
func packaged(t *testing.T, svc *service, n int64) {
	t.Helper()
	ctx := t.Context()
	picture := []byte("what a worker handed in")
	sum := sha256.Sum256(picture)
	const key = "uploads/shared"
	w, err := svc.app.Blobs.Create(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := bytes.NewReader(picture).WriteTo(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	var workspace string
	svc.write(func(ctx context.Context, tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "many@example.com")
		if err != nil {
			return err
		}
		workspace = p.WorkspaceID
		return wallet.Credit(ctx, tx, workspace, "many", n)
	})
	conn, err := pgx.Connect(ctx, svc.config.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	hash := hex.EncodeToString(sum[:])
	fill := strings.NewReplacer("$workspace", workspace, "$key", key, "$hash", hash, "$size", fmt.Sprint(len(picture)), "$n", fmt.Sprint(n))
	if _, err := conn.Exec(ctx, fill.Replace(packagedJobs)); err != nil {
		t.Fatal(err)
	}
}

const packagedJobs = `
INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at)
VALUES ('UPL-many', '$workspace', 'many.blend', '$hash', $size, '{}', 1);
INSERT INTO content (workspace_id, sha256, size_bytes, blob_key, created_at) VALUES ('$workspace', '$hash', $size, '$key', 1);
INSERT INTO project (upload_id, workspace_id, manifest, created_at)
VALUES ('UPL-many', '$workspace', '{"main":"many.blend","files":[{"path":"many.blend","sha256":"$hash","size_bytes":$size,"parts":["$hash"]}]}', 1);
INSERT INTO project_content (upload_id, workspace_id, sha256) VALUES ('UPL-many', '$workspace', '$hash');
INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified,
  warnings, created_at, expires_at, accepted_at, job_id)
SELECT 'QTE-' || i, 'UPL-many', '$workspace', 1, 1, 1, 1, 1, 'fixed-1c-v1', 1, '[]', 1, 2, 1, 'JOB-' || i FROM generate_series(1, $n) i;
INSERT INTO job (job_id, workspace_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes, frame_start, frame_end,
  frame_step, frame_count, frames_completed, pricing_version, price_cents, created_at, submitted_at, claimed_at, updated_at)
SELECT 'JOB-' || i, '$workspace', 'job_api', 'packaging', 'UPL-many', 'QTE-' || i, 'many.blend', '$hash', $size, 1, 1, 1, 1, 1, 'fixed-1c-v1', 1,
  1000000, 1000000, 1000000, 1000000 FROM generate_series(1, $n) i;
INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt, device,
  device_name, blender_version, build_hash, switched, log, accepted_at)
SELECT 'JOB-' || i, 1, 1, 1, 'frame_0001.png', '$key', '$hash', '$hash', $size, 1, 1, 1, 'NOD-1', 1, 'GPU', 'a GPU', '4.1.1', 'hash', '', '', 1000000
FROM generate_series(1, $n) i;
INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at)
SELECT 'TXN-' || i, 'reserve', 'JOB-' || i, '$workspace', 'JOB-' || i, 1, 1 FROM generate_series(1, $n) i;
INSERT INTO ledger_posting (transaction_id, account, amount_cents)
SELECT 'TXN-' || i, '$workspace:available', -1 FROM generate_series(1, $n) i UNION ALL SELECT 'TXN-' || i, '$workspace:reserved', 1 FROM generate_series(1, $n) i;
UPDATE wallet SET available_cents = 0, reserved_cents = $n WHERE workspace_id = '$workspace';
INSERT INTO lease (lease_id, queue, subject, item, state, due_at)
SELECT 'package:JOB-' || i || ':0', 'package', 'JOB-' || i, 0, 'waiting', 1 FROM generate_series(1, $n) i;
`
