package rendering

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/work/worker"
)

// rowETA is of all scenes together: its median is that of their errors.
const rowETA = "eta/error of the estimate after three frames"

// etaFrames is how many frames are in when the estimate is read.
const etaFrames = 3

// etaScenes are the scripts of the scenes that are estimated, with their arguments.
var etaScenes = [][]string{
	{"render_light.py"}, {"render_light.py", "48", "12"}, {"render_geometry.py"}, {"render_textures.py"},
}

// ETA measures how wrong eta_seconds is after three frames of each scene.
func ETA() rounds.Group {
	return rounds.Group{
		Rows: []rounds.Row{{
			Name: rowETA, Unit: rounds.Percent, Baseline: "as many times the mean of the three as frames are left", Goal: rounds.Under(0.25, rounds.Percent),
			Note: "four scenes, 12 or 20 frames, on the CPU",
		}},
		Measure: measureETA,
	}
}

func measureETA(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	on, err := openOne(ctx, b, worker.Blender{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.stop()) }()
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		for _, scene := range etaScenes {
			file, err := b.Scene(ctx, fmt.Sprintf("eta-%s-%d.blend", scene[0], len(scene)), scene[0], scene[1:]...)
			if err != nil {
				return err
			}
			if err := on.estimate(ctx, r, file); err != nil {
				return err
			}
		}
		return nil
	})
}

// estimate renders a file and records how wrong its estimate was.
func (s *service) estimate(ctx context.Context, r rounds.Record, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	s.watch.clear()
	quote, err := s.client.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(path), Body: file})
	if err != nil {
		return err
	}
	job, err := s.client.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		return err
	}
	var seen *client.Job
	var at time.Time
	last, err := s.client.Wait(ctx, job.JobID, func(e client.Event) {
		if seen == nil && e.Job != nil && e.Job.FramesCompleted >= etaFrames && e.Job.ETASeconds != nil {
			seen, at = e.Job, time.Now()
		}
	})
	if err != nil {
		return err
	}
	frames := s.watch.clear()
	if last.Status != client.StatusCompleted || seen == nil || seen.FramesCompleted >= len(frames) {
		return fmt.Errorf("the job ended as %s, and was never estimated after %d of %d frames: %+v", last.Status, etaFrames, len(frames), last.Failure)
	}
	left := frames[len(frames)-1].ended.Sub(at).Seconds()
	mean := at.Sub(frames[0].began).Seconds() / float64(seen.FramesCompleted)
	wrong := func(eta float64) float64 { return math.Abs(eta-left) / left }
	r.Add(rowETA, wrong(*seen.ETASeconds), wrong(mean*float64(len(frames)-seen.FramesCompleted)))
	return s.ready(ctx)
}
