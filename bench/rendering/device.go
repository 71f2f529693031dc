package rendering

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"svc.example/bench/rounds"
	"svc.example/internal/work/worker"
)

// crews are the numbers of Blenders that are measured on one device.
var crews = []struct {
	name     string
	blenders int
}{{"one Blender", 1}, {"two Blenders", 2}, {"auto", worker.Auto}}

// Light frames of 3840 x 2160 with one sample, most of whose time the device waits, and heavy
// ones, which it computes nearly all the time: samples, frames, width and height.
var (
	lightFrames = []string{"1", "8", "3840", "2160"}
	heavyFrames = []string{"256", "8", "320", "180"}
)

// Device measures how busy Blenders beside each other keep a device: a job of light frames,
// and one of heavy frames, beside Blender by hand. The device is the CPU, on whose cores
// service and worker are too.
func Device() rounds.Group {
	g := rounds.Group{Measure: measureDevice}
	for _, c := range crews {
		light, heavy := rounds.RatioAtMost(0.75), rounds.RatioAtMost(1.02)
		if c.blenders == 1 {
			light = rounds.Goal{} // what the others are compared with
		}
		g.Rows = append(g.Rows,
			rounds.Row{Name: rowDevice("light", c.name), Unit: rounds.Duration, Baseline: byHandAll, Goal: light, Note: "8 frames of 3840x2160, one sample, upload to verified ZIP"},
			rounds.Row{Name: rowDevice("heavy", c.name), Unit: rounds.Duration, Baseline: byHandAll, Goal: heavy, Note: "8 frames of 256 samples, upload to verified ZIP"})
	}
	return g
}

func rowDevice(kind, crew string) string { return fmt.Sprintf("device/%s frames, %s", kind, crew) }

// measureDevice has all crews render the same job in turns with Blender by hand.
func measureDevice(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	for kind, args := range map[string][]string{"light": lightFrames, "heavy": heavyFrames} {
		file, err := b.Scene(ctx, "device-"+kind+".blend", "render_light.py", args...)
		if err != nil {
			return err
		}
		for _, c := range crews {
			err := measureCrew(ctx, b, into, c.blenders, file, rowDevice(kind, c.name))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func measureCrew(ctx context.Context, b *rounds.Run, into rounds.Record, blenders int, file, row string) (err error) {
	on, err := openFarm(ctx, b, worker.Blender{}, 1, blenders)
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
		if err == nil && len(manual.Saves) != len(job.frames) {
			err = fmt.Errorf("the service rendered %d frames, Blender by hand saved %d", len(job.frames), len(manual.Saves))
		}
		if err == nil {
			r.Add(row, job.took.Seconds(), manual.Took.Seconds())
		}
		return err
	})
}
