package wallet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/wallet"
)

// TestSpendAddsUpToTheLedgerByMonthKeyPersonAndTags, in months of UTC, however near their ends an entry
// is; what only moves money within the wallet, and other workspaces, do not count.
func TestSpendAddsUpToTheLedgerByMonthKeyPersonAndTags(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		d := dbtest.Open(t, db.Config{URL: url})
		open(t, d, "WSP-1", 100)
		open(t, d, "WSP-2", 100)
		raw, n := dbtest.Raw(t, url), 0
		do := func(statement string, args ...any) {
			t.Helper()
			if _, err := raw.ExecContext(t.Context(), fmt.Sprintf(statement, args...)); err != nil {
				t.Fatal(err)
			}
		}
		do(`INSERT INTO agent_key (key_id, workspace_id, name, secret_sha256, masked_prefix, spend_limit_cents, created_at) VALUES ('key_a', 'WSP-1', 'farm', '1', '', 0, 1)`)
		do(`INSERT INTO account_key (key_id, workspace_id, name, secret_sha256, masked_prefix, created_at) VALUES ('key_b', 'WSP-1', 'studio', '2', '', 1)`)
		for job, key := range map[string]string{"JOB-a": "key_a", "JOB-b": "key_b", "JOB-c": ""} {
			do(`INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at) VALUES ('UPL-%s', 'WSP-1', '', '', 1, '{}', 1)`, job)
			do(`INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified, warnings, created_at, expires_at)
				VALUES ('QTE-%s', 'UPL-%s', 'WSP-1', 1, 1, 1, 1, 1, '', 0, '[]', 1, 1)`, job, job)
			do(`INSERT INTO job (job_id, workspace_id, key_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes,
				frame_start, frame_end, frame_step, frame_count, pricing_version, price_cents, charged_cents, render_us, created_at, updated_at, completed_at)
				VALUES ('%s', 'WSP-1', '%s', 'job_api', 'completed', 'UPL-%s', 'QTE-%s', '', '', 1, 1, 1, 1, 1, '', 1, 1, 1, 1, 1, 1)`, job, key, job, job)
		}
		do(`INSERT INTO person (person_id, email, workspace_id, created_at) VALUES ('PER-1', 'ada@example.com', 'WSP-1', 1)`)
		do(`UPDATE job SET started_by = 'PER-1', tags = 'hero,shot' WHERE job_id = 'JOB-a'`)
		do(`UPDATE job SET started_by = 'PER-gone' WHERE job_id = 'JOB-c'`)
		want := map[wallet.Kind]int64{}
		entry := func(workspace, kind, job string, cents int64, at string) {
			t.Helper()
			n++
			when, err := time.Parse(time.DateTime, at)
			if err != nil {
				t.Fatal(err)
			}
			do(`INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at) VALUES ('TXN-%d', '%s', 'r%d', '%s', '%s', %d, %d)`, n, kind, n, workspace, job, cents, when.UnixMicro())
			if workspace == "WSP-1" {
				want[wallet.Kind(kind)] += cents
			}
		}
		entry("WSP-1", "capture", "JOB-a", 7, "2026-12-31 23:59:59")
		entry("WSP-1", "capture", "JOB-a", 11, "2027-01-01 00:00:00")
		entry("WSP-1", "reserve", "JOB-a", 11, "2027-01-01 00:00:00")
		entry("WSP-1", "capture", "JOB-b", 30, "2027-01-31 23:59:59")
		entry("WSP-1", "capture", "JOB-c", 5, "2027-01-15 12:00:00")
		entry("WSP-1", "refund", "JOB-a", 7, "2027-02-01 00:00:00")
		entry("WSP-1", "top_up", "", 500, "2027-02-01 00:00:00")
		entry("WSP-2", "capture", "JOB-x", 1000, "2027-01-15 12:00:00")

		spend := func(since, until time.Time) (all []wallet.Spent) {
			t.Helper()
			err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
				all, err = wallet.Spend(t.Context(), tx, "WSP-1", since, until)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		all := spend(time.Time{}, time.Time{})
		rows := []wallet.Spent{
			{"2027-02", "key_a", "farm", "PER-1", "ada@example.com", "hero,shot", 0, 7},
			{"2027-01", "key_b", "studio", "", "", "", 30, 0}, {"2027-01", "key_a", "farm", "PER-1", "ada@example.com", "hero,shot", 11, 0}, {"2027-01", "", "", "", "", "", 5, 0},
			{"2026-12", "key_a", "farm", "PER-1", "ada@example.com", "hero,shot", 7, 0},
		}
		if !slices.Equal(all, rows) {
			t.Errorf("spent is %+v", all)
		}
		for _, by := range []func(wallet.Spent) string{
			func(s wallet.Spent) string { return s.Month }, func(s wallet.Spent) string { return s.KeyID }, func(s wallet.Spent) string { return s.Email }, func(s wallet.Spent) string { return s.Tags },
		} {
			sum := int64(0)
			for _, s := range wallet.Of(all, by) {
				sum += s.Cents()
			}
			if sum != want[wallet.Captured]-want[wallet.Refunded] {
				t.Errorf("the parts add up to %d cents, the ledger to %v", sum, want)
			}
		}
		sum := int64(0)
		for _, s := range all {
			sum += s.Cents()
		}
		if sum != want[wallet.Captured]-want[wallet.Refunded] {
			t.Errorf("it adds up to %d cents, the ledger to %v", sum, want)
		}
		if got := spend(wallet.FirstOfMonth(time.Date(2027, 2, 28, 0, 0, 0, 0, time.UTC), 1), time.Time{}); !slices.Equal(got, rows[:4]) {
			t.Errorf("since January it is %+v", got)
		}
		january := wallet.FirstOfMonth(time.Date(2027, 1, 28, 0, 0, 0, 0, time.UTC), 0)
		if got := spend(january, january.AddDate(0, 1, 0)); !slices.Equal(got, rows[1:4]) {
			t.Errorf("in January it is %+v", got)
		}
		for by, want := range map[wallet.Division]string{
			wallet.ByMonth: "2027-02=-7 2027-01=46 2026-12=7", wallet.ByPerson: "=35 PER-1=11", wallet.ByKey: "key_b=30 key_a=11 =5", wallet.ByTags: "=35 hero,shot=11",
		} {
			got := []string{}
			for _, part := range wallet.Divide(all, by) {
				got = append(got, fmt.Sprintf("%s=%d", part.ID, part.Cents()))
			}
			if text := strings.Join(got, " "); text != want {
				t.Errorf("by %s it is %s", by, text)
			}
		}
	})
}
