package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"svc.example/internal/farm"
)

// errDamaged says that a job's file arrived otherwise than the server described it.
var errDamaged = errors.New("the job's file arrived damaged")

// damagedTries is how often a damaged file is asked for again.
const damagedTries = 3

// fetch gets a job's file into the work folder and checks it by its hash; the one
// fetched last is kept and not asked for again. A server that is not there is
// waited for. Errors: refused, errDamaged, errUnable, ctx's.
func (w *Worker) fetch(ctx context.Context, job farm.Job) (path string, err error) {
	path = filepath.Join(w.dirs.inputs, url.PathEscape(job.InputSHA256)+".blend")
	if w.input == path {
		return path, nil
	}
	w.forgetInput()
	for range damagedTries {
		err = w.persist(ctx, "input", func(workerID string) error {
			return w.download(ctx, workerID, job, path)
		})
		if !errors.Is(err, errDamaged) {
			break
		}
	}
	w.input = path
	if err != nil {
		w.forgetInput()
		return "", fmt.Errorf("fetch the file of job %s: %w", job.JobID, err)
	}
	return path, nil
}

// forgetInput removes the kept file.
func (w *Worker) forgetInput() {
	if w.input == "" {
		return
	}
	if err := os.Remove(w.input); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.log.Error("a job's file stays in the work folder", "error", err)
	}
	w.input = ""
}

func (w *Worker) download(ctx context.Context, workerID string, job farm.Job, path string) error {
	in, err := w.cfg.Farm.Input(ctx, workerID, job.JobID, job.InputSizeBytes)
	if err != nil {
		return err
	}
	defer in.Close()
	file, err := os.Create(path)
	if err != nil {
		return errors.Join(errUnable, err)
	}
	sum := sha256.New()
	// One byte more than announced is enough to know that it is another file.
	n, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(in, job.InputSizeBytes+1))
	if err := errors.Join(err, file.Close()); err != nil {
		var disk *fs.PathError
		if errors.As(err, &disk) {
			return errors.Join(errUnable, err)
		}
		return fmt.Errorf("receive: %w", err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); n != job.InputSizeBytes || got != job.InputSHA256 {
		return fmt.Errorf("%w: %d bytes of SHA-256 %s, not %d of %s", errDamaged, n, got, job.InputSizeBytes, job.InputSHA256)
	}
	return nil
}
