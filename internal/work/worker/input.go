package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"svc.example/internal/ground/farmapi"
)

// errDamaged says that a job's file arrived otherwise than the server described it.
var errDamaged = errors.New("the job's file arrived damaged")

// damagedTries is how often a damaged file is asked for again.
const damagedTries = 3

// fetch returns where a job's file lies: in the cache, into which it is received
// and checked by its hash when it is not there yet. A server that is not there is
// waited for. Errors: refused, errDamaged, errUnable, ctx's.
func (w *Worker) fetch(ctx context.Context, job farmapi.Job) (path string, err error) {
	if !isSum(job.InputSHA256) {
		return "", fmt.Errorf("fetch the file of job %s: %w: %q is no SHA-256", job.JobID, errDamaged, job.InputSHA256)
	}
	path, ok, err := w.inputs.find(job.InputSHA256)
	if err == nil && !ok {
		err = w.inputs.room(job.InputSizeBytes)
	}
	if err != nil {
		return "", errors.Join(errUnable, err)
	}
	if ok {
		return path, nil
	}
	part := w.inputs.path("part")
	for range damagedTries {
		err = w.persist(ctx, "input", func(workerID string) error {
			return w.download(ctx, workerID, job, part)
		})
		if !errors.Is(err, errDamaged) {
			break
		}
	}
	if err != nil {
		_ = os.Remove(part) // else the next file overwrites it
		return "", fmt.Errorf("fetch the file of job %s: %w", job.JobID, err)
	}
	if path, err = w.inputs.add(part, job.InputSHA256, job.InputSizeBytes); err != nil {
		return "", errors.Join(errUnable, err)
	}
	return path, nil
}

func (w *Worker) download(ctx context.Context, workerID string, job farmapi.Job, path string) error {
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
