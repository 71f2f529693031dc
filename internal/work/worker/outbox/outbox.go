// Package outbox keeps a worker's results on disk until the server has answered them.
//
// What always holds: a report counts once it is written whole and fsynced, with its picture
// and outputs, and it stays over restarts of both sides until it is removed. A picture without
// a report is deleted at the next start. It sends nothing: that is left to worker. Start reading
// at Box.
package outbox

import (
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

// Report is the result of one lease. Exactly one field is set. Its JSON is kept on disk
// across versions of the program: the members are those of the workers' API.
type Report struct {
	Frame *farmapi.FrameResult `json:"frame,omitempty"` // its picture lies next to it
	Fail  *farmapi.FailRequest `json:"fail,omitempty"`
}

// Lease names what the report is about. The pair is unique: a lease has one report for
// each attempt.
func (r Report) Lease() (id string, attempt int) {
	if r.Frame != nil {
		return r.Frame.LeaseID, r.Frame.Attempt
	}
	return r.Fail.LeaseID, r.Fail.Attempt
}

// ErrUnsendable reports that a report's picture is missing or truncated.
var ErrUnsendable = errors.New("the kept picture cannot be read whole")

// Box keeps reports on disk until the server has answered them. A report is KEY.json and, for
// a frame, KEY.image; the folder KEY.outputs has the frame's outputs, if there are any. The .json
// is written last and makes the report count. Put fsyncs the files and the folders before it
// returns. The rendering goroutine and the checks put reports; one goroutine reads, sends and
// removes them.
type Box struct {
	dir  string
	mu   sync.Mutex
	keys []string      // in the order to send: by name at the start, then by arrival
	more chan struct{} // of capacity 1, filled by Put: one wake-up serves any number
}

// Open finds the reports that an earlier run could not send, and deletes pictures
// without a report. A picture without a report is one that the last run was still
// checking; its lease has lapsed or will, and the frame is rendered again.
func Open(dir string) (*Box, error) {
	if err := atomicfile.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("make the outbox: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the outbox: %w", err)
	}
	o := &Box{dir: dir, more: make(chan struct{}, 1)}
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

// OutputsOf is the folder of the outputs of a picture in the outbox.
func OutputsOf(image string) string { return strings.TrimSuffix(image, imageEnd) + outputsEnd }

// MoveIn moves a frame's picture and outputs into the outbox under its lease's name, where no
// later frame overwrites them. Without Put it is not a report. The renames are within one file
// system, so they cost the same for any size.
func (o *Box) MoveIn(lease farmapi.Lease, f blender.Frame) (path string, err error) {
	path = filepath.Join(o.dir, key(lease.LeaseID, lease.Attempt)+imageEnd)
	err = errors.Join(os.RemoveAll(OutputsOf(path)), os.Rename(f.Path, path)) // a frame that is rendered again replaces all
	if err == nil && f.OutputDir != "" {
		err = os.Rename(f.OutputDir, OutputsOf(path))
	}
	if err != nil {
		return "", fmt.Errorf("take the picture: %w", err)
	}
	return path, nil
}

// Discard removes a picture that is no report, with its outputs. What stays is removed by the
// Next run.
func Discard(image string) {
	_ = os.Remove(image)
	_ = os.RemoveAll(OutputsOf(image))
}

// key is the name of a report's files. Lease ids come from the server, and escaping keeps
// one from naming another folder.
func key(leaseID string, attempt int) string {
	return fmt.Sprintf("%s-%d", url.PathEscape(leaseID), attempt)
}

// Put stores a report. MoveIn has stored a frame's picture before. A crash before the
// .json leaves a picture that Open deletes; after it, the next run sends the report.
// Putting the same report twice would send it twice, which the server answers alike.
func (o *Box) Put(r Report) error {
	k := key(r.Lease())
	if r.Frame != nil {
		image := filepath.Join(o.dir, k+imageEnd)
		err := atomicfile.Sync(image)
		for i := range r.Frame.Outputs {
			err = errors.Join(err, atomicfile.Sync(filepath.Join(OutputsOf(image), strconv.Itoa(i))))
		}
		if len(r.Frame.Outputs) > 0 {
			err = errors.Join(err, atomicfile.Sync(OutputsOf(image)))
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

// Next returns the key of the oldest report, "" when there is none.
func (o *Box) Next() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.keys) == 0 {
		return ""
	}
	return o.keys[0]
}

// Read loads a report. An error means that the file is damaged or gone, which no
// repetition fixes.
func (o *Box) Read(k string) (r Report, err error) {
	body, err := os.ReadFile(filepath.Join(o.dir, k+".json"))
	if err != nil {
		return Report{}, err
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return Report{}, err
	}
	if r.Frame == nil && r.Fail == nil {
		return Report{}, errors.New("it is empty")
	}
	return r, nil
}

// Remove deletes a report that the server has answered. The .json goes first, so that
// a crash leaves no report without its picture.
func (o *Box) Remove(k string) error {
	o.mu.Lock()
	o.keys = slices.DeleteFunc(o.keys, func(other string) bool { return other == k })
	o.mu.Unlock()
	err := os.Remove(filepath.Join(o.dir, k+".json"))
	if gone := os.Remove(filepath.Join(o.dir, k+imageEnd)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(o.dir, k+outputsEnd)))
}

// Len is how many reports wait.
func (o *Box) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.keys)
}

// Arrived is signalled when a report was put.
func (o *Box) Arrived() <-chan struct{} { return o.more }

// Files are the files of a frame's report.
type Files struct {
	Picture io.Reader
	Outputs []io.Reader
	all     []*os.File
}

// Close closes all of them, which were only read.
func (f Files) Close() {
	for _, file := range f.all {
		_ = file.Close()
	}
}

// Open opens the files of a frame's report. Error: errUnsendable.
func (o *Box) Open(k string, frame farmapi.FrameResult) (f Files, err error) {
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	image := filepath.Join(o.dir, k+imageEnd)
	picture, err := openWhole(image, frame.SizeBytes)
	if err != nil {
		return f, err
	}
	f.Picture, f.all = picture, append(f.all, picture)
	for i, output := range frame.Outputs {
		file, err := openWhole(filepath.Join(OutputsOf(image), strconv.Itoa(i)), output.SizeBytes)
		if err != nil {
			return f, err
		}
		f.Outputs, f.all = append(f.Outputs, file), append(f.all, file)
	}
	return f, nil
}

// openWhole opens a kept file that must have so many bytes. A server that receives less than
// announced sees only a broken connection, and the worker would repeat it forever. Error:
// errUnsendable.
func openWhole(path string, size int64) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, errors.Join(ErrUnsendable, err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != size {
		return nil, errors.Join(ErrUnsendable, err, file.Close())
	}
	return file, nil
}
