package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTheBytesComeBeforeTheNameAndTheFolderLast: in another order a power cut
// leaves a name without its bytes, or no name.
func TestTheBytesComeBeforeTheNameAndTheFolderLast(t *testing.T) {
	t.Parallel()
	for what, place := range map[string]func(from, to string) error{"rename": os.Rename, "link": os.Link} {
		dir := t.TempDir()
		path := filepath.Join(dir, "secret")
		var did []string
		sync := func(synced string) error {
			name := "bytes"
			if synced == dir {
				name = "folder"
			} else if text, err := os.ReadFile(synced); string(text) != "text" {
				t.Errorf("%s: synced as %q, error %v", what, text, err)
			}
			did = append(did, name)
			return Sync(synced)
		}
		named := func(from, to string) error {
			did = append(did, "name")
			return place(from, to)
		}
		if err := write(path, []byte("text"), 0o600, named, sync); err != nil {
			t.Fatal(err)
		}
		if want := []string{"bytes", "name", "folder"}; !slices.Equal(did, want) {
			t.Errorf("%s: it did %v", what, did)
		}
	}
}

func TestAFileThatCannotBeSyncedIsNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, broken := filepath.Join(dir, "secret"), errors.New("the disk is gone")
	err := write(path, []byte("text"), 0o600, os.Rename, func(string) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, error %v", left, err)
	}
}

func TestAFolderThatCannotBeSyncedIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := errors.New("the disk is gone")
	err := write(filepath.Join(dir, "secret"), []byte("text"), 0o600, os.Rename, func(path string) error {
		if path == dir {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsWrittenHasItsModeAndNothingElseIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for i, text := range []string{"first", "second"} {
		if err := Replace(path, []byte(text), fs.FileMode(0o600+i*0o044)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err := errors.Join(err, statErr); err != nil || string(got) != text || info.Mode().Perm() != fs.FileMode(0o600+i*0o044) {
			t.Errorf("%q of mode %v, error %v", got, info.Mode(), err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left over: %v, error %v", left, err)
	}
}

func TestCreateNeverReplaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := Create(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second file at once: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "first" {
		t.Errorf("%q, error %v", text, err)
	}
}

func TestPublishedPartsLoseTheirName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	part, path := filepath.Join(dir, "file.part"), filepath.Join(dir, "file")
	if err := os.WriteFile(part, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Publish(part, path); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the part is still there: %v", err)
	}
	if err := Publish(part, path); err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("a part that is not there: %v", err)
	}
}
