// Package scale measures a server under a thousand workers or a thousand watchers.
//
// What always holds: the server is a process of its own, so that its memory is its own;
// its store is audited after the workers' run. Workers are synthetic: they render
// nothing. Start reading at Workers.
package scale

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
)

// What a scale run is made of.
const (
	scaleWorkers  = 1000
	scaleFrames   = 10000     // the largest job there is
	credit        = 1_000_000 // cents, for any number of runs
	scaleFew      = 10        // workers of the baseline
	scaleFewShare = 10        // which renders a tenth of the frames
	scaleFrame    = 50 * time.Millisecond
)

// wide are limits that never answer: they are not what is measured.
var wide = []string{"--rate-per-minute", "60000", "--rate-burst", "10000", "--open-requests", "2000", "--job-watchers", "2000"}

// Workers has a thousand synthetic workers render the largest job on one server and then
// audits the store: no frame is lost, and none is there twice. The baseline is a tenth
// of the frames on ten workers, so the ratio is what the crowd costs. It is one round,
// regardless of -rounds, because it takes minutes.
func Workers(engine string) rounds.Group {
	rate, memory := "scale/"+engine+" frames a second", "scale/"+engine+" server memory"
	baseline := fmt.Sprintf("%d workers, %d frames", scaleFew, scaleFrames/scaleFewShare)
	note := fmt.Sprintf("%d workers in one process next to the server, %d frames, each leased, fetched for, delivered, accepted; one round", scaleWorkers, scaleFrames)
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rate, Unit: rounds.PerSecond, Baseline: baseline, Goal: rounds.RatioAtLeast(0.7), Note: note},
			{Name: memory, Unit: rounds.Size, Baseline: baseline, Goal: rounds.Under(512e6, rounds.Size), Note: "most that was resident"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			few, err := scaleRun(ctx, b, engine, scaleFew, scaleFrames/scaleFewShare)
			if err != nil {
				return err
			}
			many, err := scaleRun(ctx, b, engine, scaleWorkers, scaleFrames)
			if err != nil {
				return err
			}
			into.Add(rate, many.rate, few.rate)
			into.Add(memory, many.memory, few.memory)
			return nil
		},
	}
}

// scaled is the result of one run.
type scaled struct {
	rate   float64 // frames per second, from the first accepted frame to the last
	memory float64 // most that was resident in the server, in bytes
}

// scaleRun renders one job with so many workers on a new server and audits its store.
func scaleRun(ctx context.Context, b *rounds.Run, engine string, workers, frames int) (out scaled, err error) {
	s, err := serve(ctx, b, engine, wide...)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	stop, err := s.startWorkers(ctx, workers, scaleFrame)
	if err != nil {
		return out, err
	}
	defer stop()
	b.Say("%s: %d workers are registered, %d frames begin", engine, workers, frames)
	job, err := s.start(ctx, frames)
	if err != nil {
		return out, err
	}
	var first, last time.Time
	job, err = s.client.Wait(ctx, job.JobID, func(e client.Event) {
		if e.Frame == nil {
			return
		}
		if last = time.Now(); first.IsZero() {
			first = last
		}
		if e.Frame.FramesCompleted%(scaleFrames/10) == 0 {
			b.Say("%s: %d frames are accepted", engine, e.Frame.FramesCompleted)
		}
	})
	if err != nil {
		return out, err
	}
	if job.Status != client.StatusCompleted || job.FramesCompleted != frames {
		return out, fmt.Errorf("the job is %s with %d of %d frames: %+v", job.Status, job.FramesCompleted, frames, job.Failure)
	}
	out.rate = float64(frames) / last.Sub(first).Seconds()
	if out.memory, err = rounds.Memory(s.process.Process.Pid, "VmHWM"); err != nil {
		return out, err
	}
	return out, s.audit(ctx)
}

// start uploads the scene and starts a job over frames 1 to n.
func (s *server) start(ctx context.Context, n int) (*client.Job, error) {
	return s.startAs(ctx, s.client, n)
}

// startAs is start for another caller.
func (s *server) startAs(ctx context.Context, c *client.Client, n int) (*client.Job, error) {
	file, err := os.Open(s.scene)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	first := 1
	quote, err := c.Inspect(ctx, client.InspectRequest{Filename: "scale.blend", Body: file, FrameStart: &first, FrameEnd: &n})
	if err != nil {
		return nil, err
	}
	return c.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
}

// Watchers has a thousand clients follow one job and measures how old a change is when
// they receive it. The baseline is one watcher alone.
func Watchers(engine string) rounds.Group {
	name := fmt.Sprintf("watch/%s %d watchers, age of 99 %% of the events", engine, scaleWatchers)
	return rounds.Group{
		Rows: []rounds.Row{{
			Name: name, Unit: rounds.Duration, Baseline: "one watcher", Goal: rounds.Under(0.1, rounds.Duration),
			Note: fmt.Sprintf("%d frames, each %s, with previews; watchers in one process next to the server", watchFrames, watchFrame),
		}},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
			s, err := serve(ctx, b, engine, wide...)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.stop()) }()
			stop, err := s.startWorkers(ctx, 1, watchFrame)
			if err != nil {
				return err
			}
			defer stop()
			return b.Rounds(ctx, into, func(r rounds.Record) error {
				var many, one float64
				err := b.Turns(func() (err error) {
					many, err = s.watched(ctx, scaleWatchers)
					return err
				}, func() (err error) {
					one, err = s.watched(ctx, 1)
					return err
				})
				r.Add(name, many, one)
				return err
			})
		},
	}
}

const (
	scaleWatchers = 1000
	watchFrames   = 40
	watchFrame    = 100 * time.Millisecond
)

// watched renders a job while n watchers follow it, and returns the age in seconds that
// 99 of 100 of the received changes did not exceed. All watchers share one transport
// without a limit, so that no event waits for a connection.
func (s *server) watched(ctx context.Context, n int) (float64, error) {
	job, err := s.start(ctx, watchFrames)
	if err != nil {
		return 0, err
	}
	ages := make(chan []float64, n)
	failures := make(chan error, n)
	open := &http.Client{Transport: &http.Transport{}}
	defer open.CloseIdleConnections()
	for range n {
		go func() {
			received, err := s.watch(ctx, open, job.JobID)
			ages <- received
			failures <- err
		}()
	}
	var all []float64
	for range n {
		all = append(all, <-ages...)
		if err := <-failures; err != nil {
			return 0, err
		}
	}
	return rounds.Percentile(all, 0.99)
}
