package operator_test

import (
	"fmt"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/operator"
)

// TestTheLastDayIsToldByHour: jobs that are unfinished at the end of each hour, workers that
// delivered, and what was charged. What was before counts only where it lasts.
func TestTheLastDayIsToldByHour(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		now := time.Date(2027, 3, 31, 12, 30, 0, 0, time.UTC)
		d := dbtest.Open(t, db.Config{URL: url, Skew: func() time.Duration { return time.Until(now) }})
		ada := workspace(t, d, "ada@example.com").WorkspaceID
		raw, n := dbtest.Raw(t, url), 0
		do := func(statement string, args ...any) {
			t.Helper()
			if _, err := raw.ExecContext(t.Context(), fmt.Sprintf(statement, args...)); err != nil {
				t.Fatal(err)
			}
		}
		at := func(ago time.Duration) int64 { return now.Add(-ago).UnixMicro() }
		started := func(status string, ago time.Duration) {
			t.Helper()
			n++
			do(`INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, scene, created_at) VALUES ('UPL-%d', '%s', '', '', 1, '{}', 1)`, n, ada)
			do(`INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified, warnings, created_at, expires_at)
				VALUES ('QTE-%d', 'UPL-%d', '%s', 1, 1, 1, 1, 1, '', 0, '[]', 1, 1)`, n, n, ada)
			do(`INSERT INTO job (job_id, workspace_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes,
				frame_start, frame_end, frame_step, frame_count, pricing_version, price_cents, created_at, updated_at, submitted_at)
				VALUES ('JOB-%d', '%s', 'job_api', '%s', 'UPL-%d', 'QTE-%d', '', '', 1, 1, 9, 1, 9, '', 9, 1, 1, %d)`, n, ada, status, n, n, at(ago))
		}
		ended := func(kind string, ago time.Duration, cents int) {
			t.Helper()
			do(`INSERT INTO ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at) VALUES ('%s%020d', '%s', 'r%d', '%s', 'JOB-%d', %d, %d)`,
				id.Since(id.Transaction, now.Add(-ago)), n, kind, n, ada, n, cents, at(ago))
		}
		delivered := func(worker string, frame int, ago time.Duration) {
			t.Helper()
			do(`INSERT INTO frame (job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, worker_id, attempt, device,
				device_name, blender_version, build_hash, switched, log, accepted_at)
				VALUES ('JOB-1', %d, %d, 1, '', '', '', '', 1, 1, 1, 1, '%s', 1, '', '', '', '', '', '', %d)`, frame, frame, worker, at(ago))
		}
		started("completed", 50*time.Hour)
		ended("capture", 20*time.Hour, 30)
		started("completed", 60*time.Hour)
		ended("capture", 59*time.Hour, 1000) // before the day
		started("cancelled", 5*time.Hour)
		ended("release", 3*time.Hour, 7)
		started("rendering", 2*time.Hour)
		started("queued", 0)
		delivered("a", 1, 21*time.Hour)
		delivered("a", 2, 21*time.Hour)
		delivered("b", 3, 21*time.Hour)
		delivered("", 4, 21*time.Hour) // taken over
		delivered("a", 5, 30*time.Hour)

		var hours []operator.Hour
		err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
			hours, err = operator.LastDay(t.Context(), tx)
			return err
		})
		if err != nil || len(hours) != 24 || !hours[23].Begins.Equal(now.Truncate(time.Hour)) {
			t.Fatalf("%v, %+v", err, hours)
		}
		for ago, want := range map[int]operator.Hour{
			23: {Unfinished: 1}, 21: {Unfinished: 1, Frames: 3, Workers: 2}, 20: {ChargedCents: 30}, 6: {}, 5: {Unfinished: 1}, 4: {Unfinished: 1}, 3: {}, 2: {Unfinished: 1}, 0: {Unfinished: 2},
		} {
			want.Begins = now.Truncate(time.Hour).Add(-time.Duration(ago) * time.Hour)
			if got := hours[23-ago]; got != want {
				t.Errorf("%d hours ago: %+v, want %+v", ago, got, want)
			}
		}
	})
}
