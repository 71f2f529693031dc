package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// handRun is one run of Blender as a person starts it from a shell.
type handRun struct {
	began time.Time
	took  time.Duration
	lines []string
	// When frames began and when their pictures were saved, by Blender's lines.
	begins, saves []time.Time
}

// byHand runs Blender to its end. Its output is part of the error.
func (b *bench) byHand(ctx context.Context, args ...string) (handRun, error) {
	command := exec.CommandContext(ctx, b.blender, args...)
	out, err := command.StdoutPipe()
	if err != nil {
		return handRun{}, err
	}
	command.Stderr = command.Stdout
	run := handRun{began: time.Now()}
	if err := command.Start(); err != nil {
		return handRun{}, err
	}
	lines, frame := bufio.NewScanner(out), ""
	for lines.Scan() {
		line := lines.Text()
		run.lines = append(run.lines, line)
		number, rendering := strings.CutPrefix(strings.SplitN(line, " ", 2)[0], "Fra:")
		switch {
		case rendering && number != frame:
			frame = number
			run.begins = append(run.begins, time.Now())
		case strings.HasPrefix(line, "Saved: "):
			run.saves = append(run.saves, time.Now())
		}
	}
	err = errors.Join(lines.Err(), command.Wait())
	run.took = time.Since(run.began)
	if err != nil {
		return run, fmt.Errorf("run Blender by hand: %w\n%s", err, strings.Join(run.lines, "\n"))
	}
	return run, nil
}

// gaps are the times between a frame's end and the next one's begin.
func (r handRun) gaps() []float64 {
	var all []float64
	for i := 1; i < min(len(r.begins), len(r.saves)+1); i++ {
		all = append(all, r.begins[i].Sub(r.saves[i-1]).Seconds())
	}
	return all
}

// share is the part of the time between the first frame's begin and the last one's
// saving that frames took.
func (r handRun) share() float64 {
	var rendering float64
	for i := range r.saves {
		rendering += r.saves[i].Sub(r.begins[i]).Seconds()
	}
	return rendering / r.saves[len(r.saves)-1].Sub(r.begins[0]).Seconds()
}

// sha256sum hashes a file as a person does in a shell, and returns the seconds
// it took.
func sha256sum(ctx context.Context, path string) (float64, error) {
	began := time.Now()
	if out, err := exec.CommandContext(ctx, "sha256sum", path).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("sha256sum %s: %w: %s", path, err, out)
	}
	return time.Since(began).Seconds(), nil
}
