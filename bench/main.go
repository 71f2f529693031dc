// Command bench measures what the service promises of its speed and memory, and prints
// each figure next to a baseline that is measured in the same run.
//
// What always holds: subject and baseline take turns, in as many rounds as the flag
// says, and each goes first in every other round; a warm-up round before them does not
// count; a figure is the median of its rounds, or the worst one where the goal bounds
// memory. The ratio comes first, as the median of the rounds' own ratios, because
// machines differ and their load changes. Nothing is simulated unless a row says so:
// real Blender, real databases, real files, the service over HTTP.
//
// A missed goal is printed and is not an error. Baselines need sha256sum, PostgreSQL
// in SVC_TEST_POSTGRES and a Blender (make bench provides both). Run it in the
// repository's root.
//
// Each package below this one measures one part of the service: rendering, requests,
// storage, scale and reading. rounds is what all of them measure with. Start reading
// at groups.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"svc.example/bench/reading"
	"svc.example/bench/rendering"
	"svc.example/bench/requests"
	"svc.example/bench/rounds"
	"svc.example/bench/scale"
	"svc.example/bench/storage"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
)

// groups lists everything that is measured, in the order of the table. Groups run one
// after the other: two at once would measure each other.
func groups(device string, auditJobs, finishedJobs int) []rounds.Group {
	return slices.Concat([]rounds.Group{
		rendering.Light(), rendering.Geometry(), rendering.Textures(), rendering.Busy(), rendering.Workers(),
		rendering.DeviceLight(device), rendering.DeviceHeavy(device), rendering.DeviceScarce(), rendering.Sandbox(), rendering.ETA(), rendering.Look(), rendering.Kept(), rendering.Stills(), rendering.Movie(),
		requests.Upload(), requests.Project(), requests.API("sqlite"), requests.API("postgres"), requests.Metrics(),
		storage.Lease("sqlite"), storage.Lease("postgres"), storage.ReceiptLog("sqlite"), storage.ReceiptLog("postgres"),
		requests.Leaderboard("sqlite"), requests.Leaderboard("postgres"),
		scale.Workers("sqlite"), scale.Workers("postgres"), scale.Watchers("sqlite"), scale.Watchers("postgres"),
		scale.Looks("sqlite"), scale.Looks("postgres"), scale.Processes(), scale.SmallMachines(), scale.Streams(),
		storage.Webhook("sqlite"), storage.Webhook("postgres"), storage.Console(), storage.Audit("sqlite", auditJobs), storage.Audit("postgres", auditJobs),
		storage.Finished("postgres", finishedJobs), storage.Search("sqlite"), storage.Search("postgres"),
		reading.Small(), reading.Plain(), reading.Zstd(),
	}, scale.Neighbours("sqlite"), scale.Neighbours("postgres"))
}

// main reads the flags and measures. It exits with 1 when something could not be
// measured, and with 0 for any figures.
func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:])) // a worker starts its own binary in the sandbox
	}
	only := flag.String("only", "", "measure only rows whose name matches this `regexp`")
	count := flag.Int("rounds", 5, "rounds to measure, each with one turn of subject and baseline")
	device := flag.String("device", rendering.Processor, "what the rows device/light and device/heavy render on: cpu, or Cycles' `name` of a kind of GPU, such as cuda")
	auditJobs := flag.Int("audit-jobs", storage.AuditJobs, "finished jobs in the store that is audited, 10 or more")
	finishedJobs := flag.Int("finished-jobs", storage.FinishedJobs, "finished jobs in the store that callers ask, 1000 or more")
	inspect := flag.String(reading.InspectFlag, "", "inspect this `file` and print time and memory as JSON; the benchmark starts itself with it")
	attack := flag.Bool(scale.AttackFlag, false, "attack the service that standard input names; the benchmark starts itself with it")
	flag.Parse()
	err := errors.New("-rounds must be 1 or more, -audit-jobs 10 or more, -finished-jobs 1000 or more, and there are no arguments besides flags")
	switch {
	case *inspect != "":
		err = reading.InspectAlone(*inspect, os.Stdout)
	case *attack:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err = scale.Attack(ctx, os.Stdin, os.Stdout)
		stop()
	case *count >= 1 && *auditJobs >= 10 && *finishedJobs >= 1000 && flag.NArg() == 0:
		err = run(*only, *count, groups(*device, *auditJobs, *finishedJobs))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the groups that have a wanted row and prints the table. After an error
// it prints what was measured before: some groups take many minutes.
func run(only string, count int, all []rounds.Group) error {
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
	box, err := rendering.OpenSandbox(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "svc-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	b := &rounds.Run{Count: count, Blender: path, Sandbox: box, Folder: folder}
	var t rounds.Table
	for _, g := range all {
		rows := matching(g.Rows, wanted)
		if len(rows) == 0 {
			continue
		}
		into := rounds.Record{}
		b.Title = strings.SplitN(rows[0].Name, "/", 2)[0]
		err = g.Measure(ctx, b, into)
		t.Add(rows, into)
		if err != nil {
			err = fmt.Errorf("measure %s: %w", b.Title, err)
			break
		}
	}
	t.Print(os.Stdout)
	return err
}

// matching returns the rows whose name matches. A group with one wanted row is measured
// as a whole; only the wanted rows are printed.
func matching(rows []rounds.Row, wanted *regexp.Regexp) []rounds.Row {
	var some []rounds.Row
	for _, r := range rows {
		if wanted.MatchString(r.Name) {
			some = append(some, r)
		}
	}
	return some
}
