package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"svc.example/client"
)

// What a scale run is made of.
const (
	scaleWorkers  = 1000
	scaleFrames   = 10000 // the largest job there is
	scaleFew      = 10    // workers of the baseline
	scaleFewShare = 10    // which renders a tenth of the frames
	scaleFrame    = 50 * time.Millisecond
)

// scaleGroup has a thousand synthetic workers render the largest job on one
// server, a process of its own, and then audits the store: no frame is lost, and
// none is there twice. Beside it a tenth of the frames on ten workers. It is one
// round, however many are asked for.
func scaleGroup(engine string) group {
	rate, memory := "scale/"+engine+" frames a second", "scale/"+engine+" server memory"
	baseline := fmt.Sprintf("%d workers, %d frames", scaleFew, scaleFrames/scaleFewShare)
	note := fmt.Sprintf("%d workers in one process beside the server, %d frames, each leased, fetched for, delivered, accepted; one round", scaleWorkers, scaleFrames)
	return group{
		rows: []row{
			{name: rate, unit: perSecond, baseline: baseline, goal: ratioAtLeast(0.7), note: note},
			{name: memory, unit: size, baseline: baseline, goal: under(512e6, size), note: "most that was resident"},
		},
		measure: func(ctx context.Context, b *bench, into record) error {
			few, err := b.scaleRun(ctx, engine, scaleFew, scaleFrames/scaleFewShare)
			if err != nil {
				return err
			}
			many, err := b.scaleRun(ctx, engine, scaleWorkers, scaleFrames)
			if err != nil {
				return err
			}
			into.add(rate, many.rate, few.rate)
			into.add(memory, many.memory, few.memory)
			return nil
		},
	}
}

// scaled is what came of a run.
type scaled struct {
	rate   float64 // frames a second, from the first that was accepted to the last
	memory float64 // bytes of the server
}

func (b *bench) scaleRun(ctx context.Context, engine string, workers, frames int) (out scaled, err error) {
	s, err := b.serve(ctx, engine)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	stop, err := s.crowd(ctx, workers, scaleFrame)
	if err != nil {
		return out, err
	}
	defer stop()
	b.say("%s: %d workers are there, %d frames begin", engine, workers, frames)
	job, err := s.start(ctx, frames)
	if err != nil {
		return out, err
	}
	var first, last time.Time
	job, err = s.client.Follow(ctx, job.JobID, func(e client.Event) {
		if e.Frame == nil {
			return
		}
		if last = time.Now(); first.IsZero() {
			first = last
		}
		if e.Frame.FramesCompleted%(scaleFrames/10) == 0 {
			b.say("%s: %d frames are in", engine, e.Frame.FramesCompleted)
		}
	})
	if err != nil {
		return out, err
	}
	if job.Status != client.StatusCompleted || job.FramesCompleted != frames {
		return out, fmt.Errorf("the job is %s with %d of %d frames: %+v", job.Status, job.FramesCompleted, frames, job.Failure)
	}
	out.rate = float64(frames) / last.Sub(first).Seconds()
	if out.memory, err = memory(s.process.Process.Pid, "VmHWM"); err != nil {
		return out, err
	}
	return out, s.audit(ctx)
}

// start has frames 1 to n rendered.
func (s *scaleServer) start(ctx context.Context, n int) (*client.Job, error) {
	file, err := os.Open(s.scene)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	first := 1
	quote, err := s.client.Inspect(ctx, client.InspectRequest{Filename: "scale.blend", Body: file, FrameStart: &first, FrameEnd: &n})
	if err != nil {
		return nil, err
	}
	return s.client.Start(ctx, quote.UploadID, quote.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1})
}

// watchGroup has a crowd follow one job, and measures how old a change is when
// they hear of it. Beside it one watcher alone.
func watchGroup(engine string) group {
	name := fmt.Sprintf("watch/%s %d watchers, age of 99 %% of the events", engine, scaleWatchers)
	return group{
		rows: []row{{
			name: name, unit: duration, baseline: "one watcher", goal: under(0.1, duration),
			note: fmt.Sprintf("%d frames, each %s, with previews; watchers in one process beside the server", watchFrames, watchFrame),
		}},
		measure: func(ctx context.Context, b *bench, into record) (err error) {
			s, err := b.serve(ctx, engine)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.stop()) }()
			stop, err := s.crowd(ctx, 1, watchFrame)
			if err != nil {
				return err
			}
			defer stop()
			return b.rounds(ctx, into, func(r record) error {
				var many, one float64
				err := b.turns(func() (err error) {
					many, err = s.watched(ctx, scaleWatchers)
					return err
				}, func() (err error) {
					one, err = s.watched(ctx, 1)
					return err
				})
				r.add(name, many, one)
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

// watched renders a job under the eyes of n watchers and returns the age, in
// seconds, that 99 of 100 events they heard of a changed job did not exceed.
func (s *scaleServer) watched(ctx context.Context, n int) (float64, error) {
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
			heard, err := s.watch(ctx, open, job.JobID)
			ages <- heard
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
	return percentile(all, 0.99)
}
