package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"svc.example/internal/ground/blob"
)

// Folder checks that the data folder can be written, by a file that is removed again.
func Folder(path string) Finding {
	const check = "data_folder"
	err := write(path)
	change := "Look at its disk (findmnt, dmesg): it must be sound, and mounted for writing"
	switch {
	case err == nil:
		return fine(check)
	case errors.Is(err, fs.ErrPermission):
		change = "Run this as the user of the service: runuser -u svc -- svc admin doctor"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		change = "Free space on its disk, or enlarge it"
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // without the name of a file that is not there
	}
	return wrong(check, change, "%s cannot be written: %v", path, err)
}

// write writes a small file in a folder, to the disk, and removes it.
func write(folder string) error {
	file, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 4096))
	return errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
}

// Objects checks that a store of files can be written, by an object that is deleted again.
func Objects(ctx context.Context, store blob.Store) Finding {
	const check = "object_store"
	if err := blob.Probe(ctx, store); err != nil {
		return wrong(check, "Correct --blobs, or the credentials for it; restart svc after you change its credentials", "%v", err)
	}
	return fine(check)
}
