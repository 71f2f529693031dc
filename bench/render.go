package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"svc.example/internal/work/worker"
)

// Rows of one job each: they are measured in the same run of it.
const (
	rowWhole   = "render/20 light frames, upload to verified ZIP"
	rowFirst   = "render/start answered to first frame begun"
	rowGap     = "render/end of a frame to begin of the next"
	rowHeavy   = "geometry/20 frames, upload to verified ZIP"
	rowTexture = "textures/20 frames, upload to verified ZIP"
	rowShare   = "busy/share of a job's time that Blender renders"
	rowTwo     = "workers/two of one thread each"
)

const byHandAll = "blender -b FILE -a by hand"

// renderGroup measures a whole job of the light scene on a service with a warm
// worker inside, beside Blender rendering the same frames from a shell.
func renderGroup() group {
	return group{
		rows: []row{
			{name: rowWhole, unit: duration, baseline: byHandAll, goal: ratioAtMost(0.75), note: "320x180, one sample, on the CPU"},
			{name: rowFirst, unit: duration, baseline: "blender by hand, from its start to its first frame", goal: under(0.05, duration),
				note: "file fetched and opened in between"},
			{name: rowGap, unit: duration, baseline: "blender by hand, saved to next begun", goal: under(0.01, duration)},
		},
		measure: func(ctx context.Context, b *bench, into record) error {
			return measureJob(ctx, b, into, "render_light.py", func(r record, job rendered, hand handRun) {
				r.add(rowWhole, job.took.Seconds(), hand.took.Seconds())
				r.add(rowFirst, job.frames[0].began.Sub(job.answered).Seconds(), hand.begins[0].Sub(hand.began).Seconds())
				gaps := r.of(rowGap)
				gaps.subject, gaps.baseline = append(gaps.subject, job.gaps()...), append(gaps.baseline, hand.gaps()...)
			})
		},
	}
}

// heavyGroup measures a whole job of a scene whose preparation weighs most.
func heavyGroup(name, script, note string) group {
	return group{
		rows: []row{{name: name, unit: duration, baseline: byHandAll, goal: ratioAtMost(0.6), note: note}},
		measure: func(ctx context.Context, b *bench, into record) error {
			return measureJob(ctx, b, into, script, func(r record, job rendered, hand handRun) {
				r.add(name, job.took.Seconds(), hand.took.Seconds())
			})
		},
	}
}

func geometryGroup() group {
	return heavyGroup(rowHeavy, "render_geometry.py", "800,000 triangles, 320x180, on the CPU")
}

func textureGroup() group {
	return heavyGroup(rowTexture, "render_textures.py", "eight pictures of 2048x2048, 320x180, on the CPU")
}

// A scene of frames that take a second and more: samples and frames.
var longFrames = []string{"48", "8"}

// busyGroup measures how much of a job's time, from the first frame's begin to the
// last one's end, is Blender's own.
func busyGroup() group {
	return group{
		rows: []row{{name: rowShare, unit: percent, baseline: "blender by hand", goal: over(0.95, percent), note: "8 frames of a second and more; a watched job, one in eight, renders some twice"}},
		measure: func(ctx context.Context, b *bench, into record) error {
			return measureJob(ctx, b, into, "render_light.py", func(r record, job rendered, hand handRun) {
				r.add(rowShare, job.share(), hand.share())
			}, longFrames...)
		},
	}
}

// measureJob renders a scene by the service and by hand in turns.
func measureJob(ctx context.Context, b *bench, into record, script string, add func(record, rendered, handRun), args ...string) (err error) {
	file, err := b.scene(ctx, script+"-"+fmt.Sprint(len(args))+".blend", script, args...)
	if err != nil {
		return err
	}
	house, err := openHouse(ctx, b, worker.Blender{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, house.stop()) }()
	return b.rounds(ctx, into, func(r record) error {
		var job rendered
		var hand handRun
		err := b.turns(func() (err error) {
			job, err = house.render(ctx, b, file)
			return err
		}, func() error {
			out, err := b.dir("hand-")
			if err != nil {
				return err
			}
			hand, err = b.byHand(ctx, "-b", file, "-o", filepath.Join(out, "frame_####"), "-a")
			return err
		})
		if err != nil {
			return err
		}
		if len(hand.saves) != len(job.frames) || len(hand.begins) != len(hand.saves) {
			return fmt.Errorf("the service rendered %d frames, Blender by hand began %d and saved %d", len(job.frames), len(hand.begins), len(hand.saves))
		}
		add(r, job, hand)
		return nil
	})
}

// workersGroup measures what a second worker adds. Each Blender has one thread, so
// that two of them have a core each.
func workersGroup() group {
	return group{
		rows:    []row{{name: rowTwo, unit: duration, baseline: "one such worker", goal: ratioAtMost(1 / 1.8), note: "8 frames; 0.556x is 1.8 times as fast; needs two free cores"}},
		measure: measureWorkers,
	}
}

func measureWorkers(ctx context.Context, b *bench, into record) (err error) {
	file, err := b.scene(ctx, "long.blend", "render_light.py", longFrames...)
	if err != nil {
		return err
	}
	alone, err := openFarm(ctx, b, worker.Blender{Threads: 1}, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alone.stop()) }()
	pair, err := openFarm(ctx, b, worker.Blender{Threads: 1}, 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	return b.rounds(ctx, into, func(r record) error {
		var one, two rendered
		err := b.turns(func() (err error) {
			two, err = pair.render(ctx, b, file)
			return err
		}, func() (err error) {
			one, err = alone.render(ctx, b, file)
			return err
		})
		if err == nil {
			r.add(rowTwo, two.took.Seconds(), one.took.Seconds())
		}
		return err
	})
}
