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

	"golang.org/x/sync/errgroup"

	"svc.example/internal/ground/digest"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
)

// errDamaged reports that a job's files are not what the server described.
var errDamaged = errors.New("the job's file arrived damaged")

// inputDamaged is the failure code of a job whose file is lost.
const inputDamaged = "input_damaged"

// damagedTries bounds how often a damaged file is fetched again. Each try costs the whole
// file, and a disk or a proxy that damages a file three times will keep doing so.
const damagedTries = 3

// files are a job's input, in a folder of its own: the cache may evict a file while
// Blender reads it.
type files struct {
	dir   string        // "" when there is none
	scene string        // farmapi.Project.Scene
	input blender.Input // names for Blender, paths on this machine
}

func (f files) remove() {
	if f.dir != "" {
		_ = os.RemoveAll(f.dir) // if this fails, the next run empties the folder
	}
}

// fetch puts a job's files into a new folder, from the cache where possible. It waits
// for an unreachable server. Errors: a refusal, errDamaged, errUnable, ctx's.
// The caller removes the result; after an error nothing is left to remove.
func (w *Worker) fetch(ctx context.Context, job farmapi.Job) (files, error) {
	project, err := w.projectOf(ctx, job)
	if err != nil {
		return files{}, err
	}
	return w.fetchProject(ctx, job, project)
}

// projectOf asks for the project of a job. Errors are those of fetch.
func (w *Worker) projectOf(ctx context.Context, job farmapi.Job) (project farmapi.Project, err error) {
	err = w.persist(ctx, "project", func(workerID string) (err error) {
		project, err = w.cfg.Farm.Project(ctx, workerID, job.JobID)
		return err
	})
	if err == nil {
		err = checkProject(job, project)
	}
	if err != nil {
		return project, fmt.Errorf("fetch the files of job %s: %w", job.JobID, err)
	}
	return project, nil
}

// fetchProject is fetch of a job whose project is known.
func (w *Worker) fetchProject(ctx context.Context, job farmapi.Job, project farmapi.Project) (f files, err error) {
	defer func() {
		if err != nil {
			f.remove()
			err = fmt.Errorf("fetch the files of job %s: %w", job.JobID, err)
		}
	}()
	f.scene = project.Scene
	if f.dir, err = os.MkdirTemp(w.dirs.projects, "job-"); err != nil {
		return f, errors.Join(errUnable, err)
	}
	paths, err := w.fetchFiles(ctx, job.JobID, f.dir, project.Files)
	if err != nil {
		return f, err
	}
	f.input.Main = project.Main
	for _, file := range project.Files {
		f.input.Files = append(f.input.Files, blender.File{Name: file.Path, Path: paths[file.SHA256]})
	}
	sums := map[string]string{}
	for _, file := range project.Files {
		sums[file.Path] = file.SHA256
	}
	for _, a := range project.Aliases {
		if sum, ok := sums[a.Path]; ok {
			f.input.Aliases = append(f.input.Aliases, blender.File{Name: a.At, Path: paths[sum]})
		}
	}
	return f, nil
}

// checkProject refuses a project that cannot be the job's, before any of its names touches
// the disk. The hashes become file names on this machine, so nothing is taken on trust.
func checkProject(job farmapi.Job, p farmapi.Project) error {
	main := false
	for _, f := range p.Files {
		for _, sum := range append([]string{f.SHA256}, f.Parts...) {
			if !digest.Is(sum) { // it becomes a file's name
				return fmt.Errorf("%w: %q is no SHA-256", errDamaged, sum)
			}
		}
		// The job promises the hash of its main file, so a receipt never names another input
		// than the one that was rendered.
		main = main || f.Path == p.Main && f.SHA256 == job.InputSHA256
	}
	if !main {
		return fmt.Errorf("%w: its main file %q is not the job's", errDamaged, p.Main)
	}
	return nil
}

// fetchesAtOnce bounds how many files are received at once. Most files are smaller than what
// a connection carries in the time of a round trip, so one after the other would leave it
// idle.
const fetchesAtOnce = 4

// fetchFiles puts files into dir and returns their paths by SHA-256. Files that are not in
// the cache are received, several at once. Bytes with several names are stored once.
//
// Space is made before, so that the cache with the new files stays within its limit, unless
// they alone are larger.
func (w *Worker) fetchFiles(ctx context.Context, jobID, dir string, all []farmapi.File) (map[string]string, error) {
	paths := map[string]string{}
	var missing []farmapi.File
	var size int64
	for _, f := range all {
		if _, ok := paths[f.SHA256]; ok {
			continue
		}
		// The name is the hash: the project's own names are a stranger's, and are used only
		// inside Blender's folder.
		paths[f.SHA256] = filepath.Join(dir, f.SHA256)
		kept, err := w.machine.inputs.Lend(f.SHA256, paths[f.SHA256])
		if err != nil {
			return nil, errors.Join(errUnable, err)
		}
		if !kept {
			missing, size = append(missing, f), size+f.SizeBytes
		}
	}
	if err := w.machine.inputs.MakeRoom(size); err != nil {
		return nil, errors.Join(errUnable, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fetchesAtOnce)
	for _, f := range missing {
		group.Go(func() error { return w.fetchFile(ctx, jobID, f, paths[f.SHA256]) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return paths, nil
}

// fetchFile receives and verifies a file that is not in the cache, puts it at own and gives
// it to the cache. Several goroutines may call it, each for another path; if several want
// the same file, one receives it.
func (w *Worker) fetchFile(ctx context.Context, jobID string, f farmapi.File, own string) (err error) {
	done, err := w.machine.inputs.Turn(ctx, f.SHA256)
	if err != nil {
		return err
	}
	defer done()
	if kept, err := w.machine.inputs.Lend(f.SHA256, own); err != nil {
		return errors.Join(errUnable, err)
	} else if kept {
		return nil
	}
	incoming := own + ".part" // in the job's folder: another job may receive the same file
	for range damagedTries {
		err = w.persist(ctx, "input", func(workerID string) error {
			// It starts from the beginning: os.Create truncates what the last try wrote.
			return w.download(ctx, workerID, jobID, f, incoming)
		})
		if !errors.Is(err, errDamaged) {
			break
		}
	}
	if err != nil {
		_ = os.Remove(incoming) // if this fails, it goes with the job's folder
		return err
	}
	// The job's own comes first: other files may evict this one as soon as the cache has it.
	if err = blender.LinkOrCopy(incoming, own); err == nil {
		err = w.machine.inputs.Add(incoming, f.SHA256, f.SizeBytes)
	}
	if err != nil {
		return errors.Join(errUnable, err)
	}
	return nil
}

// download receives a file part by part and verifies its hash.
func (w *Worker) download(ctx context.Context, workerID, jobID string, f farmapi.File, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return errors.Join(errUnable, err)
	}
	sum := sha256.New()
	// One byte more than announced is enough to detect another file, and bounds what
	// a wrong server can write.
	left := f.SizeBytes + 1
	for _, part := range f.Parts {
		var n int64
		if n, err = w.receive(ctx, workerID, jobID, part, left, io.MultiWriter(file, sum)); err != nil {
			break
		}
		left -= n
	}
	if err := errors.Join(err, file.Close()); err != nil {
		// A full or broken disk is this machine's failure, not the job's.
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

// receive copies one part of at most size bytes. A shorter part is not noticed here: the
// hash of the whole file shows it.
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
