package operator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/cmd/svc/terminal"
)

// TestReadingCreatesNoStore names a folder without a service's data: an audit of an
// empty store would find nothing wrong.
func TestReadingCreatesNoStore(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "mistyped")
	in := adminFlags{store: store{Data: folder}}
	for name, run := range map[string]func() error{
		"audit": func() error { return (&audit{viewFlags: viewFlags{adminFlags: in}}).Run(nil) }, "workers": func() error { return (&workerList{viewFlags: viewFlags{adminFlags: in}}).Run(nil) },
	} {
		err := run()
		if e, ok := errors.AsType[*terminal.ExitError](err); !ok || e.ExitCode() != terminal.ExitUsage || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s has made the folder: %v", name, err)
		}
	}
}

func TestFirstStepsShowNoPassword(t *testing.T) {
	t.Parallel()
	for database, want := range map[string]string{
		"":                                      "--data ./data",
		"postgres://me@db.example/svc":          "--data ./data --database postgres://me@db.example/svc",
		"postgres://me:s3cret@db.example/svc":   `--data ./data --database "$SVC_DATABASE"`,
		"postgres://db.example/svc?password=s3": `--data ./data --database "$SVC_DATABASE"`,
	} {
		if got := (store{Data: "./data", Database: database}).flags(); got != want {
			t.Errorf("%s is printed as %s", database, got)
		}
	}
}
