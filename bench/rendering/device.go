package rendering

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"svc.example/bench/rounds"
	"svc.example/internal/work/worker"
)

// crews are the numbers of Blenders that are measured on one device.
var crews = []struct {
	name     string
	blenders int
}{{"one Blender", 1}, {"two Blenders", 2}, {"auto", worker.Auto}}

// DeviceLight measures light frames of 3840 x 2160 with one sample, during which the
// device often waits. The device is the CPU, on whose cores service and worker are too, so there is a
// bound: where Blender by hand keeps the cores busy for 0.88 of the time, no ratio is below.
func DeviceLight() rounds.Group {
	return deviceJob{"light frames", []string{"1", "8", "3840", "2160"}, 0, rounds.Goal{}, rounds.RatioAtMost(0.75)}.group("8 frames of 3840x2160, one sample, upload to verified ZIP")
}

// DeviceHeavy measures heavy frames, which the device computes nearly all the time.
func DeviceHeavy() rounds.Group {
	return deviceJob{"heavy frames", []string{"256", "8", "320", "180"}, 0, rounds.RatioAtMost(1.02), rounds.RatioAtMost(1.02)}.group("8 frames of 256 samples, upload to verified ZIP")
}

// DeviceScarce measures light frames of a device that is one core, beside which the others are
// free, as they are beside a GPU.
func DeviceScarce() rounds.Group {
	return deviceJob{"light frames on one core", []string{"1", "8", "1920", "1080"}, 1, rounds.Goal{}, rounds.RatioAtMost(0.75)}.group("8 frames of 1920x1080, one sample, one thread, upload to verified ZIP")
}

// deviceJob is what a device renders.
type deviceJob struct {
	kind        string
	scene       []string // samples, frames, width and height
	threads     int      // of Blender; 0 for all cores
	alone, more rounds.Goal
}

// group has every crew render the job in turns with Blender by hand.
func (j deviceJob) group(note string) rounds.Group {
	row := func(crew string) string { return fmt.Sprintf("device/%s, %s", j.kind, crew) }
	g := rounds.Group{Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
		file, err := b.Scene(ctx, fmt.Sprintf("device-%s.blend", j.kind), "render_light.py", j.scene...)
		for _, c := range crews {
			if err == nil {
				err = measureCrew(ctx, b, into, worker.Blender{Threads: j.threads}, c.blenders, file, row(c.name))
			}
		}
		return err
	}}
	for _, c := range crews {
		goal := j.more
		if c.blenders == 1 {
			goal = j.alone
		}
		g.Rows = append(g.Rows, rounds.Row{Name: row(c.name), Unit: rounds.Duration, Baseline: byHandAll, Goal: goal, Note: note})
	}
	return g
}

func measureCrew(ctx context.Context, b *rounds.Run, into rounds.Record, blender worker.Blender, blenders int, file, row string) (err error) {
	on, err := openFarm(ctx, b, blender, 1, blenders)
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
			manual, err = b.ByHand(ctx, "-t", strconv.Itoa(blender.Threads), "-b", file, "-o", filepath.Join(out, "frame_####"), "-a")
			return err
		})
		if err == nil && len(manual.Saves) != len(job.frames) {
			err = fmt.Errorf("the service rendered %d frames, Blender by hand saved %d", len(job.frames), len(manual.Saves))
		}
		if err == nil {
			r.Add(row, job.took.Seconds(), manual.Took.Seconds())
		}
		return err
	})
}
