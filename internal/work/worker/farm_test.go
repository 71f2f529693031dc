package worker_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"svc.example/internal/work/farmapi"
)

// server is a farm in memory that keeps the contract of the farm API: one holder a
// frame, attempts that rise, leases that lapse without a heartbeat.
type server struct {
	mu        sync.Mutex
	changed   chan struct{} // closed and replaced at each change
	input     []byte
	jobs      []*job
	workers   []string // known ids
	names     []string // that they registered with, in the same order
	down      bool
	deliverIn time.Duration // how long an upload takes
	leaseLife time.Duration
	fails     []farmapi.FailRequest
	released  []string
	left      []string      // workers that said their last word
	inputs    int           // times a file was fetched
	partIn    time.Duration // how long that takes
	beats     []time.Time
	beatIn    time.Duration // how long a heartbeat takes
	cutOff    int           // heartbeats that the worker did not wait for
	after     *int          // the highest last frame that the worker said it has
}

type job struct {
	id      string
	scene   string // farmapi.Project's
	plays   bool
	frames  []*frame
	preview *farmapi.Preview
}

type frame struct {
	number, attempt int
	lease, holder   string
	until           time.Time
	done            *farmapi.FrameResult
	image           []byte
	closed          bool // no longer handed out
}

var errDown = errors.New("connection refused")

func newServer(frames int) *server {
	s := &server{changed: make(chan struct{}), input: []byte("a scene"), leaseLife: 20 * time.Second}
	if frames > 0 {
		s.add("JOB-1", frames)
	}
	return s
}

func (s *server) add(id string, frames int) { s.addOf("", id, frames) }

// addOf adds a job of a scene.
func (s *server) addOf(scene, id string, frames int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &job{id: id, scene: scene}
	for n := range frames {
		j.frames = append(j.frames, &frame{number: n + 1})
	}
	s.jobs = append(s.jobs, j)
	s.wake()
}

// addPreview orders a free preview of frame 1.
func (s *server) addPreview(id string) {
	s.change(func() {
		s.jobs = append(s.jobs, &job{id: id, frames: []*frame{{number: 1}}, preview: &farmapi.Preview{Side: 640, Samples: 32, Seconds: 60}})
	})
}

// wake notifies waiters of a change; s.mu is held.
func (s *server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// change runs do under the server's lock.
func (s *server) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	s.wake()
}

// wait returns when what holds of the server.
func (s *server) wait(ctx context.Context, what func() bool) error {
	for {
		s.mu.Lock()
		ok, changed := what(), s.changed
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// delivered are the numbers of a job's finished frames; s.mu is held.
func (s *server) delivered() (numbers []int) {
	for _, j := range s.jobs {
		for _, f := range j.frames {
			if f.done != nil {
				numbers = append(numbers, f.number)
			}
		}
	}
	return numbers
}

func refusal(status int, code string) error {
	return &farmapi.Error{Status: status, Code: code, Message: code, Retryable: code == "worker_not_registered"}
}

// enter begins every call; s.mu is held when it succeeds.
func (s *server) enter(workerID string) error {
	s.mu.Lock()
	switch {
	case s.down:
		s.mu.Unlock()
		return errDown
	case workerID != "" && !slices.Contains(s.workers, workerID):
		s.mu.Unlock()
		return refusal(404, "worker_not_registered")
	}
	return nil
}

// frameTime is what a frame may take here.
const frameTime = 30 * time.Minute

func (s *server) Register(_ context.Context, req farmapi.RegisterRequest) (farmapi.RegisterReply, error) {
	if err := s.enter(""); err != nil {
		return farmapi.RegisterReply{}, err
	}
	defer s.mu.Unlock()
	id := fmt.Sprintf("W%d", len(s.workers)+1)
	s.workers, s.names = append(s.workers, id), append(s.names, req.Name)
	s.wake()
	return farmapi.RegisterReply{OK: true, WorkerID: id, LeaseSeconds: s.leaseLife.Seconds(), HeartbeatSeconds: 5, FrameSeconds: frameTime.Seconds()}, nil
}

func (s *server) Lease(ctx context.Context, req farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	deadline, cancel := context.WithTimeout(ctx, time.Duration(req.WaitSeconds*float64(time.Second)))
	defer cancel()
	for {
		if err := s.enter(req.WorkerID); err != nil {
			return farmapi.LeaseReply{}, err
		}
		reply, changed := s.hand(req), s.changed
		s.mu.Unlock()
		if len(reply.Leases) > 0 {
			return reply, nil
		}
		select {
		case <-changed:
		case <-deadline.Done():
			return farmapi.LeaseReply{OK: true}, ctx.Err()
		}
	}
}

// hand leases frames of one job, preferably of the requested one; s.mu is held.
func (s *server) hand(req farmapi.LeaseRequest) farmapi.LeaseReply {
	if req.After != nil && (s.after == nil || *req.After > *s.after) {
		s.after = req.After
	}
	jobs := slices.Clone(s.jobs)
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return place(a, req) - place(b, req)
	})
	for _, j := range jobs {
		if j.preview != nil && (!req.Previews || slices.ContainsFunc(j.frames, func(f *frame) bool { return f.holder == req.WorkerID })) {
			continue
		}
		reply := farmapi.LeaseReply{OK: true}
		waiting := 0
		for _, f := range j.frames {
			switch {
			case f.closed || f.done != nil || f.holder != "" && time.Now().Before(f.until):
			case len(reply.Leases) == req.Max:
				waiting++
			default:
				f.attempt++
				f.lease, f.holder, f.until = fmt.Sprintf("%s/%d", j.id, f.number), req.WorkerID, time.Now().Add(s.leaseLife)
				reply.Leases = append(reply.Leases, farmapi.Lease{LeaseID: f.lease, Attempt: f.attempt, Frame: f.number})
			}
		}
		if len(reply.Leases) > 0 {
			sum := sha256.Sum256(s.input)
			reply.Job = &farmapi.Job{JobID: j.id, InputSHA256: hex.EncodeToString(sum[:]), FramesWaiting: waiting, Preview: j.preview, Plays: j.plays}
			return reply
		}
	}
	return farmapi.LeaseReply{OK: true}
}

// place orders what a worker may get: its open job, other jobs, previews.
func place(j *job, req farmapi.LeaseRequest) int {
	switch {
	case j.preview != nil:
		return 2
	case j.id != req.JobID:
		return 1
	}
	return 0
}

// held finds the frame of a lease that is still the attempt's; s.mu is held.
func (s *server) held(lease string, attempt int) *frame {
	for _, j := range s.jobs {
		for _, f := range j.frames {
			if f.lease == lease && f.attempt == attempt && f.holder != "" && f.done == nil && !f.closed {
				return f
			}
		}
	}
	return nil
}

func (s *server) Heartbeat(ctx context.Context, req farmapi.HeartbeatRequest) (reply farmapi.HeartbeatReply, err error) {
	<-time.After(s.beatIn)
	if err := s.enter(req.WorkerID); err != nil {
		return reply, err
	}
	defer s.mu.Unlock()
	s.beats = append(s.beats, time.Now())
	if ctx.Err() != nil {
		s.cutOff++
	}
	for _, h := range req.Leases {
		if f := s.held(h.LeaseID, h.Attempt); f != nil {
			f.until = time.Now().Add(s.leaseLife)
		} else {
			reply.Lost = append(reply.Lost, h.LeaseID)
		}
	}
	return reply, nil
}

func (s *server) Project(_ context.Context, workerID, jobID string) (farmapi.Project, error) {
	if err := s.enter(workerID); err != nil {
		return farmapi.Project{}, err
	}
	defer s.mu.Unlock()
	whole := sha256.Sum256(s.input)
	sum := hex.EncodeToString(whole[:])
	scene := ""
	for _, j := range s.jobs {
		if j.id == jobID {
			scene = j.scene
		}
	}
	return farmapi.Project{OK: true, Main: "scene.blend", Scene: scene, Files: []farmapi.File{
		{Path: "scene.blend", SHA256: sum, SizeBytes: int64(len(s.input)), Parts: []string{sum}},
	}}, nil
}

func (s *server) Strip(context.Context, string, string, string, int64) (io.ReadCloser, error) {
	return nil, errors.New("no frame of this server is cut")
}

func (s *server) Part(_ context.Context, workerID, _, _ string, _ int64) (io.ReadCloser, error) {
	<-time.After(s.partIn)
	if err := s.enter(workerID); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	s.inputs++
	return io.NopCloser(bytes.NewReader(s.input)), nil
}

func (s *server) Deliver(ctx context.Context, result farmapi.FrameResult, image io.Reader, _ ...io.Reader) error {
	select {
	case <-time.After(s.deliverIn):
	case <-ctx.Done():
		return ctx.Err()
	}
	body, err := io.ReadAll(image)
	if err != nil {
		return err
	}
	if err := s.enter(result.WorkerID); err != nil {
		return err
	}
	defer s.mu.Unlock()
	f := s.held(result.LeaseID, result.Attempt)
	if f == nil {
		return refusal(409, "lease_lost")
	}
	f.done, f.image = &result, body
	s.wake()
	return nil
}

func (s *server) Fail(_ context.Context, req farmapi.FailRequest) error {
	if err := s.enter(req.WorkerID); err != nil {
		return err
	}
	defer s.mu.Unlock()
	f := s.held(req.LeaseID, req.Attempt)
	if f == nil {
		return refusal(409, "lease_lost")
	}
	f.closed = true
	s.fails = append(s.fails, req)
	s.wake()
	return nil
}

func (s *server) Release(_ context.Context, req farmapi.ReleaseRequest) error {
	if err := s.enter(req.WorkerID); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, h := range req.Leases {
		if f := s.held(h.LeaseID, h.Attempt); f != nil {
			f.holder = ""
			s.released = append(s.released, h.LeaseID)
		}
	}
	if req.Leaving {
		s.left = append(s.left, req.WorkerID)
	}
	s.wake()
	return nil
}
