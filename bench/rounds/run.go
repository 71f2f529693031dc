// Package rounds compares a subject with a baseline, round after round, and prints
// the figures as a table.
//
// What always holds: the two take turns, each first in every other round; the first
// round does not count; a figure is the median of its rounds, or the worst one where
// the goal asks for that. The packages that import it decide what is measured. Start
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

// Group is a number of rows that are measured together, over one setup.
type Group struct {
	Rows []Row
	// Measure sets up, records rounds (see Run.Rounds) and cleans up, also after an
	// error. A row that it records nothing for is printed as not measured.
	Measure func(ctx context.Context, b *Run, into Record) error
}

// Run is what the groups of one run share. It is used by one goroutine at a time.
type Run struct {
	made    int              // databases made on the PostgreSQL server so far, to name them
	Count   int              // rounds that are recorded, without the warm-up
	Blender string           // path of the executable
	Sandbox *sandbox.Sandbox // for the Blender of a worker
	Folder  string           // for all files of the run; main removes it
	Title   string           // of the group being measured, for progress lines
	Swapped bool             // whether the baseline goes first in this round
}

// Rounds calls one for each round: first for a warm-up, with a record that is thrown
// away, then Count times with into. The warm-up fills caches and opens connections. It
// stops at the first error and at the end of ctx.
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

// Turns runs both, in the round's order, so that the same one does not always meet the
// busier machine. It does not run the second after an error of the first.
func (b *Run) Turns(subject, baseline func() error) error {
	if b.Swapped {
		subject, baseline = baseline, subject
	}
	if err := subject(); err != nil {
		return err
	}
	return baseline()
}

// Say prints a line of progress to standard error; the table goes to standard output.
func (b *Run) Say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "bench: %-10s %s\n", b.Title, fmt.Sprintf(format, values...))
}

// Dir makes a new folder under Folder. It is removed with Folder.
func (b *Run) Dir(pattern string) (string, error) { return os.MkdirTemp(b.Folder, pattern) }

// Scene makes a .blend with one of the scripts in scripts/scenes, once in a run, and
// returns its path. name must be different for different scripts or args: an existing
// file is returned as it is.
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

// LightScene is a scene of twenty frames with one sample each: everything other
// than rendering weighs most in it.
func (b *Run) LightScene(ctx context.Context) (string, error) {
	return b.Scene(ctx, "light.blend", "render_light.py")
}

// PlainFile is an uncompressed file just below the largest upload (spec 8).
func (b *Run) PlainFile(ctx context.Context) (string, error) {
	return b.Scene(ctx, "plain.blend", "bench_large.py", "97", "plain")
}
