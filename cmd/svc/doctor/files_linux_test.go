package doctor_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/cmd/svc/doctor"
	"svc.example/internal/ground/blob"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/s3test"
)

// TestADataFolderThatCannotBeWrittenIsNamed: where it can, nothing is left in it.
func TestADataFolderThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	sound := t.TempDir()
	if f := doctor.Folder(sound); !f.OK {
		t.Errorf("%+v", f)
	}
	if left, err := os.ReadDir(sound); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	file := filepath.Join(sound, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, says := range map[string]string{file: "not a directory", filepath.Join(sound, "gone"): "no such file or directory"} {
		f := doctor.Folder(folder)
		if f.OK || f.Lacks != folder+" cannot be written: "+says || !strings.Contains(f.Change, "mounted") {
			t.Errorf("%+v", f)
		}
	}
}

func TestADatabaseThatOnlyReadsIsNamed(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t, "postgres")
	for setting, want := range map[string]bool{"": false, "&default_transaction_read_only=on": true} {
		found, err := doctor.Database(t.Context(), address+setting, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, named := failed(found)["database_writes"]; named != want {
			t.Errorf("%q: %+v", setting, found)
		}
	}
}

// TestAnObjectStoreThatTakesNoWritesIsNamed: the key may read, but not write any more.
func TestAnObjectStoreThatTakesNoWritesIsNamed(t *testing.T) {
	t.Parallel()
	refusing := s3test.Proxy(t, func(pass http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			pass.ServeHTTP(w, r)
		})
	})
	for address, want := range map[string]bool{s3test.Address(t): true, s3test.AddressAt(t, refusing): false} {
		store, err := blob.ReadS3(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if f := doctor.Objects(t.Context(), store); f.OK != want || !want && !strings.Contains(f.Change, "credentials") {
			t.Errorf("%+v, want %t", f, want)
		}
	}
}
