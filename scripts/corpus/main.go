// Command corpus compares the frames of the service with those of Blender by hand
// (package internal/test/corpus says how). Run it in the repository's root:
//
//	scripts/with-blender go run ./scripts/corpus [-only REGEXP] [-files FOLDER [-projects]]
//
// With -fuzz it compares kept data in random scenes, with -pairs revisions of them (with -edits by
// these edits alone), and with -strips pictures that were rendered in strips. Each scene that is done becomes a line of a file of results; scenes that stand there as
// they should are not compared again. It exits with 1 when a scene that should be equal
// is not. -blender 4.3.2 keeps the rows of another Blender apart. With -print it compares nothing, and prints the results as docs/internal/corpus.md.
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
	"runtime"
	"slices"
	"strings"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/corpus"
)

//go:generate go run . -print -results results.jsonl -random random.jsonl -revisions revisions.jsonl -strip-results strips.jsonl -to ../../docs/internal/corpus.md

func main() {
	if code, worker := corpus.BeWorker(); worker {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:])) // a worker starts its own binary in the sandbox
	}
	var o options
	flag.StringVar(&o.only, "only", "", "compare only scenes whose name matches this `regexp`")
	flag.StringVar(&o.files, "files", "", "compare the .blend files in this `folder`, made small, in place of the made scenes")
	flag.BoolVar(&o.projects, "projects", false, "take each folder in -files for a project, and send its scenes with their files")
	flag.StringVar(&o.keep, "keep", "", "keep everything that is made in this `folder`, and continue with what an earlier run left there")
	flag.StringVar(&o.names, "blender", "", "name this `version` in the results: they stand next to those of the usual Blender")
	flag.BoolVar(&o.noSandbox, "no-sandbox", false, "run Blender outside the workers' sandbox, which one that is in a sandbox already needs")
	flag.StringVar(&o.results, "results", filepath.Join("scripts", "corpus", "results.jsonl"), "append the results to this `file`")
	flag.IntVar(&o.threads, "threads", runtime.NumCPU(), "threads of each Blender")
	flag.IntVar(&o.fuzz, "fuzz", 0, "compare kept data in `N` random scenes, in place of the service")
	flag.StringVar(&o.random, "random", filepath.Join("scripts", "corpus", "random.jsonl"), "append the results of random scenes to this `file`")
	flag.IntVar(&o.lanes, "lanes", 2, "scenes that are compared at the same time")
	flag.IntVar(&o.pairs, "pairs", 0, "compare the frames of `N` pairs of revisions, in place of the service")
	flag.StringVar(&o.revisions, "revisions", filepath.Join("scripts", "corpus", "revisions.jsonl"), "append the results of pairs to this `file`")
	flag.StringVar(&o.edits, "edits", "", "make pairs by these edits alone, `NAME,...` of internal/test/corpus/scenes/revisions.py")
	flag.BoolVar(&o.strips, "strips", false, "compare pictures of strips with those in one piece, in place of the service")
	flag.StringVar(&o.stripRows, "strip-results", filepath.Join("scripts", "corpus", "strips.jsonl"), "append the results of strips to this `file`")
	flag.StringVar(&o.device, "device", string(blender.CPU), "with -strips, what renders: cpu or gpu")
	printing := flag.Bool("print", false, "only print the results")
	to := flag.String("to", "", "print into this `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	do := o.compare
	switch {
	case *printing:
		do = func(context.Context) error { return o.printPage(*to) }
	case o.fuzz > 0:
		do = o.compareRandom
	case o.strips:
		do = o.compareStrips
	case o.pairs > 0:
		do = o.compareRevisions
	}
	if err := do(ctx); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// printPage writes the files of results as a page.
func (o options) printPage(to string) error {
	rows, err := corpus.Results(o.results)
	if err != nil {
		return err
	}
	batches, err := corpus.FuzzResults(o.random)
	if err != nil {
		return err
	}
	pairs, err := corpus.Pairs(o.revisions)
	if err != nil {
		return err
	}
	divided, err := corpus.StripRows(o.stripRows)
	if err != nil {
		return err
	}
	page := corpus.Page(rows) + corpus.FuzzPage(batches) + corpus.RevisionsPage(pairs) + corpus.StripsPage(divided)
	if to == "" {
		_, err = fmt.Print(page)
		return err
	}
	return os.WriteFile(to, []byte(page), 0o644)
}

// compareRandom continues with random scenes where this Blender's results end. It fails when
// one differs of which a worker keeps data.
func (o options) compareRandom(ctx context.Context) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(cfg.Folder) }()
	batches, err := corpus.FuzzResults(o.random)
	if err != nil {
		return err
	}
	rules, err := filepath.Abs(filepath.Join("internal", "render", "blender"))
	if err != nil {
		return err
	}
	version, err := corpus.Version(ctx, cfg.Blender)
	if err != nil {
		return err
	}
	first, wrong := 0, 0
	for _, b := range batches {
		if b.Blender == version {
			first = max(first, b.First+b.Scenes+len(b.Ended))
		}
	}
	fuzz := corpus.Fuzz{Blender: cfg.Blender, Rules: rules, Folder: cfg.Folder, Results: o.random, Report: func(b corpus.FuzzBatch) {
		wrong += len(b.Differ)
		fmt.Fprintf(os.Stderr, "%d of %d: %+v\n", b.First+b.Scenes+len(b.Ended), o.fuzz, b)
	}}
	if err := fuzz.Run(ctx, first, max(0, o.fuzz-first)); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d random scenes differ with kept data", wrong)
	}
	return nil
}

// compareRevisions continues with pairs of revisions where this Blender's results end. It fails
// when a stale frame was called unchanged.
func (o options) compareRevisions(ctx context.Context) error {
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(cfg.Folder) }()
	done, err := corpus.Pairs(o.revisions)
	if err != nil {
		return err
	}
	version, err := corpus.Version(ctx, cfg.Blender)
	if err != nil {
		return err
	}
	first, stale := 0, 0
	for _, p := range done {
		if p.Blender == version {
			first = max(first, p.Number+1)
		}
	}
	var failed error
	revisions := corpus.Revisions{Blender: cfg.Blender, Folder: cfg.Folder, Edits: strings.FieldsFunc(o.edits, func(r rune) bool { return r == ',' }), Report: func(p corpus.Pair) {
		stale += len(p.Stale)
		fmt.Fprintf(os.Stderr, "%d of %d: %+v\n", p.Number+1, o.pairs, p)
		failed = errors.Join(failed, corpus.AppendPair(o.revisions, p))
	}}
	if err := errors.Join(revisions.Run(ctx, first, max(0, o.pairs-first)), failed); err != nil {
		return err
	}
	if stale > 0 {
		return fmt.Errorf("%d frames were called unchanged and differ", stale)
	}
	return nil
}

// compareStrips compares the scenes whose names match. It fails when one is not as it should be.
func (o options) compareStrips(ctx context.Context) error {
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "svc-corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	script, err := filepath.Abs(filepath.Join("scripts", "scenes", "strips.py"))
	if err != nil {
		return err
	}
	wrong := 0
	all := corpus.Strips{Blender: path, Threads: o.threads, Device: blender.Device(o.device), Folder: folder, Scenes: script, Report: func(r corpus.StripRow) error {
		if !r.Sound() {
			wrong++
		}
		fmt.Fprintf(os.Stderr, "%+v\n", r)
		return corpus.AppendStripRow(o.stripRows, r)
	}}
	if err := all.Run(ctx, o.only); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d scenes are not as they should be in strips", wrong)
	}
	return nil
}

type options struct {
	only, files, keep, results  string
	names                       string
	random, revisions, edits    string
	stripRows, device           string
	projects, strips, noSandbox bool
	threads, lanes, fuzz, pairs int
}

// compare compares the scenes that have no sound row yet. It fails when a row is not as
// it should be.
func (o options) compare(ctx context.Context) (err error) {
	wanted, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	cfg, err := o.config(ctx)
	if err != nil {
		return err
	}
	if o.keep == "" {
		defer func() { err = errors.Join(err, os.RemoveAll(cfg.Folder)) }()
	}
	scenes, err := o.scenes(ctx, cfg)
	if err != nil {
		return err
	}
	done, err := corpus.Results(o.results)
	if err != nil {
		return err
	}
	scenes = slices.DeleteFunc(scenes, func(s corpus.Scene) bool {
		return !wanted.MatchString(s.Name) || slices.ContainsFunc(done, func(r corpus.Row) bool { return r.Scene.Name == s.Name && r.Blender == o.names && r.Sound() })
	})
	wrong, count := 0, 0
	cfg.Report = func(r corpus.Row) error {
		r.Blender = o.names
		if count++; !r.Sound() {
			wrong++
		}
		fmt.Fprintf(os.Stderr, "%d of %d, %.0f s: %s", count, len(scenes), r.Seconds, corpus.Table([]corpus.Row{r})[len(corpus.Table(nil)):])
		return corpus.Append(o.results, r)
	}
	if err := cfg.Compare(ctx, scenes); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%d scenes are not as they should be", wrong)
	}
	return nil
}

func (o options) config(ctx context.Context) (c corpus.Config, err error) {
	c = corpus.Config{Threads: o.threads, Lanes: o.lanes, Folder: o.keep}
	if c.Blender, err = blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome()); err != nil {
		return c, err
	}
	if !o.noSandbox {
		self, err := sandbox.Self()
		if err != nil {
			return c, err
		}
		if c.Sandbox, err = sandbox.Open(ctx, sandbox.Config{Mode: sandbox.Auto, Self: self}); err != nil {
			return c, err
		}
	}
	if c.Folder == "" {
		if c.Folder, err = os.MkdirTemp("", "svc-corpus-"); err != nil {
			return c, err
		}
	}
	c.Folder, err = filepath.Abs(c.Folder)
	return c, err
}

func (o options) scenes(ctx context.Context, c corpus.Config) ([]corpus.Scene, error) {
	if o.files == "" {
		return corpus.Make(ctx, c.Blender, filepath.Join(c.Folder, "made"), o.only)
	}
	return corpus.Read(ctx, c.Blender, o.files, filepath.Join(c.Folder, "read"), o.projects)
}
