package caller

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/proof"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/osfile"
)

// States of a jobFile.
const (
	stateOrdered  = "ordered"  // the price was accepted; whether a job exists is not known here
	stateStarted  = "started"  // the service has the job
	stateFinished = "finished" // its frames are here, proven
	stateEnded    = "ended"    // it failed or was cancelled, and cost nothing
)

// jobFile is what job.json says. It is written before the start is sent, so that a
// command that is killed at any instant finds the quote again: starting one quote
// again returns the same job and reserves nothing more.
type jobFile struct {
	State       string `json:"state"`
	Server      string `json:"server"`
	JobID       string `json:"job_id"` // "" before the service has answered
	UploadID    string `json:"upload_id"`
	QuoteID     string `json:"quote_id"`
	Filename    string `json:"filename"`
	InputSHA256 string `json:"input_sha256"`
	// ProjectSHA256 is of the project that was sent, as its receipt states it; "" of a .blend
	// alone, and where it is not known.
	ProjectSHA256 string          `json:"project_sha256,omitempty"`
	Frames        string          `json:"frames"`                // as the command named them, "" for the scene's own
	Settings      client.Settings `json:"settings,omitzero"`     // what else was chosen of the file
	RerenderOf    string          `json:"rerender_of,omitempty"` // the job whose frames these are once more
	FrameStart    int             `json:"frame_start"`
	FrameEnd      int             `json:"frame_end"`
	FrameStep     int             `json:"frame_step"`
	FrameCount    int             `json:"frame_count"`
	FrameList     string          `json:"frame_list,omitempty"`
	PriceCents    int64           `json:"price_cents"`
	Currency      string          `json:"currency"`
	CreatedAt     time.Time       `json:"created_at"` // when the price was accepted

	folder string
	inside bool // the folder is one in that of the command, named for the job
}

// take fills in the quote's facts.
func (j *jobFile) take(q *client.Quote) {
	j.UploadID, j.QuoteID, j.Filename, j.InputSHA256 = q.UploadID, q.QuoteID, q.Filename, q.InputSHA256
	j.FrameStart, j.FrameEnd, j.FrameStep, j.FrameCount = q.FrameStart, q.FrameEnd, q.FrameStep, q.FrameCount
	j.FrameList = q.FrameList
	j.PriceCents, j.Currency = q.PriceCents, q.Currency
}

// list is what the job renders, as --frames reads it.
func (j *jobFile) list() string {
	return cmp.Or(j.FrameList, rangeText(j.FrameStart, j.FrameEnd, j.FrameStep))
}

// save writes the file as a whole.
func (j *jobFile) save() error {
	text, err := json.MarshalIndent(j, "", "  ")
	if err == nil {
		err = atomicfile.Replace(filepath.Join(j.folder, proof.JobFile), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("note the job in its folder: %w", err)
	}
	return nil
}

// create makes the folder the job's. fs.ErrExist: it is another job's. The caller holds
// the lock for orders; atomicfile.Create would do without, but needs links, which USB
// drives do not have.
func (j *jobFile) create() error {
	path := filepath.Join(j.folder, proof.JobFile)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("note the job in its folder: %s: %w", path, fs.ErrExist)
	}
	if err := os.MkdirAll(j.folder, 0o755); err != nil {
		return fmt.Errorf("create the folder for the frames: %w", err)
	}
	if err := j.save(); err != nil {
		return err
	}
	return osfile.Sync(filepath.Dir(j.folder))
}

// forget removes what create made. A folder that contains anything else stays.
func (j *jobFile) forget() error {
	err := os.Remove(filepath.Join(j.folder, proof.JobFile))
	_ = os.Remove(j.folder) // fails where it is not empty, as it should
	j.folder = ""
	return err
}

// plainID is an identifier that is safe as a folder's name, whatever a service
// sends.
var plainID = regexp.MustCompile(`^[A-Z]{3}-[0-9A-Za-z-]{1,64}$`)

// started notes the job's id and gives a folder that has the quote's name the job's.
func (j *jobFile) started(jobID string) error {
	j.JobID, j.State = jobID, stateStarted
	if err := j.save(); err != nil {
		return err
	}
	return j.rename()
}

// rename gives a folder in the command's the name of its job. A command that was
// killed before leaves this to the next one.
func (j *jobFile) rename() error {
	to := filepath.Join(filepath.Dir(j.folder), j.JobID)
	if !j.inside || to == j.folder || !plainID.MatchString(j.JobID) {
		return nil
	}
	if err := os.Rename(j.folder, to); err != nil {
		return fmt.Errorf("name the folder after its job: %w", err)
	}
	j.folder = to
	return osfile.Sync(filepath.Dir(to))
}

// readJobFile reads the job.json of a folder. fs.ErrNotExist: it has none.
func readJobFile(folder string) (*jobFile, error) {
	path := filepath.Join(folder, proof.JobFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	j := &jobFile{folder: folder}
	if err := json.Unmarshal(text, j); err == nil && j.State != "" {
		return j, nil
	}
	return nil, fmt.Errorf("%s does not describe a job of svc render; give another --out", path)
}

// jobsIn reads the jobs of out: its own, and those of the folders in it that are named
// for a job or a quote.
func jobsIn(out string) (found []*jobFile, err error) {
	folders := []string{out}
	entries, err := os.ReadDir(out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for jobs in the folder for the frames: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && plainID.MatchString(entry.Name()) {
			folders = append(folders, filepath.Join(out, entry.Name()))
		}
	}
	for _, folder := range folders {
		j, err := readJobFile(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		j.inside = folder != out
		found = append(found, j)
	}
	return found, nil
}

// sameOrder returns the newest job in out that meets the condition and has not ended
// without a result; nil where there is none.
func sameOrder(out string, meets func(*jobFile) bool) (newest *jobFile, err error) {
	all, err := jobsIn(out)
	if err != nil {
		return nil, err
	}
	for _, j := range all {
		if j.State != stateEnded && meets(j) && (newest == nil || j.CreatedAt.After(newest.CreatedAt)) {
			newest = j
		}
	}
	return newest, nil
}

// isFree reports whether a job may have out itself: it is empty, or does not exist, or
// has nothing but a job that ended without a result.
func isFree(out string) (bool, error) {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look into the folder for the frames: %w", err)
	}
	for _, entry := range entries {
		switch {
		case strings.HasPrefix(entry.Name(), lockPrefix):
		case entry.Name() == proof.JobFile:
			if j, err := readJobFile(out); err != nil || j.State != stateEnded {
				return false, nil
			}
		default:
			return false, nil
		}
	}
	return true, nil
}

// place gives a new job its folder and writes job.json there: out itself where that is
// free, otherwise a folder in out, named for the quote until it has the job's name. When
// place fails, it leaves nothing.
func place(out string, j *jobFile) error {
	free, err := isFree(out)
	if err != nil {
		return err
	}
	j.folder = out
	if free {
		// What is there has ended without a result.
		if err := os.Remove(filepath.Join(out, proof.JobFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return j.create()
	}
	name := cmp.Or(j.JobID, j.QuoteID) // a job that was started elsewhere has its name
	if !plainID.MatchString(name) {
		return fmt.Errorf("the service names a job or a quote %q, which cannot be the name of a folder", name)
	}
	j.folder, j.inside = filepath.Join(out, name), true
	return j.create()
}

// lockPrefix begins the names of the files by which processes exclude each other.
const lockPrefix = ".svc-"

// lock lets one process at a time do something in a folder. The file goes with the
// lock; a process that opened it before then holds the lock of a file without a name,
// and finds what the first one did.
func lock(folder, what string) (unlock func(), err error) {
	_, missing := os.Stat(folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("create the folder for the frames: %w", err)
	}
	path := filepath.Join(folder, lockPrefix+what)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the folder for the frames: %w", err)
	}
	// A network drive without locks is used without them.
	if err := osfile.TryLock(file); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		_ = file.Close()
		if errors.Is(err, osfile.ErrLocked) {
			return nil, fmt.Errorf("another svc render is using %s; wait for it, or give another --out", folder)
		}
		return nil, fmt.Errorf("lock the folder for the frames: %w", err)
	}
	return func() {
		_ = file.Close()
		_ = os.Remove(path) // Windows refuses while another process has it open
		if missing != nil {
			_ = os.Remove(folder) // which is empty where nothing was ordered
		}
	}, nil
}
