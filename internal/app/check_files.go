package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"svc.example/internal/ground/blob"
	"svc.example/internal/ground/db"
)

// ErrOtherFiles means that the files of the database's jobs are not in the store that was
// named.
var ErrOtherFiles = errors.New("the files of this service are elsewhere")

// sampledFiles is how many files CheckFiles looks for: one may be lost, or removed meanwhile.
const sampledFiles = 3

// CheckFiles looks for some of the scenes that a service keeps, and returns ErrOtherFiles where
// the store has none of them. A service that serves without its files would render every
// frame again, and would fail the jobs whose scenes are missing, although nothing is lost.
func CheckFiles(ctx context.Context, tx *db.Tx, cfg Config) error {
	keys, err := tx.ContentSample(ctx, sampledFiles)
	if err != nil || len(keys) == 0 {
		return err
	}
	blobs, err := readBlobs(ctx, cfg)
	if errors.Is(err, fs.ErrNotExist) { // there is no folder of files at all
		return otherFiles(cfg, keys)
	}
	if err != nil {
		return err
	}
	for _, key := range keys {
		file, missing := blobs.Open(ctx, key)
		if missing == nil {
			return file.Close()
		}
		if !errors.Is(missing, blob.ErrNotFound) {
			return missing
		}
	}
	return otherFiles(cfg, keys)
}

func otherFiles(cfg Config, keys []string) error {
	return fmt.Errorf("%w: %s has none of the %d that were looked for, such as %s; name the right store with --data or --blobs, or start without them with --lost-files",
		ErrOtherFiles, cmp.Or(cfg.Blobs, cfg.Data), len(keys), keys[0])
}
