// Package script is the worker of a test world: it paints in place of Blender, and fails as
// a file's name asks.
//
// Start reading at Script.
package script

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/synthetic"
	"svc.example/internal/work/testmode"
	"svc.example/internal/work/worker"
)

// MostPixels is the largest picture that is painted: one of 8192x4320.
const MostPixels = 8192 * 4320

// Script is the worker of a test world, on both its sides: a worker.Renderer that paints, and
// a worker.Farm that vanishes if a file's name asks for it. It is safe for concurrent use.
type Script struct {
	worker.Farm // of the world
	// LeaseLife is how long a frame stays with a worker that is silent.
	LeaseLife time.Duration
	// Pace waits until the world may paint another frame.
	Pace func(ctx context.Context) error
	// Room returns an error when the world has no room for another picture; the error is
	// for the caller. Stored is called with the size of each picture, in bytes.
	Room   func(ctx context.Context) error
	Stored func(bytes int64)
	// End ends a job with a failure that no worker reports.
	End func(ctx context.Context, jobID, filename string, code fault.Code) error

	mu     sync.Mutex
	mains  map[string]string     // of the latest jobs, their main file by job id
	leases map[string]silentable // leased frames by lease id
}

// silentable is a leased frame that the worker may go silent about.
type silentable struct {
	jobID  string
	frame  int
	number int       // of the attempt
	since  time.Time // when the worker went silent; zero while it did not
}

// kept bounds how much a Script remembers: its worker has one job and the next.
const kept = 64

// Lease implements worker.Farm.
func (s *Script) Lease(ctx context.Context, r farmapi.LeaseRequest) (farmapi.LeaseReply, error) {
	reply, err := s.Farm.Lease(ctx, r)
	if err != nil || reply.Job == nil {
		return reply, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases == nil || len(s.leases) > kept {
		s.leases = map[string]silentable{}
	}
	for _, l := range reply.Leases {
		s.leases[l.LeaseID] = silentable{jobID: reply.Job.JobID, frame: l.Frame, number: l.Attempt}
	}
	return reply, nil
}

// Project implements worker.Farm. It is where the worker learns of a job's file, and where a
// job ends whose name asks for that.
func (s *Script) Project(ctx context.Context, workerID, jobID string) (farmapi.Project, error) {
	project, err := s.Farm.Project(ctx, workerID, jobID)
	if err != nil {
		return project, err
	}
	s.mu.Lock()
	if s.mains == nil || len(s.mains) > kept {
		s.mains = map[string]string{}
	}
	s.mains[jobID] = project.Main
	s.mu.Unlock()
	if !strings.HasPrefix(jobID, id.Job) {
		return project, nil // a free look
	}
	t := testmode.TrickOf(project.Main)
	if i := slices.IndexFunc(testmode.OfJobs(), t.Is); i >= 0 {
		return project, s.End(ctx, jobID, project.Main, testmode.OfJobs()[i])
	}
	return project, nil
}

// Heartbeat implements worker.Farm. It leaves out the frames about which the worker is silent,
// and once their leases have lapsed, it reports them lost: a worker that vanished reports
// nothing, and this one continues with other frames.
func (s *Script) Heartbeat(ctx context.Context, r farmapi.HeartbeatRequest) (farmapi.HeartbeatReply, error) {
	heard, lapsed := s.speak(r.Leases)
	r.Leases = heard
	reply, err := s.Farm.Heartbeat(ctx, r)
	reply.Lost = append(reply.Lost, lapsed...)
	return reply, err
}

func (s *Script) speak(held []farmapi.Held) (heard []farmapi.Held, lapsed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard = []farmapi.Held{} // the server takes no null
	for _, h := range held {
		l, known := s.leases[h.LeaseID]
		if !known || !s.vanishes(s.mains[l.jobID], l.frame, l.number) {
			heard = append(heard, h)
			continue
		}
		if l.since.IsZero() {
			l.since = time.Now()
			s.leases[h.LeaseID] = l
		}
		if time.Since(l.since) > s.LeaseLife {
			lapsed = append(lapsed, h.LeaseID)
		}
	}
	return heard, lapsed
}

// vanishes reports whether the worker vanishes with an attempt of a frame.
func (s *Script) vanishes(main string, frame, attempt int) bool {
	t := testmode.TrickOf(main)
	return t.On(frame) && (t.Is(fault.WorkerLost) || (t.Name == testmode.WorkerLostOnce && attempt == 1))
}

// attempt is the number of the attempt of a frame that was leased last.
func (s *Script) attempt(main string, frame int) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.leases {
		if l.frame == frame && s.mains[l.jobID] == main {
			number = max(number, l.number)
		}
	}
	return number
}

// Start implements worker.Renderer.
func (s *Script) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	paint, err := synthetic.Renderer{MostPixels: MostPixels}.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	black, err := synthetic.Renderer{MostPixels: MostPixels, Faults: map[synthetic.Fault]float64{synthetic.Black: 1}}.Start(ctx, options)
	return &session{Session: paint, black: black, script: s}, err
}

// session is one synthetic process.
type session struct {
	worker.Session
	black  worker.Session // paints black
	script *Script
	main   string // the file whose name counts; "" in a free look
}

// Open implements worker.Session.
func (s *session) Open(ctx context.Context, in blender.Input) (blender.Opened, error) {
	s.main = in.Main
	if in.Preview != nil {
		s.main = ""
	}
	if _, err := s.black.Open(ctx, in); err != nil {
		return blender.Opened{}, err
	}
	return s.Session.Open(ctx, in)
}

// Movie implements worker.MovieMaker.
func (s *session) Movie(ctx context.Context, m blender.Movie) (path string, err error) {
	return s.Session.(worker.MovieMaker).Movie(ctx, m)
}

// RenderFresh implements worker.Session.
func (s *session) RenderFresh(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	return s.Render(ctx, frame, progress)
}

// Render implements worker.Session: it paints, unless the file's name asks for
// something else.
func (s *session) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	if err := s.script.Pace(ctx); err != nil {
		return blender.Frame{}, ended(ctx)
	}
	if err := s.script.Room(ctx); err != nil {
		return blender.Frame{}, &blender.Error{Code: string(fault.OutOfMemory), Message: err.Error(), Final: true}
	}
	t := testmode.TrickOf(s.main)
	paint := s.Session
	switch {
	case !t.On(frame) && !slices.ContainsFunc(testmode.OfJobs(), t.Is):
	case slices.ContainsFunc(testmode.OfJobs(), t.Is), s.script.vanishes(s.main, frame, s.script.attempt(s.main, frame)):
		<-ctx.Done() // the lease is lost
		return blender.Frame{}, ended(ctx)
	case slices.ContainsFunc(testmode.OfFrames(), t.Is):
		return blender.Frame{}, &blender.Error{Code: t.Name, Message: fmt.Sprintf("the file's name asks for %s in test mode", t.Name), Final: true}
	case t.Name == testmode.Black:
		paint = s.black
	case t.Name == testmode.Slow:
		if !slow(ctx, progress) {
			return blender.Frame{}, ended(ctx)
		}
	}
	f, err := paint.Render(ctx, frame, progress)
	if err == nil {
		if info, err := os.Stat(f.Path); err == nil {
			s.script.Stored(info.Size())
		}
	}
	return f, err
}

// slow lets a slow frame's time pass, with progress; false when ctx ends first.
func slow(ctx context.Context, progress func(float64)) bool {
	const steps = 10
	for i := range steps {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(testmode.SlowFrame / steps):
		}
		if progress != nil {
			progress(float64(i) / steps)
		}
	}
	return true
}

// ended is the error of a frame that its caller has ended.
func ended(ctx context.Context) error {
	return &blender.Error{Code: blender.NoProgress, Message: "the frame was ended: " + context.Cause(ctx).Error()}
}
