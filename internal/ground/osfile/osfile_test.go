package osfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestALockHasOneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	first, second := open(), open()
	if err := TryLock(first); err != nil {
		t.Fatal(err)
	}
	if err := TryLock(second); !errors.Is(err, ErrLocked) {
		t.Errorf("a second holder gets %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := TryLock(second); err != nil {
		t.Errorf("the lock of a closed file is kept: %v", err)
	}
}

func TestAFileInAnothersPlaceIsAnother(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, other := filepath.Join(folder, "file"), filepath.Join(folder, "other")
	identity := func() string {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return Identity(info)
	}
	for _, name := range []string{path, other} {
		if err := os.WriteFile(name, []byte("same"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := identity()
	if before == "" || before != identity() {
		t.Fatalf("one file is %q and %q", before, identity())
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if identity() == before {
		t.Error("the file in its place has the same identity")
	}
}

func TestAFolderTellsWhatIsFree(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if free, err := Free(folder); err != nil || free <= 0 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	if _, err := Free(filepath.Join(folder, "missing")); err == nil {
		t.Error("a missing folder has space")
	}
}

func TestFilesAndFoldersAreSynced(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	if err := os.WriteFile(path, []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Sync(path), Sync(folder)); err != nil {
		t.Error(err)
	}
	if err := Sync(filepath.Join(folder, "missing")); err == nil {
		t.Error("a missing file is synced")
	}
}
