// Package rendering measures jobs from the upload to the verified ZIP, compared with the
// same Blender started from a shell.
//
// What always holds: service, worker and Blender are the real ones; a job starts when the
// worker's next Blender is ready, as in a service that has been running. Start reading
// at Light; service.go starts the service, recorder.go notes when frames begin and end.
package rendering

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"svc.example/bench/rounds"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// Names of rows. The first three come from the same job.
const (
	rowWhole   = "render/20 light frames, upload to verified ZIP"
	rowFirst   = "render/start answered to first frame begun"
	rowGap     = "render/end of a frame to begin of the next"
	rowHeavy   = "geometry/20 frames, upload to verified ZIP"
	rowTexture = "textures/20 frames, upload to verified ZIP"
	rowShare   = "busy/share of a job's time that Blender renders"
	rowTwo     = "workers/two of one thread each"
)

// byHandAll renders all frames of a file in one process of Blender.
const byHandAll = "blender -b FILE -a by hand"

// Light measures a whole job of the light scene on a service with a warm worker
// inside, compared with Blender rendering the same frames from a shell.
func Light() rounds.Group {
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowWhole, Unit: rounds.Duration, Baseline: byHandAll, Goal: rounds.RatioAtMost(0.75), Note: "320x180, one sample, on the CPU"},
			{Name: rowFirst, Unit: rounds.Duration, Baseline: "blender by hand, from its start to its first frame", Goal: rounds.Under(0.05, rounds.Duration),
				Note: "file fetched and opened in between"},
			{Name: rowGap, Unit: rounds.Duration, Baseline: "blender by hand, saved to next begun", Goal: rounds.Under(0.01, rounds.Duration)},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return measureJob(ctx, b, into, "render_light.py", func(r rounds.Record, job rendered, manual rounds.BlenderRun) {
				r.Add(rowWhole, job.took.Seconds(), manual.Took.Seconds())
				r.Add(rowFirst, job.frames[0].began.Sub(job.answered).Seconds(), manual.Begins[0].Sub(manual.Began).Seconds())
				gaps := r.Of(rowGap)
				gaps.Subject, gaps.Baseline = append(gaps.Subject, job.gaps()...), append(gaps.Baseline, manual.Gaps()...)
			})
		},
	}
}

// heavyGroup measures a whole job of a scene that takes most of its time to prepare:
// a Blender that keeps the scene between frames prepares it once.
func heavyGroup(name, script, note string) rounds.Group {
	return rounds.Group{
		Rows: []rounds.Row{{Name: name, Unit: rounds.Duration, Baseline: byHandAll, Goal: rounds.RatioAtMost(0.6), Note: note}},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return measureJob(ctx, b, into, script, func(r rounds.Record, job rendered, manual rounds.BlenderRun) {
				r.Add(name, job.took.Seconds(), manual.Took.Seconds())
			})
		},
	}
}

// Geometry measures a scene of many triangles.
func Geometry() rounds.Group {
	return heavyGroup(rowHeavy, "render_geometry.py", "800,000 triangles, 320x180, on the CPU")
}

// Textures measures a scene of large pictures.
func Textures() rounds.Group {
	return heavyGroup(rowTexture, "render_textures.py", "eight pictures of 2048x2048, 320x180, on the CPU")
}

// A scene of frames that take a second and more: samples and frames.
var longFrames = []string{"48", "8"}

// Busy measures how much of a job's time, from the first frame's begin to the
// last one's end, is Blender's own.
func Busy() rounds.Group {
	return rounds.Group{
		Rows: []rounds.Row{{Name: rowShare, Unit: rounds.Percent, Baseline: "blender by hand", Goal: rounds.Over(0.95, rounds.Percent), Note: "8 frames of a second and more; the first job of the file renders one of them twice"}},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			return measureJob(ctx, b, into, "render_light.py", func(r rounds.Record, job rendered, manual rounds.BlenderRun) {
				r.Add(rowShare, job.share(), manual.Share())
			}, longFrames...)
		},
	}
}

// measureJob renders a scene by the service and by hand in turns. Both must render the
// same number of frames, or the figures would compare different work.
func measureJob(ctx context.Context, b *rounds.Run, into rounds.Record, script string, add func(rounds.Record, rendered, rounds.BlenderRun), args ...string) (err error) {
	file, err := b.Scene(ctx, script+"-"+fmt.Sprint(len(args))+".blend", script, args...)
	if err != nil {
		return err
	}
	on, err := openOne(ctx, b, worker.Blender{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.stop()) }()
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		var job rendered
		var manual rounds.BlenderRun
		err := b.Turns(func() (err error) {
			job, err = on.render(ctx, b, file)
			return err
		}, func() error {
			out, err := b.Dir("manual-")
			if err != nil {
				return err
			}
			manual, err = b.ByHand(ctx, "-b", file, "-o", filepath.Join(out, "frame_####"), "-a")
			return err
		})
		if err != nil {
			return err
		}
		if len(manual.Saves) != len(job.frames) || len(manual.Begins) != len(manual.Saves) {
			return fmt.Errorf("the service rendered %d frames, Blender by hand began %d and saved %d", len(job.frames), len(manual.Begins), len(manual.Saves))
		}
		add(r, job, manual)
		return nil
	})
}

// Workers measures what a second worker adds. Each Blender gets one thread, so that two
// of them have a processor core each.
func Workers() rounds.Group {
	return rounds.Group{
		Rows:    []rounds.Row{{Name: rowTwo, Unit: rounds.Duration, Baseline: "one such worker", Goal: rounds.RatioAtMost(1 / 1.8), Note: "8 frames; 0.556x is 1.8 times as fast; needs two free cores"}},
		Measure: measureWorkers,
	}
}

// measureWorkers keeps both services running throughout and gives them jobs in turns.
func measureWorkers(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	file, err := b.Scene(ctx, "long.blend", "render_light.py", longFrames...)
	if err != nil {
		return err
	}
	alone, err := openFarm(ctx, b, worker.Blender{Threads: 1}, blender.CPU, 1, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alone.stop()) }()
	pair, err := openFarm(ctx, b, worker.Blender{Threads: 1}, blender.CPU, 2, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		var one, two rendered
		err := b.Turns(func() (err error) {
			two, err = pair.render(ctx, b, file)
			return err
		}, func() (err error) {
			one, err = alone.render(ctx, b, file)
			return err
		})
		if err == nil {
			r.Add(rowTwo, two.took.Seconds(), one.took.Seconds())
		}
		return err
	})
}
