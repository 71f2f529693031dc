// Package atomicfile writes files that must be there after a power cut.
//
// What always holds: a file appears under its name whole or not at all; when a
// function has returned without an error, its bytes and its name are on the
// disk. That takes three steps, and each is useless without the others: the
// bytes are synced, the name is given in one step, and the folder that holds the
// name is synced.
//
// Callers decide where files lie and who may read them. Start reading at Replace
// and Create. Publish is for callers that have already written the bytes.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/robustio"

	"svc.example/internal/ground/osfile"
)

// Replace writes a file of that mode at path, in place of what is there. A reader sees
// the old bytes or the new ones, never a mixture. After a crash in between, path is as
// it was and a file named ".part-*" may be left next to it. On Windows an open file
// cannot be replaced, so it retries for 2 s. A device or a pipe, such as /dev/stdout, is
// written to instead: replaced, it would be gone for every program of the machine.
func Replace(path string, data []byte, mode fs.FileMode) error {
	if noFile(path) {
		return os.WriteFile(path, data, mode)
	}
	return write(path, data, mode, robustio.Rename, Sync)
}

// Create writes a file of that mode at path, unless one is there: then the error is
// fs.ErrExist, and the existing file stays as it is and is on the disk. If several
// processes create one path at once, exactly one succeeds.
func Create(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, os.Link, Sync)
}

// Publish gives the file at from the name to, in place of what is there. Both must
// be in one file system. from must be closed, or at least not be written any more.
// Error: ErrNoFile, and then to stays as it is.
func Publish(from, to string) error {
	if noFile(to) {
		return fmt.Errorf("write %s: %w", to, ErrNoFile)
	}
	return publish(from, to, robustio.Rename, Sync)
}

// ErrNoFile reports that a file cannot take the place of what has its name.
var ErrNoFile = errors.New("it is a device or a pipe, not a file")

// noFile reports whether path leads to something that only programs can read from or write to.
func noFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// MkdirAll makes a folder and its missing parents, with mode 0700. When it returns,
// the new entries are on the disk. Unlike os.MkdirAll it syncs each parent, because
// a file in a folder that a power cut removes is lost as well.
func MkdirAll(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := MkdirAll(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return Sync(filepath.Dir(dir))
}

// Sync makes the bytes of a file, or the names in a folder, survive a power cut, as far
// as the file system can.
func Sync(path string) error { return osfile.Sync(path) }

// write writes data to a draft next to path, which place then gives its name. The
// draft lies in the same folder because a rename or a link works only within one
// file system. The mode is set before the name, so no other user can open a secret
// in between.
func write(path string, data []byte, mode fs.FileMode, place func(from, to string) error, sync func(string) error) error {
	draft, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(draft.Name()) }() // renamed it is gone already
	_, err = draft.Write(data)
	if err := errors.Join(err, draft.Chmod(mode), draft.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return publish(draft.Name(), path, place, sync)
}

// publish is the order that the package promises: bytes, then name, then folder.
// The tests pass a place and a sync that record or fail.
func publish(from, to string, place func(from, to string) error, sync func(string) error) error {
	if err := sync(from); err != nil {
		return fmt.Errorf("sync %s: %w", from, err)
	}
	placed := place(from, to) // its error names both files
	if placed != nil && !errors.Is(placed, fs.ErrExist) {
		return placed
	}
	// A file that another process has just made must survive a power cut too.
	if err := sync(filepath.Dir(to)); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", to, err)
	}
	return placed
}
