package browser_test

import (
	"context"
	"fmt"
	"testing"

	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/framecheck"
)

// grow gives a completed job n frames, which all look like its first one. The end of the story
// takes them away.
func grow(t *testing.T, svc *story.Service, jobID string, n int) {
	t.Helper()
	ctx := context.Background()                               // the test's own ends before the cleanup
	conn, err := dbtest.Raw(t, svc.Config.Database).Conn(ctx) // temporary tables belong to it
	if err != nil {
		t.Fatal(err)
	}
	change := func(statement string, values ...any) {
		t.Helper()
		if _, err := conn.ExecContext(ctx, statement, values...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	var found framecheck.Findings
	for i := 500; i <= n; i += 500 {
		found = found.With("black", i)
	}
	job := "WHERE job_id = '" + jobID + "'"
	change("CREATE TEMP TABLE kept AS SELECT * FROM job " + job)
	change(fmt.Sprintf(`CREATE TEMP TABLE more AS WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT frame.*, n.i FROM frame, n %s AND frame = 1`, n, job))
	change(`UPDATE more SET frame = i, seq = seq + i, ordinal = ordinal + i - 1, render_us = 1000000 + i * i % 3571 * 1000,
		finding = CASE WHEN i % 500 = 0 THEN 'black' ELSE '' END`)
	change("ALTER TABLE more DROP COLUMN i")
	change("BEGIN")
	change("INSERT INTO frame SELECT * FROM more")
	change(fmt.Sprintf("UPDATE job SET frame_end = %d, frame_count = %d, frames_completed = %d, findings = '%s' %s", n, n, n, found.Stored(), job))
	change("COMMIT")
	t.Cleanup(func() {
		change("DELETE FROM frame " + job + " AND frame > 2")
		change("UPDATE job SET (frame_end, frame_count, frames_completed, findings) = (SELECT frame_end, frame_count, frames_completed, findings FROM kept) " + job)
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
}
