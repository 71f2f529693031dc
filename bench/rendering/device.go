package rendering

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
	"svc.example/internal/work/worker/blenders"
)

// crews are the numbers of Blenders that are measured on one device.
var crews = []struct {
	name     string
	blenders int
}{{"one Blender", 1}, {"two Blenders", 2}, {"auto", blenders.Auto}}

// Processor is the device of the groups that render on no GPU.
const Processor = "cpu"

// DeviceLight measures light frames of 3840 x 2160 with one sample, during which the device
// often waits. Where the device is the processor, service and worker are on its cores too:
// where Blender by hand keeps them busy for 0.88 of the time, only less work gives a ratio
// below. device is Processor, or Cycles' name of a kind of GPU, "cuda"; so it is below.
func DeviceLight(device string) rounds.Group {
	return deviceJob{"light frames", device, []string{"1", "8", "3840", "2160"}, 0, rounds.RatioAtMost(0.75), rounds.RatioAtMost(0.75)}.group("8 frames of 3840x2160, one sample, upload to verified ZIP")
}

// DeviceHeavy measures heavy frames, which the device computes nearly all the time.
func DeviceHeavy(device string) rounds.Group {
	samples, width, height := "256", "320", "180"
	if device != Processor {
		samples, width, height = "4096", "1920", "1080"
	}
	return deviceJob{"heavy frames", device, []string{samples, "8", width, height}, 0, rounds.RatioAtMost(1.02), rounds.RatioAtMost(1.02)}.group(
		fmt.Sprintf("8 frames of %sx%s, %s samples, upload to verified ZIP", width, height, samples))
}

// DeviceScarce measures light frames of a device that is one core, with the others free, as
// with a GPU.
func DeviceScarce() rounds.Group {
	return deviceJob{"light frames on one core", Processor, []string{"1", "8", "1920", "1080"}, 1, rounds.Goal{}, rounds.RatioAtMost(0.75)}.group("8 frames of 1920x1080, one sample, one thread, upload to verified ZIP")
}

// deviceJob is what a device renders.
type deviceJob struct {
	kind        string
	device      string   // Processor or a kind of GPU
	scene       []string // samples, frames, width and height
	threads     int      // of Blender; 0 for all cores
	alone, more rounds.Goal
}

func (j deviceJob) row(crew string) string { return fmt.Sprintf("device/%s, %s", j.kind, crew) }

// group has Blender by hand and every crew render the job in turns. All crews are open
// together; one that has nothing to do takes no time of the device.
func (j deviceJob) group(note string) rounds.Group {
	g := rounds.Group{Measure: j.measure}
	for _, c := range crews {
		goal := j.more
		if c.blenders == 1 {
			goal = j.alone
		}
		g.Rows = append(g.Rows, rounds.Row{Name: j.row(c.name), Unit: rounds.Duration, Baseline: byHandAll, Goal: goal, Note: note})
	}
	return g
}

func (j deviceJob) measure(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	file, err := b.Scene(ctx, fmt.Sprintf("device-%s.blend", j.kind), "render_light.py", j.scene...)
	if err != nil {
		return err
	}
	farms, err := j.openFarms(ctx, b)
	defer func() {
		for _, on := range farms {
			err = errors.Join(err, on.stop())
		}
	}()
	if err != nil {
		return err
	}
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		took := make([]time.Duration, len(crews))
		var manual time.Duration
		err := b.Turns(func() error {
			for n, on := range farms {
				job, err := on.render(ctx, b, file)
				if err != nil {
					return fmt.Errorf("%s: %w", crews[n].name, err)
				}
				took[n] = job.took
			}
			return nil
		}, func() (err error) {
			manual, err = j.byHand(ctx, b, file)
			return err
		})
		for n, c := range crews {
			if err == nil {
				r.Add(j.row(c.name), took[n].Seconds(), manual.Seconds())
			}
		}
		return err
	})
}

// openFarms opens a service for each crew. Those that are open are returned with an error too.
func (j deviceJob) openFarms(ctx context.Context, b *rounds.Run) (farms []*service, err error) {
	device := blender.CPU
	if j.device != Processor {
		device = blender.GPU
	}
	for _, c := range crews {
		on, err := openFarm(ctx, b, worker.Blender{Threads: j.threads}, device, 1, c.blenders)
		if err != nil {
			return farms, err
		}
		farms = append(farms, on)
	}
	return farms, nil
}

// byHand renders the file as a person does from a shell.
func (j deviceJob) byHand(ctx context.Context, b *rounds.Run, file string) (time.Duration, error) {
	out, err := b.Dir("manual-")
	if err != nil {
		return 0, err
	}
	args := []string{"-t", strconv.Itoa(j.threads), "-b", file, "-o", filepath.Join(out, "frame_####"), "-a"}
	if j.device != Processor {
		args = append(args, "--", "--cycles-device", strings.ToUpper(j.device))
	}
	run, err := b.ByHand(ctx, args...)
	if got, want := len(run.Saves), j.scene[1]; err == nil && strconv.Itoa(got) != want {
		err = fmt.Errorf("blender by hand saved %d frames, not %s", got, want)
	}
	return run.Took, err
}
