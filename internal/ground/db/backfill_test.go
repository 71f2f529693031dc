package db_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
)

// before takes an empty database back to where it was after a migration, and gives
// what writes into it.
func before(t *testing.T, url string, version int64) (bare *sql.DB, do func(statement string)) {
	t.Helper()
	ctx := t.Context()
	all, err := db.Open(ctx, db.Config{URL: url}) // so that all migrations are there to be undone
	if err == nil {
		err = all.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	engine := (db.Config{URL: url}).Name()
	if bare, err = sql.Open(map[string]string{"sqlite": "sqlite", "postgres": "pgx"}[engine], url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bare.Close() })
	migrations, err := db.Migrator(bare, engine)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.DownTo(ctx, version); err != nil {
		t.Fatal(err)
	}
	return bare, func(statement string) {
		t.Helper()
		if _, err := bare.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestJobsThatEndedBeforeWebhooksHaveAnEvent takes a database back to where there
// were none, ends jobs there, and migrates again: the audit wants an event for
// each.
func TestJobsThatEndedBeforeWebhooksHaveAnEvent(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		bare, do := before(t, url, 4)
		do("INSERT INTO workspace (workspace_id, name, created_at) VALUES ('WSP-1', '', 1)")
		do("INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, blob_key, scene, created_at) VALUES ('UPL-1', 'WSP-1', '', '', 1, '', '{}', 1)")
		for n, status := range []string{"completed", "failed", "cancelled", "queued", "rendering"} {
			do(fmt.Sprintf(`INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified, warnings, created_at, expires_at)
				VALUES ('QTE-%d', 'UPL-1', 'WSP-1', 1, 1, 1, 1, 1, '', 0, '[]', 1, 1)`, n))
			do(fmt.Sprintf(`INSERT INTO job (job_id, workspace_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes, input_key,
				frame_start, frame_end, frame_step, frame_count, pricing_version, price_cents, created_at, updated_at)
				VALUES ('JOB-%d', 'WSP-1', 'job_api', '%s', 'UPL-1', 'QTE-%d', '', '', 1, '', 1, 1, 1, 1, '', 1, 1, %d)`, n, status, n, 100+n))
		}
		d := dbtest.Open(t, db.Config{URL: url})
		err := d.Read(ctx, func(tx *db.Tx) error {
			wrong, err := tx.AuditWebhookEvents(ctx)
			if len(wrong) != 0 {
				t.Errorf("their events are %+v", wrong)
			}
			parts, other := tx.AuditWebhookForgotten(ctx)
			if len(parts) != 0 || other != nil {
				t.Errorf("in part only there are %+v, %v", parts, other)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := bare.QueryContext(ctx, "SELECT event_id, type, body, created_at, forgotten_at FROM webhook_event ORDER BY event_id")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		var got []string
		for rows.Next() {
			var event, kind, body string
			var created, forgotten int64
			if err := rows.Scan(&event, &kind, &body, &created, &forgotten); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s %q %d %d", event, kind, body, created, forgotten))
		}
		want := []string{`msg_0 render.completed "" 100 100`, `msg_1 render.failed "" 101 101`, `msg_2 render.cancelled "" 102 102`}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || rows.Err() != nil {
			t.Errorf("the events are %q, %v", got, rows.Err())
		}
	})
}

// TestQueuedRemovalsOfBlobsEnd: nothing works off the removals of single blobs that an
// older version queued, so they would only fail until they are dead letters. The hourly
// sweep removes the blobs, which no row names.
func TestQueuedRemovalsOfBlobsEnd(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		bare, do := before(t, url, 14)
		for _, subject := range []string{"blob/uploads/UPL-1", "upload/UPL-1"} {
			do(fmt.Sprintf("INSERT INTO lease (lease_id, queue, subject, item, state, due_at) VALUES ('expire:%s:0', 'expire', '%s', 0, 'waiting', 1)", subject, subject))
			do(fmt.Sprintf(`INSERT INTO dead_letter (lease_id, queue, subject, item, attempt, failures, last_code, last_error, died_at)
				VALUES ('expire:%s:0', 'expire', '%s', 0, 1, 1, '', '', 1)`, subject, subject))
		}
		dbtest.Open(t, db.Config{URL: url})
		for _, table := range []string{"lease", "dead_letter"} {
			var left string
			if err := bare.QueryRowContext(t.Context(), "SELECT subject FROM "+table).Scan(&left); err != nil || left != "upload/UPL-1" {
				t.Errorf("%s keeps %q, %v", table, left, err)
			}
			var rows int
			if err := bare.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&rows); err != nil || rows != 1 {
				t.Errorf("%s has %d rows, %v", table, rows, err)
			}
		}
	})
}

// TestLeasesOfAnOlderVersionAreFenced: their fence is stored twice, and tables that have
// rows are named for their checksums.
func TestLeasesOfAnOlderVersionAreFenced(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		bare, do := before(t, url, 15)
		do(`INSERT INTO lease (lease_id, queue, subject, item, state, due_at, attempt, failures, holder, lapses_at, last_error)
			VALUES ('frame:JOB-1:1', 'frame', 'JOB-1', 1, 'held', 1, 3, 2, 'NOD-1', 1, 'it broke')`)
		do("INSERT INTO workspace (workspace_id, name, created_at) VALUES ('WSP-1', '', 1)")
		dbtest.Open(t, db.Config{URL: url})
		for statement, want := range map[string]string{
			"SELECT guard FROM lease":         "3 2 NOD-1",
			"SELECT relation FROM unsummed":   "workspace",
			"SELECT row_sum FROM workspace":   "",
			"SELECT count(*) FROM unsummed":   "1",
			"SELECT row_sum FROM receipt_log": "",
		} {
			var got string
			if err := bare.QueryRowContext(t.Context(), statement).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", statement, got, err, want)
			}
		}
	})
}

// TestTheLedgerOfAnOlderVersionIsKept: a list of kinds in its table is gone, and its
// entries, their postings and balances are there as before.
func TestTheLedgerOfAnOlderVersionIsKept(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		bare, do := before(t, url, 38)
		do("INSERT INTO workspace (workspace_id, name, created_at) VALUES ('WSP-1', '', 1)")
		do("INSERT INTO wallet (workspace_id, available_cents) VALUES ('WSP-1', 5)")
		do("INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, amount_cents, created_at, row_sum) VALUES ('TXN-1', 'credit', 'c', 'WSP-1', 5, 1, 'sum')")
		do("INSERT INTO ledger_posting (transaction_id, account, amount_cents) VALUES ('TXN-1', 'house:funding', -5), ('TXN-1', 'WSP-1:available', 5)")
		do("INSERT INTO workspace_freeze (workspace_id, reason, frozen_at, row_sum) VALUES ('WSP-1', 'r', 1, 'old')")
		if err := bare.Close(); err != nil {
			t.Fatal(err)
		}
		d := dbtest.Open(t, db.Config{URL: url})
		raw := dbtest.Raw(t, url)
		if d.Engine() == "sqlite" {
			raw.SetMaxOpenConns(1)
			if _, err := raw.ExecContext(ctx, "PRAGMA foreign_keys = 1"); err != nil {
				t.Fatal(err)
			}
		}
		for what, statement := range map[string]string{
			"the entry":    "SELECT count(*) FROM ledger_transaction WHERE kind = 'credit' AND reference = 'c' AND row_sum = 'sum'",
			"its postings": "SELECT count(*) - 1 FROM ledger_posting WHERE transaction_id = 'TXN-1'",
			"the wallet":   "SELECT count(*) FROM wallet WHERE available_cents = 5 AND owed_cents = 0",
			"the freeze":   "SELECT count(*) FROM workspace_freeze WHERE cause = 'operator' AND row_sum = ''",
		} {
			var n int
			if err := raw.QueryRowContext(ctx, statement).Scan(&n); err != nil || n != 1 {
				t.Errorf("%s: %d, %v", what, n, err)
			}
		}
		for _, statement := range []string{
			"INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, amount_cents, created_at) VALUES ('TXN-2', 'credit', 'c', 'WSP-1', 5, 1)",
			"INSERT INTO ledger_posting (transaction_id, account, amount_cents) VALUES ('TXN-none', 'a', 1)",
		} {
			if _, err := raw.ExecContext(ctx, statement); err == nil {
				t.Errorf("taken: %s", statement)
			}
		}
	})
}
