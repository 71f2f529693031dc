package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestADeviceOrAPipeIsWrittenToAndStaysOne: whoever runs as root may name /dev/stdout, and a
// rename would replace it for every program of the machine.
func TestADeviceOrAPipeIsWrittenToAndStaysOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "stdout")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link} {
		read := make(chan string, 1)
		go func() {
			text, err := os.ReadFile(pipe)
			read <- string(text)
			if err != nil {
				t.Errorf("read %s: %v", path, err)
			}
		}()
		if err := Replace(path, []byte("text"), 0o600); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
			t.Fatalf("%s is no pipe any more: %v, error %v", path, info, err)
		}
		if got := <-read; got != "text" {
			t.Errorf("%s: read %q", path, got)
		}
		draft := filepath.Join(dir, "draft")
		if err := os.WriteFile(draft, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Publish(draft, path); !errors.Is(err, ErrNoFile) {
			t.Errorf("%s: published, error %v", path, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("left over: %v, error %v", left, err)
	}
}
