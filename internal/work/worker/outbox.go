package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
)

// report is the result of one lease. Exactly one field is set. Its JSON is kept on disk
// across versions of the program: the members are those of the workers' API.
type report struct {
	Frame *farmapi.FrameResult `json:"frame,omitempty"` // its picture lies next to it
	Fail  *farmapi.FailRequest `json:"fail,omitempty"`
}

// lease names what the report is about. The pair is unique: a lease has one report for
// each attempt.
func (r report) lease() (id string, attempt int) {
	if r.Frame != nil {
		return r.Frame.LeaseID, r.Frame.Attempt
	}
	return r.Fail.LeaseID, r.Fail.Attempt
}

// errUnsendable reports that a report's picture is missing or truncated.
var errUnsendable = errors.New("the kept picture cannot be read whole")

// outbox keeps reports on disk until the server has answered them. A report is KEY.json and, for
// a frame, KEY.image; the folder KEY.outputs has the frame's outputs, if there are any. The .json
// is written last and makes the report count. put fsyncs the files and the folders before it
// returns. The rendering goroutine and the checks put reports; one goroutine reads, sends and
// removes them.
type outbox struct {
	dir  string
	mu   sync.Mutex
	keys []string      // in the order to send: by name at the start, then by arrival
	more chan struct{} // of capacity 1, filled by put: one wake-up serves any number
}

// openOutbox finds the reports that an earlier run could not send, and deletes pictures
// without a report. A picture without a report is one that the last run was still
// checking; its lease has lapsed or will, and the frame is rendered again.
func openOutbox(dir string) (*outbox, error) {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("make the outbox: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	o := &outbox{dir: dir, more: make(chan struct{}, 1)}
	for _, e := range entries {
		if key, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			o.keys = append(o.keys, key)
		}
	}
	for _, e := range entries {
		key := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".json"), imageEnd), outputsEnd)
		if !slices.Contains(o.keys, key) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, fmt.Errorf("clean the outbox: %w", err)
			}
		}
	}
	return o, nil
}

// The ends of a frame's files in the outbox.
const (
	imageEnd   = ".image"
	outputsEnd = ".outputs"
)

// outputsOf is the folder of the outputs of a picture in the outbox.
func outputsOf(image string) string { return strings.TrimSuffix(image, imageEnd) + outputsEnd }

// moveIn moves a frame's picture and outputs into the outbox under its lease's name, where no
// later frame overwrites them. Without put it is not a report. The renames are within one file
// system, so they cost the same for any size.
func (o *outbox) moveIn(lease farmapi.Lease, f blender.Frame) (path string, err error) {
	path = filepath.Join(o.dir, key(lease.LeaseID, lease.Attempt)+imageEnd)
	err = errors.Join(os.RemoveAll(outputsOf(path)), os.Rename(f.Path, path)) // a frame that is rendered again replaces all
	if err == nil && f.OutputDir != "" {
		err = os.Rename(f.OutputDir, outputsOf(path))
	}
	if err != nil {
		return "", fmt.Errorf("take the picture: %w", err)
	}
	return path, nil
}

// discard removes a picture that is no report, with its outputs. What stays is removed by the
// next run.
func discard(image string) {
	_ = os.Remove(image)
	_ = os.RemoveAll(outputsOf(image))
}

// key is the name of a report's files. Lease ids come from the server, and escaping keeps
// one from naming another folder.
func key(leaseID string, attempt int) string {
	return fmt.Sprintf("%s-%d", url.PathEscape(leaseID), attempt)
}

// put stores a report. moveIn has stored a frame's picture before. A crash before the
// .json leaves a picture that openOutbox deletes; after it, the next run sends the report.
// Putting the same report twice would send it twice, which the server answers alike.
func (o *outbox) put(r report) error {
	k := key(r.lease())
	if r.Frame != nil {
		image := filepath.Join(o.dir, k+imageEnd)
		err := atomicfile.Sync(image)
		for i := range r.Frame.Outputs {
			err = errors.Join(err, atomicfile.Sync(filepath.Join(outputsOf(image), strconv.Itoa(i))))
		}
		if len(r.Frame.Outputs) > 0 {
			err = errors.Join(err, atomicfile.Sync(outputsOf(image)))
		}
		if err != nil {
			return fmt.Errorf("keep the picture: %w", err)
		}
	}
	body, err := json.Marshal(r)
	if err == nil {
		err = atomicfile.Replace(filepath.Join(o.dir, k+".json"), body, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the report: %w", err)
	}
	o.mu.Lock()
	o.keys = append(o.keys, k)
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
	return nil
}

// next returns the key of the oldest report, "" when there is none.
func (o *outbox) next() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.keys) == 0 {
		return ""
	}
	return o.keys[0]
}

// read loads a report. An error means that the file is damaged or gone, which no
// repetition fixes.
func (o *outbox) read(k string) (r report, err error) {
	body, err := os.ReadFile(filepath.Join(o.dir, k+".json"))
	if err != nil {
		return report{}, err
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return report{}, err
	}
	if r.Frame == nil && r.Fail == nil {
		return report{}, errors.New("it is empty")
	}
	return r, nil
}

// remove deletes a report that the server has answered. The .json goes first, so that
// a crash leaves no report without its picture.
func (o *outbox) remove(k string) error {
	o.mu.Lock()
	o.keys = slices.DeleteFunc(o.keys, func(other string) bool { return other == k })
	o.mu.Unlock()
	err := os.Remove(filepath.Join(o.dir, k+".json"))
	if gone := os.Remove(filepath.Join(o.dir, k+imageEnd)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(o.dir, k+outputsEnd)))
}

// send delivers reports until ctx ends or, once closing is closed, until none is left.
// Reports go one at a time: a picture fills the connection, and the order of the frames
// stays.
func (w *Worker) send(ctx context.Context, closing <-chan struct{}) {
	for ctx.Err() == nil {
		k := w.out.next()
		if k == "" {
			select {
			case <-w.out.more:
				continue
			case <-ctx.Done():
			// A report may have come between next and this select.
			case <-closing:
				if w.out.next() != "" {
					continue
				}
			}
			return
		}
		if err := w.sendOne(ctx, k); err != nil {
			return // ctx has ended; the next run sends the report
		}
	}
}

// sendOne repeats one report until the server answers. It returns an error only when ctx
// ends first. The lease is dropped from the held ones only after the answer: while a large
// picture is on its way, heartbeats keep the lease alive.
func (w *Worker) sendOne(ctx context.Context, k string) error {
	r, err := w.out.read(k)
	if err != nil {
		w.log.Error("a kept report cannot be read and is dropped", "report", k, "err", err)
		return w.forget(k)
	}
	id, attempt := r.lease()
	log := w.log.With("lease_id", id, "attempt", attempt)
	first := true
	err = w.persist(ctx, "report", func(workerID string) error {
		// The first try uses the worker id that rendered the frame, which may be an
		// earlier run's: the lease belongs to it.
		err := w.deliver(ctx, k, r, workerID, first)
		first = false
		return err
	})
	if err != nil && !refused(err) {
		return err
	}
	if err != nil {
		log.Warn("the server refuses the report, it is dropped", "err", err)
	} else if r.Frame != nil {
		log.Info("frame delivered", "job_id", r.Frame.JobID, "frame", r.Frame.Frame, "seconds", r.Frame.RenderSeconds)
	}
	w.held.drop(id, attempt)
	return w.forget(k)
}

// forget removes an answered report. A file that stays is only logged: the next run sends
// it once more, and the server refuses or repeats its answer.
func (w *Worker) forget(k string) error {
	if err := w.out.remove(k); err != nil {
		w.log.Error("an answered report stays in the outbox", "report", k, "err", err)
	}
	return nil
}

// deliver makes one call. asKept leaves the worker id as it was stored; later tries use
// the current one, since the server may have registered this worker again.
func (w *Worker) deliver(ctx context.Context, k string, r report, workerID string, asKept bool) error {
	if r.Fail != nil {
		if !asKept {
			r.Fail.WorkerID = workerID
		}
		return w.cfg.Farm.Fail(ctx, *r.Fail)
	}
	if !asKept {
		r.Frame.WorkerID = workerID
	}
	image := filepath.Join(w.out.dir, k+imageEnd)
	picture, err := openWhole(image, r.Frame.SizeBytes)
	if err != nil {
		return err
	}
	defer picture.Close()
	outputs, err := openOutputs(image, r.Frame.Outputs)
	defer func() {
		for _, file := range outputs {
			_ = file.(*os.File).Close() // it was only read
		}
	}()
	if err != nil {
		return err
	}
	return w.cfg.Farm.Deliver(ctx, *r.Frame, picture, outputs...)
}

// openOutputs opens the outputs of a kept picture, as files; with an error those before it.
func openOutputs(image string, all []farmapi.Output) (files []io.Reader, err error) {
	for i, o := range all {
		file, err := openWhole(filepath.Join(outputsOf(image), strconv.Itoa(i)), o.SizeBytes)
		if err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

// openWhole opens a kept file that must have so many bytes. A server that receives less than
// announced sees only a broken connection, and the worker would repeat it forever. Error:
// errUnsendable.
func openWhole(path string, size int64) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, errors.Join(errUnsendable, err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != size {
		return nil, errors.Join(errUnsendable, err, file.Close())
	}
	return file, nil
}
