// Command corpus compares the frames of the service with those of Blender by hand, and
// prints a table (package internal/test/corpus says how). Run it in the repository's root:
//
//	scripts/with-blender go run ./scripts/corpus [-only REGEXP] [-files FOLDER]
//
// It exits with 1 when a scene that should be equal is not.
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

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/test/corpus"
)

func main() {
	if code, worker := corpus.BeWorker(); worker {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.ExecName {
		os.Exit(sandbox.Exec(os.Args[2:])) // a worker starts its own binary in the sandbox
	}
	only := flag.String("only", "", "compare only scenes whose name matches this `regexp`")
	files := flag.String("files", "", "compare the .blend files in this `folder`, made small, in place of the made scenes")
	keep := flag.String("keep", "", "keep everything that is made in this `folder`, which must be empty or missing")
	threads := flag.Int("threads", runtime.NumCPU(), "threads of each Blender")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	sound, err := run(ctx, *only, *files, *keep, *threads)
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
	}
	if err != nil || !sound {
		stop()
		os.Exit(1)
	}
}

// run prints the table. sound is false when a row is not as it should be.
func run(ctx context.Context, only, files, folder string, threads int) (sound bool, err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return false, err
	}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "svc-corpus-"); err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return false, err
	}
	self, err := sandbox.Self()
	if err != nil {
		return false, err
	}
	box, err := sandbox.Open(ctx, sandbox.Config{Mode: sandbox.Auto, Self: self})
	if err != nil {
		return false, err
	}
	made := filepath.Join(folder, "scenes")
	var scenes []corpus.Scene
	if files == "" {
		scenes, err = corpus.Make(ctx, path, made, only)
	} else {
		scenes, err = corpus.Read(ctx, path, files, made)
	}
	if err != nil {
		return false, err
	}
	scenes = slices.DeleteFunc(scenes, func(s corpus.Scene) bool { return !wanted.MatchString(s.Name) })
	if len(scenes) == 0 {
		return false, errors.New("there is no scene of that name")
	}
	done := 0
	rows, err := corpus.Config{Blender: path, Threads: threads, Sandbox: box, Folder: folder, Report: func(r corpus.Row) {
		done++
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", done, 2*len(scenes), r.Scene.Name)
	}}.Compare(ctx, scenes)
	if err != nil {
		return false, err
	}
	fmt.Printf("%s\n%s", corpus.Table(rows), corpus.Summary(rows))
	return !slices.ContainsFunc(rows, func(r corpus.Row) bool { return !r.Sound() }), nil
}
