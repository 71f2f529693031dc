package db_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
)

// TestUploadsBecomeProjects takes a database back to where each upload had a blob
// of its own, and forward and back again.
func TestUploadsBecomeProjects(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		ctx := t.Context()
		const version = 11
		bare, do := before(t, url, version)
		for _, workspace := range []string{"WSP-1", "WSP-2"} {
			do("INSERT INTO workspace (workspace_id, name, created_at) VALUES ('" + workspace + "', '', 1)")
		}
		for _, u := range []struct {
			id, workspace, filename, sum string
			removed                      int
		}{
			{"UPL-1", "WSP-1", "first.blend", "aa", 0}, {"UPL-2", "WSP-1", `a "b" \ <ü>.blend`, "aa", 0}, {"UPL-3", "WSP-2", "other.blend", "aa", 0},
			{"UPL-4", "WSP-1", "else.blend", "bb", 0}, {"UPL-5", "WSP-1", "gone.blend", "cc", 7}, {"UPL-0", "WSP-1", "gone too.blend", "aa", 7},
		} {
			do(fmt.Sprintf(`INSERT INTO upload (upload_id, workspace_id, filename, sha256, size_bytes, blob_key, scene, created_at, removed_at)
				VALUES ('%s', '%s', '%s', '%s', 5, 'uploads/%s', '{}', 3, %d)`, u.id, u.workspace, u.filename, u.sum, u.id, u.removed))
		}
		do(`INSERT INTO quote (quote_id, upload_id, workspace_id, frame_start, frame_end, frame_step, frame_count, price_cents, pricing_version, qualified, warnings, created_at, expires_at)
			VALUES ('QTE-2', 'UPL-2', 'WSP-1', 1, 1, 1, 1, 1, '', 0, '[]', 1, 1)`)
		do(`INSERT INTO job (job_id, workspace_id, flow, status, upload_id, quote_id, filename, input_sha256, input_size_bytes, input_key,
			frame_start, frame_end, frame_step, frame_count, pricing_version, price_cents, created_at, updated_at)
			VALUES ('JOB-2', 'WSP-1', 'job_api', 'queued', 'UPL-2', 'QTE-2', '', 'aa', 5, 'uploads/UPL-2', 1, 1, 1, 1, '', 1, 1, 1)`)
		rows := func(question string) (out []string) {
			t.Helper()
			found, err := bare.QueryContext(ctx, question)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = found.Close() }()
			for found.Next() {
				var row string
				if err := found.Scan(&row); err != nil {
					t.Fatal(err)
				}
				out = append(out, row)
			}
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
			return out
		}
		want := func(what string, got []string, want ...string) {
			t.Helper()
			if !slices.Equal(got, want) {
				t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		d := dbtest.Open(t, db.Config{URL: url})
		want("content", rows("SELECT workspace_id || ' ' || sha256 || ' ' || blob_key FROM content ORDER BY 1"),
			"WSP-1 aa uploads/UPL-1", "WSP-1 bb uploads/UPL-4", "WSP-2 aa uploads/UPL-3")
		want("its users", rows("SELECT upload_id || ' ' || workspace_id || ' ' || sha256 FROM project_content ORDER BY 1"),
			"UPL-1 WSP-1 aa", "UPL-2 WSP-1 aa", "UPL-3 WSP-2 aa", "UPL-4 WSP-1 bb")
		want("a manifest", rows("SELECT manifest FROM project WHERE upload_id = 'UPL-2'"),
			`{"main":"a \"b\" \\ <ü>.blend","files":[{"path":"a \"b\" \\ <ü>.blend","sha256":"aa","size_bytes":5,"parts":["aa"]}]}`)
		err := d.Read(ctx, func(tx *db.Tx) error {
			live, err := tx.AuditLiveContent(ctx, "JOB-2")
			if err != nil || len(live) != 1 || live[0].BlobKey != "uploads/UPL-1" {
				t.Errorf("the running job needs %v, %v", live, err)
			}
			uploads, err := tx.AuditProjectless(ctx)
			if len(uploads) != 0 || err != nil {
				t.Errorf("without a project are %v, %v", uploads, err)
			}
			unused, err := tx.AuditUnusedContent(ctx, 0)
			if len(unused) != 0 {
				t.Errorf("unused content: %v", unused)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		bare, _ = before(t, url, version) // an older program opens it
		want("back again", rows("SELECT upload_id || ' ' || blob_key FROM upload WHERE removed_at = 0 UNION ALL SELECT job_id || ' ' || input_key FROM job ORDER BY 1"),
			"JOB-2 uploads/UPL-1", "UPL-1 uploads/UPL-1", "UPL-2 uploads/UPL-1", "UPL-3 uploads/UPL-3", "UPL-4 uploads/UPL-4")
		dbtest.Open(t, db.Config{URL: url})
		want("and forward again", rows("SELECT blob_key FROM content ORDER BY 1"), "uploads/UPL-1", "uploads/UPL-3", "uploads/UPL-4")
	})
}
