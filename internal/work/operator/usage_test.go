package operator_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// TestUsageIsWhatCompletedAndWasRefundedInEachMonth, of months in UTC, however near their ends a
// job completed; jobs that did not complete and earlier months do not count.
func TestUsageIsWhatCompletedAndWasRefundedInEachMonth(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		now := time.Date(2027, 3, 31, 12, 0, 0, 0, time.UTC)
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Until(now) }})
		ada, bob := workspace(t, d, "ada@example.com").WorkspaceID, workspace(t, d, "bob@example.com").WorkspaceID
		raw, n := dbtest.Raw(t, url), 0
		do := func(statement string, args ...any) {
			t.Helper()
			if _, err := raw.ExecContext(t.Context(), fmt.Sprintf(statement, args...)); err != nil {
				t.Fatal(err)
			}
		}
		completed := func(of, status, at string, frames int) {
			t.Helper()
			n++
			when, err := time.Parse(time.DateTime, at)
			if err != nil {
				t.Fatal(err)
			}
			do(`INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at) VALUES ('UPL-%d', '%s', '', '', 1, '{}', 1)`, n, of)
			do(`INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified, warnings, created_at, expires_at)
				VALUES ('QTE-%d', 'UPL-%d', '%s', 1, 1, 1, 1, 1, '', 0, '[]', 1, 1)`, n, n, of)
			do(`INSERT INTO job (job_id, workspace_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes,
				frame_start, frame_end, frame_step, frame_count, pricing_version, price_cents, charged_cents, render_us, created_at, updated_at, completed_at)
				VALUES ('JOB-%d', '%s', 'job_api', '%s', 'UPL-%d', 'QTE-%d', '', '', 1, 1, %d, 1, %d, '', %d, %d, %d, 1, 1, %d)`,
				n, of, status, n, n, frames, frames, frames, frames, 2_500_000*frames, when.UnixMicro())
		}
		completed(ada, "completed", "2027-02-28 23:59:59", 10)
		completed(ada, "completed", "2027-03-01 00:00:00", 3)
		completed(ada, "completed", "2027-03-30 10:00:00", 4)
		completed(bob, "completed", "2027-03-30 10:00:00", 100)
		completed(bob, "failed", "2027-03-30 10:00:00", 50)
		completed(bob, "completed", "2026-12-31 23:59:59", 1000)
		do(`INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at) VALUES ('TXN-1', 'refund', 'r', '%s', 'JOB-1', 6, %d)`, ada, now.UnixMicro())
		do(`INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at) VALUES ('TXN-2', 'credit', 'c', '%s', '', 600, %d)`, ada, now.UnixMicro())

		usage := func(of string, months int) (all []operator.Usage, err error) {
			err = d.Read(t.Context(), func(tx *db.Tx) (err error) {
				all, err = operator.UsageOf(context.Background(), tx, operator.UsageScope{WorkspaceID: of, Months: months})
				return err
			})
			return all, err
		}
		want := []operator.Usage{
			{"2027-03", bob, nil, 1, 100, 250, 100, 0}, {"2027-03", ada, nil, 2, 7, 17.5, 7, 6}, {"2027-02", ada, nil, 1, 10, 25, 10, 0},
		}
		if all, err := usage("", 3); err != nil || !reflect.DeepEqual(all, want) {
			t.Errorf("three months: %v, %+v", err, all)
		}
		if all, err := usage(ada, 1); err != nil || !reflect.DeepEqual(all, want[1:2]) {
			t.Errorf("one workspace: %v, %+v", err, all)
		}
		do(`UPDATE job SET tags = 'hero,shot 10' WHERE job_id IN ('JOB-1', 'JOB-3')`)
		var split []operator.Usage
		err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
			split, err = operator.UsageOf(context.Background(), tx, operator.UsageScope{WorkspaceID: ada, Months: 2, ByTags: true})
			return err
		})
		wantSplit := []operator.Usage{
			{"2027-03", ada, []string{"hero", "shot 10"}, 1, 4, 10, 4, 6}, {"2027-03", ada, nil, 1, 3, 7.5, 3, 0}, {"2027-02", ada, []string{"hero", "shot 10"}, 1, 10, 25, 10, 0},
		}
		if err != nil || !reflect.DeepEqual(split, wantSplit) {
			t.Errorf("by tags: %v, %+v", err, split)
		}
		for _, months := range []int{0, operator.MostMonths + 1} {
			if _, err := usage("", months); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("%d months: %v", months, err)
			}
		}
		if months := wallet.Months(now, 3); !slices.Equal(months, []string{"2027-01", "2027-02", "2027-03"}) {
			t.Errorf("the months before 31 March are %v", months)
		}
		var text strings.Builder
		if err := operator.WriteUsage(sheet.New(&text, sheet.Form{}), want); err != nil || !strings.Contains(text.String(), "\n2027-03,"+ada+",2,7,17.500,7,6,\n") {
			t.Errorf("as CSV: %v, %s", err, text.String())
		}
	})
}
