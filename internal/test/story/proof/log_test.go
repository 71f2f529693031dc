package proof_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/ground/signingkey"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/story"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/job"
	"svc.example/internal/work/project"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/wallet"
)

// logJobs is how many jobs two servers complete between them. Completing one takes
// two commits, so each server is killed in the middle.
func logJobs() int64 { return int64(long.Scale(300, 10_000)) }

// Two servers over one PostgreSQL pack and complete jobs at once, and each is
// killed once on the way. Every job is completed once, every receipt is its own
// leaf, and the log has neither hole nor fork: the audit at the end rebuilds it
// and opens every artifact.
func TestTwoServersThatDieCompleteEveryJobIntoOneLog(t *testing.T) {
	t.Parallel()
	config := app.Config{Data: t.TempDir(), Database: dbtest.URL(t, "postgres"), Log: story.LogOf(t), LeaseLife: time.Second, LogOrigin: "renders.example.com/log"}
	svc := story.Open(t, config)
	packaged(t, svc, logJobs())

	left := func() (n int64) {
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			head, err := receiptlog.Head(ctx, tx)
			n = logJobs() - head.Size
			return err
		})
		return n
	}
	// A completion has its artifact expire one day: that is announced.
	done, stop := svc.App.DB.Listen(lease.Topic(lease.ExpireQueue))
	defer stop()
	var stops []func() bool
	for _, kill := range []int64{logJobs() * 3 / 10, logJobs() / 2} {
		stops = append(stops, story.Supervise(t, story.ServerConfig{
			Listen: story.FreeAddress(t), Data: config.Data, Database: config.Database, Blobs: config.Blobs, LeaseLife: config.LeaseLife, KillAfter: kill, NoWorker: true,
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
func wantOneLog(t *testing.T, svc *story.Service) {
	svc.Read(func(ctx context.Context, tx *db.Tx) error {
		head, err := receiptlog.Head(ctx, tx)
		if err != nil || head.Size != logJobs() {
			t.Errorf("the log has %d leaves: %v", head.Size, err)
		}
		key, err := svc.App.Keys.Current(ctx, tx)
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
			keys := []signingkey.Public{key.Public()}
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
func packaged(t *testing.T, svc *story.Service, n int64) {
	t.Helper()
	ctx := t.Context()
	picture := []byte("what a worker handed in")
	sum := sha256.Sum256(picture)
	key := "uploads/" + id.New(id.Upload)
	keep := func(key string) {
		w, err := svc.App.Blobs.Create(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		if _, err := w.Write(picture); errors.Join(err, w.Commit()) != nil {
			t.Fatal(err)
		}
	}
	keep(key)
	for i := range n {
		keep(fmt.Sprintf("frames/JOB-%032d/frame_0001.png", i+1))
	}
	var workspace string
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		p, err := identity.CreateWorkspace(ctx, tx, "many@example.com")
		if err != nil {
			return err
		}
		workspace = p.WorkspaceID
		return wallet.Credit(ctx, tx, workspace, "many", n)
	})
	conn, err := pgx.Connect(ctx, svc.Config.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	hash := hex.EncodeToString(sum[:])
	fill := strings.NewReplacer("$workspace", workspace, "$upload", id.New(id.Upload), "$worker", id.New(id.Node), "$key", key, "$hash", hash,
		"$size", fmt.Sprint(len(picture)), "$n", fmt.Sprint(n), "$at", fmt.Sprint(time.Now().UnixMicro()))
	if _, err := conn.Exec(ctx, fill.Replace(packagedJobs)); err != nil {
		t.Fatal(err)
	}
	if err := rowsum.Fill(ctx, svc.App.DB.Write, slices.Concat(intake.Sums, project.Sums, quote.Sums, wallet.Sums, job.Sums, frames.Sums)); err != nil {
		t.Fatal(err)
	}
}

// packagedJobs writes the rows as a service does: one upload with its project, and for each
// job a quote, a reservation and an accepted frame, at consistent times in microseconds. An
// id is its prefix and 32 digits.
const packagedJobs = `
INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at)
VALUES ('$upload', '$workspace', 'many.blend', '$hash', $size, '{"frame_width":1,"frame_height":1}', $at);
INSERT INTO content (workspace_id, sha256, size_bytes, blob_key, created_at) VALUES ('$workspace', '$hash', $size, '$key', $at);
INSERT INTO project (upload_id, workspace_id, manifest, created_at)
VALUES ('$upload', '$workspace', '{"main":"many.blend","files":[{"path":"many.blend","sha256":"$hash","size_bytes":$size,"parts":["$hash"]}]}', $at);
INSERT INTO project_content (upload_id, workspace_id, sha256) VALUES ('$upload', '$workspace', '$hash');
CREATE TEMPORARY TABLE planted AS SELECT 'JOB-' || lpad(i::text, 32, '0') AS job_id, 'QTE-' || lpad(i::text, 32, '0') AS quote_id,
  'TXN-' || lpad(i::text, 32, '0') AS transaction_id FROM generate_series(1, $n) i;
INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified,
  warnings, created_at, expires_at, accepted_at, job_id)
SELECT quote_id, '$upload', '$workspace', 1, 1, 1, 1, 1, 'fixed-1c-v1', 1, '[]', $at, $at + 86400000000, $at + 1, job_id FROM planted;
INSERT INTO job (job_id, workspace_id, flow, status, seq, upload_id, quote_id, filename, search, input_sha256, input_size_bytes, frame_start, frame_end,
  frame_step, frame_count, frames_completed, render_us, pricing_version, price_cents, renderer, render_device, device_name, blender_version,
  created_at, submitted_at, claimed_at, updated_at)
SELECT job_id, '$workspace', 'job_api', 'packaging', 4, '$upload', quote_id, 'many.blend', 'many.blend', '$hash', $size, 1, 1,
  1, 1, 1, 1, 'fixed-1c-v1', 1, 'blender', 'GPU', 'a GPU', '4.1.1', $at + 1, $at + 1, $at + 2, $at + 3 FROM planted;
INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt, device,
  device_name, blender_version, build_hash, switched, log, accepted_at)
SELECT job_id, 1, 3, 1, 'frame_0001.png', 'frames/' || job_id || '/frame_0001.png', '$hash', '$hash', $size, 1, 1, 1, '$worker', 1, 'GPU',
  'a GPU', '4.1.1', 'hash', '', '', $at + 3 FROM planted;
INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at)
SELECT transaction_id, 'reserve', job_id, '$workspace', job_id, 1, $at + 1 FROM planted;
INSERT INTO ledger_posting (transaction_id, account, amount_cents)
SELECT transaction_id, '$workspace:available', -1 FROM planted UNION ALL SELECT transaction_id, '$workspace:reserved', 1 FROM planted;
UPDATE wallet SET available_cents = 0, reserved_cents = $n WHERE workspace_id = '$workspace';
INSERT INTO lease (lease_id, queue, subject, item, state, due_at)
SELECT 'package:' || job_id || ':0', 'package', job_id, 0, 'waiting', 1 FROM planted;
INSERT INTO unsummed (relation) VALUES ('upload'), ('content'), ('quote'), ('ledger_transaction'), ('job'), ('frame');
`
