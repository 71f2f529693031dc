package app_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/s3test"
)

// TestAServiceMovesToPostgreSQLAndS3 uploads and starts on SQLite and disk, and finds
// everything where it has moved to.
func TestAServiceMovesToPostgreSQLAndS3(t *testing.T) {
	t.Parallel()
	address, database := s3test.Address(t), emptyPostgres(t)
	running := start(t, app.Config{})
	cfg := running.app.Config
	up := running.upload(t.Context(), func() {})
	job := running.call(t.Context(), "/node/v1/uploads/"+up.body.UploadID+"/start", "application/json",
		strings.NewReader(`{"quote_id":"`+up.body.QuoteID+`","legal_acceptance":"SVC_LEGAL_V1"}`))
	if job.body.JobID == "" {
		t.Fatalf("start: %d, %v", job.status, job.err)
	}
	if _, _, err := app.Move(t.Context(), cfg, database, address, silent); !errors.Is(err, db.ErrInUse) {
		t.Errorf("a service that runs was moved: %v", err)
	}
	running.end()

	// A file that is there already is a run's that was interrupted; one of another service
	// is a mistake.
	s3, _, err := blob.OpenS3(t.Context(), address, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	put := func(key, text string) {
		t.Helper()
		w, err := s3.Create(t.Context(), key)
		if err == nil {
			_, _ = io.WriteString(w, text)
			err = w.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("uploads/stranger", "x")
	if _, _, err := app.Move(t.Context(), cfg, database, address, silent); !errors.Is(err, app.ErrNotEmpty) {
		t.Errorf("two services in one store: %v", err)
	}
	if err := s3.Delete(t.Context(), "uploads/stranger"); err != nil {
		t.Fatal(err)
	}
	report, breaches, err := app.Move(t.Context(), cfg, "", address, silent)
	if err != nil || report.Blobs != 1 {
		t.Fatalf("the files: %+v, %v, %v", report, breaches, err)
	}
	report, breaches, err = app.Move(t.Context(), cfg, database, address, silent)
	if err != nil || report.Blobs != 0 || report.Jobs != 1 {
		t.Fatalf("the rest: %+v, %v, %v", report, breaches, err)
	}
	if _, err := os.Stat(cfg.DatabaseURL()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a service can still be started with the old rows: %v", err)
	}
	if _, _, err := app.Move(t.Context(), cfg, database, address, silent); !errors.Is(err, db.ErrNoStore) {
		t.Errorf("moved twice: %v", err)
	}

	if err := os.RemoveAll(filepath.Join(cfg.Data, "blobs")); err != nil {
		t.Fatal(err)
	}
	cfg.Database, cfg.Blobs = database, address
	moved, err := app.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = moved.Close() }()
	apptest.Audit(t, moved)
	err = moved.DB.Read(t.Context(), func(tx *db.Tx) error {
		_, err := tx.JobGet(t.Context(), job.body.JobID)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
