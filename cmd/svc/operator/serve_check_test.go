package operator

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/s3test"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/project"
	"svc.example/internal/work/wallet"
)

// aService makes a service with a workspace, whose id it returns, and a clock that is ahead.
func aService(t *testing.T, data, database string, ahead time.Duration) (workspaceID string) {
	t.Helper()
	service, err := app.Open(t.Context(), app.Config{Data: data, Database: database, Skew: func() time.Duration { return ahead }})
	if err != nil {
		t.Fatal(err)
	}
	err = service.DB.Write(t.Context(), func(tx *db.Tx) error {
		p, err := identity.CreateWorkspace(t.Context(), tx, "you@example.org")
		if err != nil {
			return err
		}
		workspaceID = p.WorkspaceID
		return wallet.Credit(t.Context(), tx, p.WorkspaceID, "first", 100)
	})
	if err := errors.Join(err, service.Close()); err != nil {
		t.Fatal(err)
	}
	return workspaceID
}

func checkOf(s store, set func(*Serve)) error {
	serve := Serve{store: s, Listen: "127.0.0.1:0", checkFlags: checkFlags{MinFree: 1}}
	if set != nil {
		set(&serve)
	}
	return serve.check(context.Background(), serve.config())
}

// refused checks that the service does not start, and says so with the exit code.
func refused(t *testing.T, err error, code int, says ...string) {
	t.Helper()
	got := terminal.ExitFailure
	if e, ok := errors.AsType[*terminal.ExitError](err); ok {
		got = e.ExitCode()
	}
	if err == nil || got != code {
		t.Fatalf("the check ends with %d: %v; want %d", got, err, code)
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestServeRefusesAMachineThatIsNotReady(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	if err := checkOf(store{Data: data}, nil); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	refused(t, checkOf(store{Data: data}, func(s *Serve) { s.Listen = taken.Addr().String() }), terminal.ExitFailure, taken.Addr().String()+" is in use", "--listen")
	refused(t, checkOf(store{Data: data}, func(s *Serve) { s.MinFree = 1 << 62 }), terminal.ExitFailure, data+" has only", "--min-free")
	refused(t, checkOf(store{Data: filepath.Join(file, "data")}, nil), terminal.ExitFailure, "cannot be written", "--data")
	if left, err := os.ReadDir(data); err != nil || len(left) > 0 {
		t.Errorf("the checks leave %v, %v", left, err)
	}
}

func TestServeRefusesAClockThatIsBehindTheStore(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		data := t.TempDir()
		aService(t, data, url, time.Hour)
		s := store{Data: data, Database: url}
		refused(t, checkOf(s, nil), terminal.ExitFailure, "the newest event in the store", "1h0m0s later", "--ignore-clock")
		if err := checkOf(s, func(s *Serve) { s.IgnoreClock = true }); err != nil {
			t.Errorf("with --ignore-clock: %v", err)
		}
	})
}

func TestServeRefusesADatabaseOfANewerVersion(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		data := t.TempDir()
		aService(t, data, url, 0)
		change := func(statement string) {
			t.Helper()
			if _, err := dbtest.Raw(t, url).ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		change("INSERT INTO goose_db_version (version_id, is_applied) SELECT 99999, is_applied FROM goose_db_version WHERE version_id = 1")
		if err := checkOf(store{Data: data, Database: url}, nil); err != nil {
			t.Errorf("a newer version has only added: %v", err)
		}
		change("UPDATE schema_reach SET oldest = 99999")
		refused(t, checkOf(store{Data: data, Database: url}, nil), terminal.ExitUsage, "newer version")
	})
}

// TestServeRefusesAStoreWithoutItsFiles has one scene, in the right store, in an empty one, in
// none, and on a disk that is not mounted.
func TestServeRefusesAStoreWithoutItsFiles(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		data := t.TempDir()
		aScene(t, data, url, aService(t, data, url, 0))
		s := store{Data: data, Database: url}
		if err := checkOf(s, nil); err != nil {
			t.Errorf("the service's own files: %v", err)
		}
		wantRefused := func(s store) {
			t.Helper()
			refused(t, checkOf(s, nil), terminal.ExitUsage, "are elsewhere", "--lost-files")
			if err := checkOf(s, func(s *Serve) { s.LostFiles = true }); err != nil {
				t.Errorf("with --lost-files: %v", err)
			}
		}
		other := s
		other.Blobs = s3test.Address(t)
		wantRefused(other)
		if err := os.Rename(filepath.Join(data, "blobs"), filepath.Join(t.TempDir(), "blobs")); err != nil {
			t.Fatal(err)
		}
		wantRefused(s)
		if err := os.Mkdir(filepath.Join(data, "blobs"), 0o700); err != nil {
			t.Fatal(err)
		}
		wantRefused(s)
	})
}

// aScene keeps a scene of a workspace.
func aScene(t *testing.T, data, database, workspaceID string) {
	t.Helper()
	service, err := app.Open(t.Context(), app.Config{Data: data, Database: database})
	if err != nil {
		t.Fatal(err)
	}
	const key = "uploads/UPL-0123"
	file, err := service.Blobs.Create(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte("BLENDER")); err != nil {
		t.Fatal(err)
	}
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
	err = service.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := project.Keep(t.Context(), tx, workspaceID, project.Content{SHA256: strings.Repeat("ab", 32), SizeBytes: 7, BlobKey: key})
		return err
	})
	if err := errors.Join(err, service.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestServeBeginsNoSecondDatabaseBesideTheFilesOfTheFirst holds a service of each database,
// and the other database, which is empty.
func TestServeBeginsNoSecondDatabaseBesideTheFilesOfTheFirst(t *testing.T) {
	t.Parallel()
	empty, filled := dbtest.URL(t, "postgres"), dbtest.URL(t, "postgres")
	if _, err := dbtest.Raw(t, empty).ExecContext(t.Context(), "DROP TABLE goose_db_version"); err != nil {
		t.Fatal(err)
	}
	sqlite, postgres := t.TempDir(), t.TempDir()
	aService(t, sqlite, "", 0)
	aService(t, postgres, filled, 0)
	for _, s := range []store{{Data: sqlite, Database: empty}, {Data: postgres}} {
		refused(t, checkOf(s, nil), terminal.ExitUsage, s.Data, "is empty", "--new-database")
		if err := checkOf(s, func(s *Serve) { s.NewDatabase = true }); err != nil {
			t.Errorf("with --new-database: %v", err)
		}
	}
	for _, s := range []store{{Data: sqlite}, {Data: postgres, Database: filled}} {
		if err := checkOf(s, nil); err != nil {
			t.Errorf("the service's own database: %v", err)
		}
	}
}
