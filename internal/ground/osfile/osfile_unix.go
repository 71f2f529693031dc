//go:build unix

package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Free returns how many bytes this user may still write into the folder.
func Free(dir string) (bytes int64, err error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

// Lock locks the file for this process, until it is closed. It waits for a holder.
func Lock(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX) }

// TryLock locks the file for this process, until it is closed. It does not wait.
// ErrLocked: another process holds it.
func TryLock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Identity distinguishes the file from others that had its name, even with the same
// size and time; "" if the file system has no such information.
func Identity(info fs.FileInfo) string {
	if file, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(file.Dev, " ", file.Ino)
	}
	return ""
}

// Sync makes the bytes of a file, or the names in a folder, survive a power cut.
// Some file systems cannot sync folders and say so; they write names automatically,
// or promise nothing. Sync counts both as success, because nothing more can be
// done.
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
