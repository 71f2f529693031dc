// Command causes compares warnings with pictures, and prints a table (package
// internal/test/causes says how). Run it in the repository's root:
//
//	scripts/with-blender go run ./scripts/causes [-files FOLDER]
//
// It exits with 1 when a made scene has a false alarm or a missed warning.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"svc.example/internal/render/blender"
	"svc.example/internal/test/causes"
)

func main() {
	files := flag.String("files", "", "compare the .blend files in this `folder` in place of the made scenes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	rows, err := run(ctx, *files)
	if err != nil {
		fmt.Fprintln(os.Stderr, "causes:", err)
		stop()
		os.Exit(1)
	}
	fmt.Print(causes.Table(rows))
	if *files == "" && slices.ContainsFunc(rows, func(r causes.Row) bool { return r.Problem != "" || r.FalseAlarm() || r.Missed() }) {
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, files string) (rows []causes.Row, err error) {
	path, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "svc-causes-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	var scenes []causes.Scene
	if files == "" {
		scenes, err = causes.Make(ctx, path, filepath.Join(folder, "made"))
	} else {
		// A copy: files that it writes next to itself stay out of the folder.
		copied := filepath.Join(folder, "files")
		if err := os.CopyFS(copied, os.DirFS(files)); err != nil {
			return nil, err
		}
		scenes, err = causes.Find(copied)
	}
	if err != nil {
		return nil, err
	}
	return causes.Compare(ctx, path, filepath.Join(folder, "painted"), scenes, files == "")
}
