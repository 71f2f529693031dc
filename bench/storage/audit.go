package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/receipt/receiptlog"
	"svc.example/internal/work/wallet"
)

// AuditJobs is how many finished jobs the audited store has, unless a flag says otherwise.
const AuditJobs = 20_000

// auditJobRows is how many rows belong to a job: itself, its upload, project, use of
// content, quote, frame, two entries of the ledger with two postings each, event, receipt
// and leaf.
const auditJobRows = 15

// Audit runs svc admin audit over a store of so many finished jobs: how many rows it checks
// per second, compared with a store of a tenth, and how much memory it takes. It is one
// round, regardless of -rounds.
func Audit(engine string, jobs int) rounds.Group {
	rate, memory, upgrade := "audit/"+engine+" rows", "audit/"+engine+" memory", "audit/"+engine+" first start after an upgrade"
	baseline := fmt.Sprintf("%d jobs", jobs/10)
	note := fmt.Sprintf("%d finished jobs of one frame, signed and in the log; one round", jobs)
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rate, Unit: rounds.PerSecond, Baseline: baseline, Goal: rounds.RatioAtLeast(0.7), Note: note},
			{Name: memory, Unit: rounds.Size, Baseline: baseline, Goal: rounds.Under(300e6, rounds.Size), Note: "most that was resident"},
			{Name: upgrade, Unit: rounds.PerSecond, Baseline: baseline, Note: "rows that get a checksum"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			binary := filepath.Join(b.Folder, "svc")
			if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/svc").CombinedOutput(); err != nil {
				return fmt.Errorf("build svc: %w: %s", err, out)
			}
			few, err := auditStore(ctx, b, engine, binary, jobs/10)
			if err != nil {
				return err
			}
			many, err := auditStore(ctx, b, engine, binary, jobs)
			if err != nil {
				return err
			}
			into.Add(rate, many.rate, few.rate)
			into.Add(memory, many.memory, few.memory)
			into.Add(upgrade, many.upgrade, few.upgrade)
			return nil
		},
	}
}

// audited is the result of one audit.
type audited struct{ rate, memory, upgrade float64 } // rows per second, bytes, rows per second

// auditStore makes a store and audits it in a process of its own.
func auditStore(ctx context.Context, b *rounds.Run, engine, binary string, jobs int) (out audited, err error) {
	config := app.Config{Log: slog.New(slog.DiscardHandler)}
	if config.Data, err = b.Dir("audit-"); err != nil {
		return out, err
	}
	audit := exec.CommandContext(ctx, binary, "admin", "audit", "--data", config.Data)
	if engine == "postgres" {
		var drop func() error
		if config.Database, drop, err = b.Database(ctx, engine); err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, drop()) }()
		audit.Args = append(audit.Args, "--database", config.Database)
	}
	if _, err := finishedJobs(ctx, engine, config, jobs); err != nil {
		return out, fmt.Errorf("make %d jobs: %w", jobs, err)
	}
	b.Say("%s: %d jobs are made", engine, jobs)
	began := time.Now()
	service, err := app.Open(ctx, config)
	if err != nil {
		return out, err
	}
	out.upgrade = float64(auditSummed*jobs) / time.Since(began).Seconds()
	if err := service.Close(); err != nil {
		return out, err
	}
	b.Say("%s: their rows have checksums", engine)
	began = time.Now()
	if text, err := audit.CombinedOutput(); err != nil {
		return out, fmt.Errorf("audit: %w: %s", err, text[max(0, len(text)-2000):])
	}
	out.rate = float64(auditJobRows*jobs) / time.Since(began).Seconds()
	out.memory = float64(audit.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024
	return out, nil
}

// finishedJobs writes the rows as an older version left them, without checksums. One
// workspace, which it returns, has paid for all.
func finishedJobs(ctx context.Context, engine string, config app.Config, jobs int) (workspace string, err error) {
	service, err := app.Open(ctx, config)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	plain, err := rounds.OpenPlain(ctx, engine, config.DatabaseURL())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	var now int64
	err = service.DB.Write(ctx, func(tx *db.Tx) error {
		owner, err := identity.CreateWorkspace(ctx, tx, "many@example.com")
		if err != nil {
			return err
		}
		now, workspace = tx.Now, owner.WorkspaceID
		return errors.Join(service.Keys.Register(ctx, tx), receiptlog.Name(ctx, tx, "bench.example.com/log"), wallet.Credit(ctx, tx, workspace, "many", int64(jobs)))
	})
	if err != nil {
		return "", err
	}
	fill := strings.NewReplacer("$workspace", workspace, "$worker", id.New(id.Node), "$hash", hashOfAll, "$n", fmt.Sprint(jobs), "$at", fmt.Sprint(now))
	for _, statement := range strings.Split(fill.Replace(auditRows), ";\n") {
		if _, err := plain.ExecContext(ctx, statement); err != nil {
			return "", fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	return workspace, signed(ctx, service, plain, workspace, now, jobs)
}

// signed adds the receipts of all jobs, and their leaves of the log.
func signed(ctx context.Context, service *app.App, plain *sql.DB, workspace string, now int64, jobs int) error {
	for first := 1; first <= jobs; first += logAtOnce {
		var keyID string
		var envelopes [][]byte
		behind := min(first+logAtOnce, jobs+1)
		err := service.DB.Write(ctx, func(tx *db.Tx) error {
			envelopes = nil // the transaction may run again
			key, err := service.Keys.Current(ctx, tx)
			if err != nil {
				return err
			}
			keyID = key.Public().ID()
			for i := first; i < behind; i++ {
				_, err := receiptlog.Append(ctx, tx, func(index int64) (receipt.Entry, error) {
					envelope, err := receipt.Sign(auditReceipt(workspace, now, i, index), key)
					if err != nil {
						return receipt.Entry{}, err
					}
					envelopes = append(envelopes, envelope)
					return receipt.EntryOf(envelope)
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := keepReceipts(ctx, plain, envelopes, first, workspace, keyID, now); err != nil {
			return err
		}
	}
	return nil
}

// keepReceipts writes the rows of receipts, the first of which is job first's.
func keepReceipts(ctx context.Context, plain *sql.DB, envelopes [][]byte, first int, workspace, keyID string, now int64) error {
	tx, err := plain.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	add, err := tx.PrepareContext(ctx, "INSERT INTO receipt (receipt_id, job_id, workspace_id, key_id, envelope, created_at) VALUES ($1, $2, $3, $4, $5, $6)")
	if err != nil {
		return err
	}
	for i, envelope := range envelopes {
		n := first + i
		if _, err := add.ExecContext(ctx, numbered(id.Receipt, n), numbered(id.Job, n), workspace, keyID, string(envelope), now); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// numbered is the id of that number.
func numbered(prefix string, n int) string { return fmt.Sprintf("%s%032d", prefix, n) }

// hashOfAll is the hash of all files: none of them is there any more.
var hashOfAll = strings.Repeat("ab", 32)

// auditReceipt is the receipt of one of the jobs of auditRows.
func auditReceipt(workspace string, now int64, n int, index int64) receipt.Receipt {
	return receipt.Receipt{
		ReceiptID: numbered(id.Receipt, n), JobID: numbered(id.Job, n), WorkspaceID: workspace, LogIndex: &index,
		Input:      receipt.Input{File: receipt.File{Filename: "many.blend", SHA256: hashOfAll, SizeBytes: 1000}},
		Artifact:   receipt.File{Filename: "many.zip", SHA256: hashOfAll, SizeBytes: 2000},
		FrameStart: 1, FrameEnd: 1, FrameStep: 1, FrameCount: 1,
		Frames:       []receipt.Frame{{Frame: 1, File: "frame_0001.png", SHA256: hashOfAll, PixelSHA256: hashOfAll, SizeBytes: 500, RenderSeconds: 0.5}},
		Renderer:     receipt.Renderer{ID: contract.RendererID, Application: contract.Application, Engine: contract.Engine, Version: "4.1.1", BuildHash: "e1743a0317bc"},
		RenderDevice: "GPU", DeviceName: "a GPU", Switched: []string{}, RenderSeconds: 0.5, QuoteID: numbered(id.Quote, n),
		PricingVersion: contract.Published().Current().Version, ChargedCents: 1, Currency: contract.Currency, StartedAt: db.Time(now), CompletedAt: db.Time(now),
	}
}

// auditSummed is how many rows of a job carry a checksum.
const auditSummed = 7

// auditRows writes n completed jobs whose files have expired, all at one time, in
// microseconds. Tables that it leaves without checksums are noted as an upgrade does.
const auditRows = `
CREATE TABLE planted AS WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < $n)
SELECT substr('00000000000000000000000000000000' || CAST(i AS text), length(CAST(i AS text)) + 1) AS n FROM numbers;
INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at)
SELECT 'UPL-' || n, '$workspace', 'many.blend', '$hash', 1000, '{"frame_width":1920,"frame_height":1080}', $at FROM planted;
INSERT INTO content (workspace_id, sha256, size_bytes, blob_key, created_at) VALUES ('$workspace', '$hash', 1000, 'uploads/many', $at);
INSERT INTO project (upload_id, workspace_id, manifest, created_at)
SELECT 'UPL-' || n, '$workspace', '{"main":"many.blend","files":[{"path":"many.blend","sha256":"$hash","size_bytes":1000,"parts":["$hash"]}]}', $at FROM planted;
INSERT INTO project_content (upload_id, workspace_id, sha256) SELECT 'UPL-' || n, '$workspace', '$hash' FROM planted;
INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified,
  warnings, created_at, expires_at, accepted_at, job_id)
SELECT 'QTE-' || n, 'UPL-' || n, '$workspace', 1, 1, 1, 1, 1, 'fixed-1c-v1', 1, '[]', $at, $at + 86400000000, $at, 'JOB-' || n FROM planted;
INSERT INTO job (job_id, workspace_id, flow, status, seq, upload_id, quote_id, filename, search, input_sha256, input_size_bytes, frame_start, frame_end,
  frame_step, frame_count, frames_completed, render_us, pricing_version, price_cents, charged_cents, renderer, render_device, device_name, blender_version,
  artifact_key, artifact_filename, artifact_sha256, artifact_size, artifact_removed_at, created_at, submitted_at, claimed_at, completed_at, updated_at)
SELECT 'JOB-' || n, '$workspace', 'job_api', 'completed', 6, 'UPL-' || n, 'QTE-' || n, 'many.blend', 'many.blend', '$hash', 1000, 1, 1,
  1, 1, 1, 500000, 'fixed-1c-v1', 1, 1, 'blender', 'GPU', 'a GPU', '4.1.1',
  'artifacts/JOB-' || n || '-1.zip', 'many.zip', '$hash', 2000, $at, $at, $at, $at, $at, $at FROM planted;
INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt, device,
  device_name, blender_version, build_hash, switched, log, accepted_at)
SELECT 'JOB-' || n, 1, 3, 1, 'frame_0001.png', 'frames/JOB-' || n || '/frame_0001.png', '$hash', '$hash', 500, 1920, 1080, 500000, '$worker', 1, 'GPU',
  'a GPU', '4.1.1', 'e1743a0317bc', '', '', $at FROM planted;
INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at)
SELECT 'TXN-1' || substr(n, 2), 'reserve', 'JOB-' || n, '$workspace', 'JOB-' || n, 1, $at FROM planted
UNION ALL SELECT 'TXN-2' || substr(n, 2), 'capture', 'JOB-' || n, '$workspace', 'JOB-' || n, 1, $at FROM planted;
INSERT INTO ledger_posting (transaction_id, account, amount_cents)
SELECT 'TXN-1' || substr(n, 2), '$workspace:available', -1 FROM planted UNION ALL SELECT 'TXN-1' || substr(n, 2), '$workspace:reserved', 1 FROM planted
UNION ALL SELECT 'TXN-2' || substr(n, 2), '$workspace:reserved', -1 FROM planted UNION ALL SELECT 'TXN-2' || substr(n, 2), 'house:revenue', 1 FROM planted;
UPDATE wallet SET available_cents = 0 WHERE workspace_id = '$workspace';
INSERT INTO webhook_event (event_id, workspace_id, job_id, type, body, created_at, forgotten_at, seq)
SELECT 'msg_' || n, '$workspace', 'JOB-' || n, 'render.completed', '', $at, $at, CAST(n AS bigint) FROM planted;
INSERT INTO unsummed (relation) VALUES ('upload'), ('content'), ('quote'), ('job'), ('frame'), ('ledger_transaction'), ('webhook_event');
DROP TABLE planted`
