package account

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
)

// Preview is svc preview ID FRAME.
type Preview struct {
	profile.Flags
	output
	ID    string `arg:"" name:"job" help:"The job, JOB-…"`
	Frame int    `arg:"" optional:"" help:"The frame's number."`
	Sheet bool   `env:"-" xor:"what" help:"Show all finished frames in one picture, each with its number, instead of one frame."`
	Loop  bool   `env:"-" xor:"what" help:"Show all finished frames as a small animation (WebP) instead of one frame."`
	Out   string `env:"-" placeholder:"FILE" xor:"to" help:"File to write; - is standard output. Default: JOB-frame-N.jpg, JOB-contact-sheet.jpg or JOB-loop.webp in the current folder."`
	Open  bool   `env:"-" xor:"to" help:"Open the picture in this machine's viewer instead."`
}

// previewFile is the form of --json.
type previewFile struct {
	OK     bool   `json:"ok"`
	File   string `json:"file"`
	Shown  int    `json:"frames_shown"` // 1 for a frame
	Frames int    `json:"frames"`       // accepted ones, of which those are shown
}

// fetch reads the picture that the flags name, and returns the default name of its
// file.
func (c *Preview) fetch(ctx context.Context, api *client.Client) (picture []byte, name string, result previewFile, err error) {
	result = previewFile{OK: true, Shown: 1, Frames: 1}
	read := api.ContactSheet
	switch {
	case c.Sheet:
		name = c.ID + "-contact-sheet.jpg"
	case c.Loop:
		name, read = c.ID+"-loop.webp", api.Loop
	default:
		picture, err = api.FramePreview(ctx, c.ID, c.Frame)
		return picture, fmt.Sprintf("%s-frame-%04d.jpg", c.ID, c.Frame), result, err
	}
	o, err := read(ctx, c.ID)
	if err != nil {
		return nil, "", result, err
	}
	result.Shown, result.Frames = o.Shown, o.Frames
	return o.Content, name, result, nil
}

// Run writes or shows a small picture of a frame, or of all frames.
func (c *Preview) Run(app *kong.Context) (err error) {
	if (c.Frame == 0) != (c.Sheet || c.Loop) {
		return terminal.WrongUsagef("give either a FRAME, --sheet or --loop")
	}
	if c.JSON && c.Out == "-" {
		return terminal.WrongUsagef("--json and --out - cannot be used together: both write to standard output")
	}
	api, err := c.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	picture, name, result, err := c.fetch(ctx, api)
	if err != nil {
		return err
	}
	if c.Out == "-" {
		_, err := app.Stdout.Write(picture)
		return err
	}
	path := c.Out
	switch {
	case c.Open:
		if path, err = temporary(picture, filepath.Ext(name)); err != nil {
			return err
		}
	default:
		if path == "" {
			path = name
		}
		if err := atomicfile.Replace(path, picture, 0o644); err != nil {
			return fmt.Errorf("write the preview: %w", err)
		}
	}
	if c.Open && !terminal.Open(path) {
		terminal.Printf(app.Stderr, "no viewer was found on this machine; the picture is in")
	}
	result.File = path
	return c.print(app, result, func() { terminal.Printf(app.Stdout, "%s", path) })
}

// temporary keeps a picture where a viewer finds it after this process has ended.
func temporary(picture []byte, extension string) (path string, err error) {
	file, err := os.CreateTemp("", "svc-preview-*"+extension)
	if err != nil {
		return "", fmt.Errorf("write the preview: %w", err)
	}
	_, err = file.Write(picture)
	return file.Name(), errors.Join(err, file.Close())
}

// Open is svc open [ID].
type Open struct {
	profile.Flags
	ID    string `arg:"" optional:"" name:"job" help:"Job whose proof page to open, JOB-… Default: the service's start page."`
	Print bool   `env:"-" help:"Print the address instead of opening it."`
}

// Run shows a page in the browser, and prints its address in case there is none.
func (c *Open) Run(app *kong.Context) (err error) {
	address, err := c.address()
	if err != nil {
		return err
	}
	terminal.Printf(app.Stdout, "%s", address)
	if !c.Print && !terminal.Open(address) {
		terminal.Printf(app.Stderr, "no browser was found on this machine; open the address yourself")
	}
	return nil
}

// address is the page of a job, which it has once it is completed, or of the service.
func (c *Open) address() (address string, err error) {
	if c.ID == "" {
		service, err := c.Service(profile.AgentKey | profile.AccountKey)
		if err != nil && !errors.Is(err, profile.ErrNoKey) {
			return "", err
		}
		return service.Server + "/", nil
	}
	api, err := c.Any()
	if err != nil {
		return "", err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	job, err := api.Job(ctx, c.ID)
	if err != nil {
		return "", err
	}
	if job.Status != client.StatusCompleted {
		return "", fmt.Errorf("job %s is %s; it has a page once it is completed. See it with:\n  svc job %s", job.JobID, statusText(job), job.JobID)
	}
	proof, err := api.Proof(ctx, c.ID)
	if err != nil {
		return "", err
	}
	return proof.ProofPageURL, nil
}
