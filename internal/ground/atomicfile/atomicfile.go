// Package atomicfile writes files that must be there after a power cut.
//
// What always holds: a file appears under its name whole or not at all; when a
// function has returned without an error, its bytes and its name are on the
// disk. That takes three steps, and each is useless without the others: the
// bytes are synced, the name is given in one step, and the folder that holds the
// name is synced.
//
// It leaves to others where files lie and who may read them. Start reading at
// Replace and Create; Publish is for who has written the bytes already.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Replace writes a file of that mode at path, in place of what is there.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, os.Rename, Sync)
}

// Create writes a file of that mode at path, unless one is there: then the error
// is fs.ErrExist, and that one is left alone and on the disk.
func Create(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, os.Link, Sync)
}

// Publish gives the file from the name to, in place of what is there. Both are
// in one file system.
func Publish(from, to string) error { return publish(from, to, os.Rename, Sync) }

// MkdirAll makes a folder, and what it lies in, with mode 0700 where they are
// missing.
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

// Sync makes the bytes of a file, or the names in a folder, outlive a power cut.
// Not every file system can do so for folders: those that say so do it by
// themselves, or not at all.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// write writes data beside path and gives it its name by place.
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

func publish(from, to string, place func(from, to string) error, sync func(string) error) error {
	if err := sync(from); err != nil {
		return fmt.Errorf("sync %s: %w", from, err)
	}
	placed := place(from, to) // its error names both files
	if placed != nil && !errors.Is(placed, fs.ErrExist) {
		return placed
	}
	// The file that another has just made is to be there after a power cut too.
	if err := sync(filepath.Dir(to)); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", to, err)
	}
	return placed
}
