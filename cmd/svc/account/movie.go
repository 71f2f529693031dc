package account

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
)

// Movie is svc movie ID.
type Movie struct {
	profile.Flags
	output
	ID  string `arg:"" name:"job" help:"The job, JOB-…"`
	Out string `env:"-" placeholder:"FILE" help:"File to write; - is standard output. Default: JOB.mp4 in the current folder."`
}

// movieFile is the form of --json.
type movieFile struct {
	OK        bool   `json:"ok"`
	File      string `json:"file"`
	SizeBytes int64  `json:"size_bytes"`
}

// Run has a worker encode the frames of a completed job, and saves the movie.
func (c *Movie) Run(app *kong.Context) (err error) {
	if c.JSON && c.Out == "-" {
		return terminal.WrongUsagef("--json and --out - cannot be used together: both write to standard output")
	}
	api, err := c.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	movie, err := api.Movie(ctx, c.ID)
	if err != nil {
		return err
	}
	defer movie.Close()
	if c.Out == "-" {
		_, err := io.Copy(app.Stdout, movie)
		return err
	}
	result := movieFile{OK: true, File: c.Out}
	if result.File == "" {
		result.File = c.ID + ".mp4"
	}
	if result.SizeBytes, err = save(movie, result.File); err != nil {
		return fmt.Errorf("write the movie: %w", err)
	}
	return c.print(app, result, func() { terminal.Printf(app.Stdout, "%s, %s", result.File, terminal.InBytes.Text(result.SizeBytes)) })
}

// save writes a file that appears whole.
func save(from io.Reader, path string) (size int64, err error) {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(part.Name()) }() // nothing is left of it once it has its name
	size, err = io.Copy(part, from)
	if err = errors.Join(err, part.Chmod(0o644), part.Close()); err != nil {
		return size, err
	}
	return size, atomicfile.Publish(part.Name(), path)
}
