package app_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/long"
	"svc.example/internal/test/s3test"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/wallet"
)

func silent(string, int64, int64) {}

// emptyPostgres is a database that no service has opened.
func emptyPostgres(t *testing.T) string {
	t.Helper()
	url := dbtest.URL(t, "postgres")
	_, err := dbtest.Raw(t, url).ExecContext(t.Context(), `DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP EXECUTE 'DROP TABLE ' || quote_ident(r.tablename) || ' CASCADE'; END LOOP; END $$`)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// TestABackupOfARunningServiceIsRestoredOnEitherDatabase uploads, starts and credits while
// the copies are made, loses the machine, restores, and reads what was there.
func TestABackupOfARunningServiceIsRestoredOnEitherDatabase(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, app.Config{Database: url})
		up := s.upload(t.Context(), func() {})
		if up.err != nil || up.body.UploadID == "" {
			t.Fatalf("upload: %d, %v", up.status, up.err)
		}
		job := s.call(t.Context(), "/node/v1/uploads/"+up.body.UploadID+"/start", "application/json",
			strings.NewReader(`{"quote_id":"`+up.body.QuoteID+`","legal_acceptance":"SVC_LEGAL_V1"}`))
		if job.body.JobID == "" {
			t.Fatalf("start: %d, %v", job.status, job.err)
		}
		folder := filepath.Join(t.TempDir(), "backup")
		report, breaches, err := app.Backup(t.Context(), s.app.Config, folder, silent)
		if err != nil || report.Jobs != 1 || report.Blobs != 1 {
			t.Fatalf("the backup says %+v, %v, %v", report, breaches, err)
		}
		privateKeys(t, filepath.Join(folder, "keys"))
		if _, _, err := app.Backup(t.Context(), s.app.Config, folder, silent); !errors.Is(err, app.ErrNotEmpty) {
			t.Errorf("a backup over a backup: %v", err)
		}
		for _, database := range []string{"", emptyPostgres(t)} {
			to := app.Config{Data: filepath.Join(t.TempDir(), "data"), Database: database, Log: slog.New(slog.DiscardHandler)}
			if report, breaches, err = app.Restore(t.Context(), to, folder, silent); err != nil || report.Jobs != 1 {
				t.Fatalf("the restore into %q says %+v, %v, %v", database, report, breaches, err)
			}
			privateKeys(t, filepath.Join(to.Data, "keys"))
			if _, _, err := app.Restore(t.Context(), to, folder, silent); !errors.Is(err, app.ErrNotEmpty) {
				t.Errorf("a restore over a service: %v", err)
			}
			restored, err := app.Open(t.Context(), to)
			if err != nil {
				t.Fatal(err)
			}
			err = restored.DB.Write(t.Context(), func(tx *db.Tx) error { // it works as a service does
				record, err := tx.JobGet(t.Context(), job.body.JobID)
				if err != nil {
					return err
				}
				if _, err := identity.CreateAgentKey(t.Context(), tx, record.WorkspaceID, identity.AgentTerms{Name: "later"}); err != nil {
					return err
				}
				return wallet.Credit(t.Context(), tx, record.WorkspaceID, "after the restore", 100)
			})
			if err != nil {
				t.Error(err)
			}
			apptest.Audit(t, restored)
			if err := restored.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// privateKeys checks that only the owner can read the keys.
func privateKeys(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) < 3 {
		t.Fatalf("%d keys, %v", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestOnlyAWholeBackupIsRestored(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	_, _, err := app.Restore(context.Background(), app.Config{Data: data}, folder, silent)
	if !errors.Is(err, app.ErrNoBackup) {
		t.Errorf("an empty folder is restored: %v", err)
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused restore has made %s", data)
	}
	if _, _, err := app.Backup(context.Background(), app.Config{Data: filepath.Join(folder, "nothing")}, filepath.Join(folder, "copy"), silent); !errors.Is(err, db.ErrNoStore) {
		t.Errorf("a backup of nothing: %v", err)
	}
}

// TestABackupIsNotRestoredIntoTheStoreOfAnother restores over S3: a store of another service
// is refused as it is, one with files of the same backup is resumed.
func TestABackupIsNotRestoredIntoTheStoreOfAnother(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{})
	if up := s.upload(t.Context(), func() {}); up.body.UploadID == "" {
		t.Fatalf("upload: %d, %v", up.status, up.err)
	}
	backup, address := filepath.Join(t.TempDir(), "backup"), s3test.Address(t)
	if _, _, err := app.Backup(t.Context(), s.app.Config, backup, silent); err != nil {
		t.Fatal(err)
	}
	store, _, err := blob.OpenS3(t.Context(), address, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := store.Create(t.Context(), "uploads/stranger")
	if err == nil {
		err = stranger.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	to := app.Config{Data: filepath.Join(t.TempDir(), "data"), Blobs: address, Log: slog.New(slog.DiscardHandler)}
	if _, _, err := app.Restore(t.Context(), to, backup, silent); !errors.Is(err, app.ErrNotEmpty) {
		t.Errorf("restored into the store of another: %v", err)
	}
	wantEmpty(t, to.Data)
	if err := store.Delete(t.Context(), "uploads/stranger"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if report, breaches, err := app.Restore(t.Context(), to, backup, silent); err != nil || len(breaches) > 0 {
			t.Fatalf("%+v, %v, %v", report, breaches, err)
		}
		if err := os.RemoveAll(to.Data); err != nil { // the second finds the files of the first
			t.Fatal(err)
		}
	}
}

// TestACopyThatIsInterruptedLeavesNothing ends a backup and a restore at the first word of
// each of their parts: nothing is left that looks whole, and the same command then works.
func TestACopyThatIsInterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, app.Config{Database: url})
		if up := s.upload(t.Context(), func() {}); up.err != nil || up.body.UploadID == "" {
			t.Fatalf("upload: %d, %v", up.status, up.err)
		}
		backup := filepath.Join(t.TempDir(), "backup")
		interruptEach(t, func(ctx context.Context, progress app.BackupProgress) error {
			_, _, err := app.Backup(ctx, s.app.Config, backup, progress)
			return err
		}, func(string, error) bool {
			wantEmpty(t, backup)
			return false
		})
		database := ""
		if strings.HasPrefix(url, "postgres") {
			database = emptyPostgres(t)
		}
		to := app.Config{Data: filepath.Join(t.TempDir(), "data"), Database: database, Log: slog.New(slog.DiscardHandler)}
		interruptEach(t, func(ctx context.Context, progress app.BackupProgress) error {
			_, _, err := app.Restore(ctx, to, backup, progress)
			return err
		}, func(_ string, err error) bool {
			if errors.Is(err, app.ErrUnaudited) { // the rest of the parts are those of the audit
				restored, err := app.Open(t.Context(), to)
				if err != nil {
					t.Fatal(err)
				}
				apptest.Audit(t, restored)
				if err := restored.Close(); err != nil {
					t.Error(err)
				}
				return true
			}
			wantEmpty(t, to.Data)
			return false
		})
	})
}

// interruptEach runs something again and again, and interrupts it at the first report of
// each of its parts, until it completes or check says that it did. The short run takes
// every sixteenth table, because all are copied alike.
func interruptEach(t *testing.T, run func(context.Context, app.BackupProgress) error, check func(part string, err error) (done bool)) {
	t.Helper()
	seen, tables := map[string]bool{}, 0
	for {
		ctx, cancel := context.WithCancel(t.Context())
		at := ""
		err := run(ctx, func(part string, _, _ int64) {
			if at != "" || seen[part] {
				return
			}
			seen[part] = true
			if strings.HasPrefix(part, "rows of ") {
				if tables++; tables%long.Scale(16, 1) != 0 {
					return
				}
			}
			at = part
			cancel()
		})
		cancel()
		switch {
		case at == "" && err == nil && len(seen) > 0:
			return
		case at == "" || err == nil:
			t.Fatalf("interrupted at %q of %v: %v", at, seen, err)
		case check(at, err):
			return
		}
	}
}

func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Fatalf("%s has %v, %v", folder, entries, err)
	}
}
