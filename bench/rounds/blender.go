package rounds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// BlenderRun is one run of Blender as a person starts it from a shell.
type BlenderRun struct {
	Began time.Time     // when the process was started
	Took  time.Duration // until it had ended
	Lines []string      // of its output, standard error included
	// Begins and Saves are when frames began and when their pictures were saved, as
	// Blender's output shows it. A line is seen shortly after what it reports.
	Begins, Saves []time.Time
}

// ByHand runs Blender to its end. An error of Blender's contains its output. The frame
// number in the "Fra:" lines shows when a new frame begins: Blender prints many such
// lines for one frame.
func (b *Run) ByHand(ctx context.Context, args ...string) (BlenderRun, error) {
	command := exec.CommandContext(ctx, b.Blender, args...)
	out, err := command.StdoutPipe()
	if err != nil {
		return BlenderRun{}, err
	}
	command.Stderr = command.Stdout
	run := BlenderRun{Began: time.Now()}
	if err := command.Start(); err != nil {
		return BlenderRun{}, err
	}
	lines, frame := bufio.NewScanner(out), ""
	for lines.Scan() {
		line := lines.Text()
		run.Lines = append(run.Lines, line)
		number, rendering := strings.CutPrefix(strings.SplitN(line, " ", 2)[0], "Fra:")
		switch {
		case rendering && number != frame:
			frame = number
			run.Begins = append(run.Begins, time.Now())
		case strings.HasPrefix(line, "Saved: "):
			run.Saves = append(run.Saves, time.Now())
		}
	}
	err = errors.Join(lines.Err(), command.Wait())
	run.Took = time.Since(run.Began)
	if err != nil {
		return run, fmt.Errorf("run Blender by hand: %w\n%s", err, strings.Join(run.Lines, "\n"))
	}
	return run, nil
}

// Gaps are the seconds between a frame's end and the next one's begin.
func (r BlenderRun) Gaps() []float64 {
	var all []float64
	for i := 1; i < min(len(r.Begins), len(r.Saves)+1); i++ {
		all = append(all, r.Begins[i].Sub(r.Saves[i-1]).Seconds())
	}
	return all
}

// Share is the share of the time that frames took, of the time from the first frame's
// begin to the last one's end. There must be at least one frame.
func (r BlenderRun) Share() float64 {
	var rendering float64
	for i := range r.Saves {
		rendering += r.Saves[i].Sub(r.Begins[i]).Seconds()
	}
	return rendering / r.Saves[len(r.Saves)-1].Sub(r.Begins[0]).Seconds()
}
