package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Free returns how many bytes this user may still write into the folder.
func Free(dir string) (bytes int64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err}
	}
	return int64(free), nil
}

// Lock locks the file for this process, until it is closed. It waits for a holder.
func Lock(file *os.File) error { return lock(file, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// TryLock locks the file for this process, until it is closed. It does not wait.
// ErrLocked: another process holds it.
func TryLock(file *os.File) error {
	err := lock(file, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

func lock(file *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
}

// Identity distinguishes the file from others that had its name, even with the same
// size and time; "" if the file system has no such information. Windows reports when
// a file was made without opening it; two files made at once have the same time.
func Identity(info fs.FileInfo) string {
	if file, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		return fmt.Sprint(file.CreationTime.Nanoseconds())
	}
	return ""
}

// Sync makes the bytes of a file survive a power cut. Windows syncs only what is open
// for writing, and no folders: NTFS writes the names of a folder in its journal.
func Sync(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
