package farm

import (
	"context"
	"sync"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
)

// inputCheckInterval is how often the service reads a job's files again because workers
// say that they are damaged.
const inputCheckInterval = time.Minute

// maxInputChecks bounds the jobs whose last check is remembered.
const maxInputChecks = 10_000

// inputChecks remembers when the files of which job were last read on a worker's word.
// The zero value is ready. Safe for concurrent use.
type inputChecks struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// due reports whether a job's files may be read now, and counts that as done.
func (c *inputChecks) due(jobID string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.last[jobID]; ok && now.Sub(at) < inputCheckInterval {
		return false
	}
	if c.last == nil || len(c.last) >= maxInputChecks {
		c.last = map[string]time.Time{}
	}
	c.last[jobID] = now
	return true
}

// inputReported answers a worker that says that its job's files are damaged. Its word
// alone fails no job: the service reads its own files, and fails the job if one of them
// is lost. Otherwise the attempt fails as the worker's fault, and the frame goes to
// another worker. Errors: lease_lost, also after the job has failed.
func (s *Server) inputReported(ctx context.Context, ref lease.Ref) (framecheck.Failure, error) {
	failure := framecheck.Failure{Code: fault.WorkerLost, Message: "The worker could not read the job's files."}
	jobID := frames.JobOf(ref.ID)
	uploadID, err := s.Frames.Upload(ctx, ref.Holder, jobID)
	if err != nil || !s.checks.due(jobID, time.Now()) {
		return failure, err
	}
	file, err := s.files().Lost(ctx, uploadID)
	if err != nil || file == "" {
		return failure, err
	}
	return failure, s.failInput(ctx, jobID, file)
}

// inputLost fails a job whose file the service found gone or damaged when a worker asked
// for it. It always returns an error: lease_lost when the job has failed.
func (s *Server) inputLost(ctx context.Context, jobID, uploadID string, found error) error {
	file, err := s.files().Lost(ctx, uploadID)
	if err != nil {
		return err
	}
	if file == "" {
		return found // it is there again: the worker asks once more
	}
	return s.failInput(ctx, jobID, file)
}

// failInput fails a job for a lost file. Error: lease_lost, by which workers learn that
// the job is over.
func (s *Server) failInput(ctx context.Context, jobID, file string) error {
	s.Log.Error("the file of a job is gone or damaged in the store", "job_id", jobID, "file", file)
	if err := s.Frames.FailInput(ctx, jobID, file); err != nil {
		return err
	}
	return fault.New(fault.LeaseLost, "The job has failed because its file is lost.")
}
