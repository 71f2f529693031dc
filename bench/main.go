// Command bench measures what the service promises of its speed and memory, and
// prints each figure beside a baseline that is measured in the same run.
//
// What always holds: subject and baseline take turns, in as many rounds as asked
// for and each first in every other one, after one round that does not count; a
// figure is the median of its rounds (the worst where the goal is a bound on
// memory); the ratio, the median of the rounds' own, stands first, since machines
// differ and their load changes; nothing is simulated: real Blender, real
// databases, real files, the service over HTTP.
//
// A missed goal is told and is no error. Baselines need sha256sum, PostgreSQL in
// SVC_TEST_POSTGRES and a Blender (make bench brings both). Run it in the
// repository's root. Start reading at groups; a group has a file of its own and
// rows.go says what a row is.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/sandbox"
)

// group is rows that are measured together.
type group struct {
	rows []row
	// measure sets up, records rounds (see bench.rounds) and cleans up.
	measure func(ctx context.Context, b *bench, into record) error
}

// groups lists everything that is measured, in the order of the table.
func groups() []group {
	return []group{
		renderGroup(), geometryGroup(), textureGroup(), busyGroup(), workersGroup(), sandboxGroup(), uploadGroup(),
		apiGroup("sqlite"), apiGroup("postgres"), leaseGroup("sqlite"), leaseGroup("postgres"),
		receiptLogGroup("sqlite"), receiptLogGroup("postgres"), leaderboardGroup("sqlite"), leaderboardGroup("postgres"),
		scaleGroup("sqlite"), scaleGroup("postgres"), watchGroup("sqlite"), watchGroup("postgres"),
		webhookGroup("sqlite"), webhookGroup("postgres"),
		smallFileGroup(), plainFileGroup(), zstdFileGroup(),
	}
}

// bench is what a run has at hand.
type bench struct {
	made    int              // databases on the server so far
	count   int              // rounds that are recorded
	blender string           // path of the executable
	sandbox *sandbox.Sandbox // that a worker's Blender runs in
	folder  string           // of everything the run writes; removed at its end
	title   string           // of the group under way, for progress lines
	swapped bool             // whether the baseline goes first in this round
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:])) // the inner half of a worker's sandbox
	}
	only := flag.String("only", "", "measure only rows whose name matches this `regexp`")
	rounds := flag.Int("rounds", 5, "how often subject and baseline take turns")
	inspect := flag.String(inspectFlag, "", "inspect this `file` and print what it took as JSON; the benchmark runs itself so")
	flag.Parse()
	err := errors.New("-rounds must be 1 or more, and nothing stands behind the flags")
	switch {
	case *inspect != "":
		err = inspectAlone(*inspect, os.Stdout)
	case *rounds >= 1 && flag.NArg() == 0:
		err = run(*only, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the groups that have a wanted row and prints the table. What was
// measured before an error is printed too.
func run(only string, rounds int) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return err
	}
	box, err := openSandbox(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "svc-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	b := &bench{count: rounds, blender: path, sandbox: box, folder: folder}
	var t table
	for _, g := range groups() {
		rows := matching(g.rows, wanted)
		if len(rows) == 0 {
			continue
		}
		into := record{}
		b.title = strings.SplitN(rows[0].name, "/", 2)[0]
		if err = g.measure(ctx, b, into); err != nil {
			err = fmt.Errorf("measure %s: %w", b.title, err)
			break
		}
		t.add(rows, into)
	}
	t.print(os.Stdout)
	return err
}

func matching(rows []row, wanted *regexp.Regexp) []row {
	var some []row
	for _, r := range rows {
		if wanted.MatchString(r.name) {
			some = append(some, r)
		}
	}
	return some
}

// rounds calls one for the round that does not count, with a record that is
// thrown away, and then as often as asked for.
func (b *bench) rounds(ctx context.Context, into record, one func(record) error) error {
	began := time.Now()
	for n := range b.count + 1 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		round, name := into, fmt.Sprintf("round %d of %d", n, b.count)
		if n == 0 {
			round, name = record{}, "warming up"
		}
		b.swapped = n%2 == 1
		b.say("%s (%.0f s so far, load %s)", name, time.Since(began).Seconds(), load())
		if err := one(round); err != nil {
			return err
		}
	}
	return nil
}

// turns does both, in the order that is the round's, so that neither has always
// the fresher machine.
func (b *bench) turns(subject, baseline func() error) error {
	if b.swapped {
		subject, baseline = baseline, subject
	}
	if err := subject(); err != nil {
		return err
	}
	return baseline()
}

// say prints a line of progress.
func (b *bench) say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "bench: %-10s %s\n", b.title, fmt.Sprintf(format, values...))
}

// dir makes a folder of this run.
func (b *bench) dir(pattern string) (string, error) { return os.MkdirTemp(b.folder, pattern) }

// scene makes a .blend with one of the committed Blender scripts, once a run.
func (b *bench) scene(ctx context.Context, name, script string, args ...string) (path string, err error) {
	path = filepath.Join(b.folder, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	b.say("making %s", name)
	command := append([]string{"--background", "--factory-startup", "--python-exit-code", "1",
		"--python", filepath.Join("scripts", "scenes", script), "--", path}, args...)
	_, err = b.byHand(ctx, command...)
	return path, err
}
