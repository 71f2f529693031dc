// Package rounds measures a subject beside a baseline, round after round, and prints
// what came of it as a table.
//
// What always holds: the two take turns, each first in every other round; the first
// round does not count; a figure is the median of its rounds, or the worst where the
// goal is a bound. It leaves what is measured to the packages that import it. Start
// reading at Run and Row.
package rounds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"svc.example/internal/ground/sandbox"
)

// Group is rows that are measured together.
type Group struct {
	Rows []Row
	// Measure sets up, records rounds (see Run.Rounds) and cleans up.
	Measure func(ctx context.Context, b *Run, into Record) error
}

// Run is what the groups of a run share.
type Run struct {
	made    int              // databases on the server so far
	Count   int              // rounds that are recorded
	Blender string           // path of the executable
	Sandbox *sandbox.Sandbox // that a worker's Blender runs in
	Folder  string           // of everything the run writes; removed at its end
	Title   string           // of the group under way, for progress lines
	Swapped bool             // whether the baseline goes first in this round
}

// Rounds calls one for the round that does not count, with a record that is
// thrown away, and then as often as the flag says.
func (b *Run) Rounds(ctx context.Context, into Record, one func(Record) error) error {
	began := time.Now()
	for n := range b.Count + 1 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		round, name := into, fmt.Sprintf("round %d of %d", n, b.Count)
		if n == 0 {
			round, name = Record{}, "warming up"
		}
		b.Swapped = n%2 == 1
		b.Say("%s (%.0f s so far, load %s)", name, time.Since(began).Seconds(), load())
		if err := one(round); err != nil {
			return err
		}
	}
	return nil
}

// Turns does both, in the order that is the round's, so that neither has always
// the fresher machine.
func (b *Run) Turns(subject, baseline func() error) error {
	if b.Swapped {
		subject, baseline = baseline, subject
	}
	if err := subject(); err != nil {
		return err
	}
	return baseline()
}

// Say prints a line of progress.
func (b *Run) Say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "bench: %-10s %s\n", b.Title, fmt.Sprintf(format, values...))
}

// Dir makes a folder of this run.
func (b *Run) Dir(pattern string) (string, error) { return os.MkdirTemp(b.Folder, pattern) }

// Scene makes a .blend with one of the committed Blender scripts, once a run.
func (b *Run) Scene(ctx context.Context, name, script string, args ...string) (path string, err error) {
	path = filepath.Join(b.Folder, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	b.Say("making %s", name)
	command := append([]string{"--background", "--factory-startup", "--python-exit-code", "1",
		"--python", filepath.Join("scripts", "scenes", script), "--", path}, args...)
	_, err = b.ByHand(ctx, command...)
	return path, err
}

// LightScene is a scene of twenty frames of one sample.
func (b *Run) LightScene(ctx context.Context) (string, error) {
	return b.Scene(ctx, "light.blend", "render_light.py")
}

// PlainFile is just below the most that may be uploaded.
func (b *Run) PlainFile(ctx context.Context) (string, error) {
	return b.Scene(ctx, "plain.blend", "bench_large.py", "97", "plain")
}
