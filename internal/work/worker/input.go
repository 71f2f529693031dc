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
	"path/filepath"
	"strconv"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/farmapi"
)

// errDamaged says that a job's files arrived otherwise than the server described them.
var errDamaged = errors.New("the job's file arrived damaged")

// damagedTries is how often a damaged file is asked for again.
const damagedTries = 3

// files are a job's, in a folder of the job's own: the cache may drop what it keeps
// while they are in use.
type files struct {
	dir   string
	input blender.Input
}

func (f files) remove() { _ = os.RemoveAll(f.dir) } // the next run empties what stays

// fetch brings a job's files into a folder: from the cache, into which they are
// received and checked by their hashes when they are not there yet. A server that is
// not there is waited for. Errors: refused, errDamaged, errUnable, ctx's.
func (w *Worker) fetch(ctx context.Context, job farmapi.Job) (f files, err error) {
	defer func() {
		if err != nil {
			f.remove()
			err = fmt.Errorf("fetch the files of job %s: %w", job.JobID, err)
		}
	}()
	var project farmapi.Project
	err = w.persist(ctx, "project", func(workerID string) (err error) {
		project, err = w.cfg.Farm.Project(ctx, workerID, job.JobID)
		return err
	})
	if err == nil {
		err = checkProject(job, project)
	}
	if err != nil {
		return f, err
	}
	if f.dir, err = os.MkdirTemp(w.dirs.projects, "job-"); err != nil {
		return f, errors.Join(errUnable, err)
	}
	f.input.Main = project.Main
	for i, file := range project.Files {
		path, err := w.fetchFile(ctx, job.JobID, file)
		if err != nil {
			return f, err
		}
		// Numbered: a stranger's name is one only inside Blender's folder. Where a file
		// cannot have two names the cache's serves.
		own := filepath.Join(f.dir, strconv.Itoa(i))
		if os.Link(path, own) != nil {
			own = path
		}
		f.input.Files = append(f.input.Files, blender.File{Name: file.Path, Path: own})
	}
	return f, nil
}

// checkProject refuses a project that cannot be the job's.
func checkProject(job farmapi.Job, p farmapi.Project) error {
	main := false
	for _, f := range p.Files {
		for _, sum := range append([]string{f.SHA256}, f.Parts...) {
			if !isSum(sum) { // it becomes a file's name
				return fmt.Errorf("%w: %q is no SHA-256", errDamaged, sum)
			}
		}
		main = main || f.Path == p.Main && f.SHA256 == job.InputSHA256
	}
	if !main {
		return fmt.Errorf("%w: its main file %q is not the job's", errDamaged, p.Main)
	}
	return nil
}

// fetchFile returns where a file lies in the cache.
func (w *Worker) fetchFile(ctx context.Context, jobID string, f farmapi.File) (path string, err error) {
	path, ok, err := w.inputs.find(f.SHA256)
	if err == nil && !ok {
		err = w.inputs.room(f.SizeBytes)
	}
	if err != nil {
		return "", errors.Join(errUnable, err)
	}
	if ok {
		return path, nil
	}
	incoming := w.inputs.path("part")
	for range damagedTries {
		err = w.persist(ctx, "input", func(workerID string) error {
			return w.download(ctx, workerID, jobID, f, incoming)
		})
		if !errors.Is(err, errDamaged) {
			break
		}
	}
	if err != nil {
		_ = os.Remove(incoming) // else the next file overwrites it
		return "", err
	}
	if path, err = w.inputs.add(incoming, f.SHA256, f.SizeBytes); err != nil {
		return "", errors.Join(errUnable, err)
	}
	return path, nil
}

// download receives a file part by part.
func (w *Worker) download(ctx context.Context, workerID, jobID string, f farmapi.File, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return errors.Join(errUnable, err)
	}
	sum := sha256.New()
	// One byte more than announced is enough to know that it is another file.
	left := f.SizeBytes + 1
	for _, part := range f.Parts {
		var n int64
		if n, err = w.receive(ctx, workerID, jobID, part, left, io.MultiWriter(file, sum)); err != nil {
			break
		}
		left -= n
	}
	if err := errors.Join(err, file.Close()); err != nil {
		var disk *fs.PathError
		if errors.As(err, &disk) {
			return errors.Join(errUnable, err)
		}
		return err
	}
	n := f.SizeBytes + 1 - left
	if got := hex.EncodeToString(sum.Sum(nil)); n != f.SizeBytes || got != f.SHA256 {
		return fmt.Errorf("%w: %d bytes of SHA-256 %s, not %d of %s", errDamaged, n, got, f.SizeBytes, f.SHA256)
	}
	return nil
}

// receive passes on a part of at most size bytes.
func (w *Worker) receive(ctx context.Context, workerID, jobID, part string, size int64, to io.Writer) (int64, error) {
	in, err := w.cfg.Farm.Part(ctx, workerID, jobID, part, size)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	n, err := io.Copy(to, io.LimitReader(in, size))
	if err != nil {
		return n, fmt.Errorf("receive: %w", err)
	}
	return n, nil
}
