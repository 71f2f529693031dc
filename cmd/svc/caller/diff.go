package caller

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/render/contentkey"
	"svc.example/internal/render/framelist"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/reuse/source"
)

// Diff says which frames of a scene changed from one revision to another, without a service
// and without Blender.
type Diff struct {
	Old         string    `arg:"" type:"existingfile" help:"The .blend file before the change."`
	New         string    `arg:"" type:"existingfile" help:"The .blend file after the change."`
	Frames      FrameList `env:"-" help:"Frames to compare, such as 1-250 or 1,3,5-9. Default: the range of the new scene."`
	ProjectRoot string    `env:"SVC_PROJECT_ROOT" type:"existingdir" placeholder:"DIR" help:"Folder that contains the files of both scenes. Nothing outside it is read. Default: the folder of each .blend."`
	JSON        bool      `name:"json" env:"SVC_JSON" help:"Print one JSON object with all causes instead of a list."`
}

// Help is printed below the flags.
func (Diff) Help() string {
	return "Compares what each frame's picture comes from: the scene's data, the keys of its animation and the files that it reads. A frame is called unchanged only if its picture is certainly the same; in doubt it is called changed. Textures and libraries are compared as they are now on this disk. " +
		terminal.ExitHelp(terminal.ExitInterrupted)
}

// difference is what diff found, in the form of --json.
type difference struct {
	OK                  bool           `json:"ok"`
	Old                 string         `json:"old"`
	New                 string         `json:"new"`
	Frames              string         `json:"frames"`
	FrameCount          int            `json:"frame_count"`
	ChangedFrames       string         `json:"changed_frames"` // "" for none
	ChangedFrameCount   int            `json:"changed_frame_count"`
	UnchangedFrames     string         `json:"unchanged_frames"` // "" for none
	UnchangedFrameCount int            `json:"unchanged_frame_count"`
	Causes              []reuse.Change `json:"causes"`
	// Inseparable says why a change of any key counts for all frames; "" where it does not.
	Inseparable string `json:"inseparable"`
}

// Run reads both files and prints what differs.
func (c *Diff) Run(app *kong.Context) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	d, err := c.compare(ctx)
	switch {
	case ctx.Err() != nil:
		return terminal.Exit(terminal.ExitInterrupted, fmt.Errorf("stopped; nothing was compared"))
	case err != nil:
		return err
	case c.JSON:
		return terminal.PrintJSON(app.Stdout, d)
	}
	return d.print(app.Stdout)
}

// compare compares the revisions.
func (c *Diff) compare(ctx context.Context) (*difference, error) {
	frames := c.Frames.Frames()
	if frames == nil {
		var err error
		if frames, err = framesOf(c.New); err != nil {
			return nil, err
		}
	}
	before, err := contentkey.OnDisk(ctx, c.Old, c.ProjectRoot)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Old, err)
	}
	after, err := contentkey.OnDisk(ctx, c.New, c.ProjectRoot)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.New, err)
	}
	found := contentkey.Compare(before, after, frames)
	d := &difference{
		OK: true, Old: filepath.Base(c.Old), New: filepath.Base(c.New), Frames: frames.String(), FrameCount: len(frames),
		ChangedFrames: found.Changed.String(), ChangedFrameCount: len(found.Changed),
		UnchangedFrames: found.Unchanged.String(), UnchangedFrameCount: len(found.Unchanged),
		Causes: source.CausesOf(found, frames), Inseparable: after.Whole,
	}
	return d, nil
}

// framesOf are the frames of a scene's own range.
func framesOf(path string) (framelist.List, error) {
	facts, _, err := readFacts(path, client.Settings{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if facts.Scene == nil {
		return nil, terminal.WrongUsagef("%s does not say which frames its scene has; name them with --frames", filepath.Base(path))
	}
	scene := inspection.SceneOf(facts, filepath.Base(path))
	frames, _, err := (quote.RequestedFrames{}).Resolve(scene.Frames())
	if err != nil {
		return nil, err
	}
	return framelist.Range{First: frames.Start, Last: frames.End, Step: frames.Step}.List(), nil
}

// print prints the difference for a person: the longest-lasting causes first.
func (d *difference) print(w io.Writer) error {
	table := terminal.NewTable(w)
	table.Row("unchanged", ofFrames(d.UnchangedFrameCount, d.FrameCount, d.UnchangedFrames))
	table.Row("changed", ofFrames(d.ChangedFrameCount, d.FrameCount, d.ChangedFrames))
	if d.Inseparable != "" {
		table.Rowf("note", "a changed key changes all frames, because %s", d.Inseparable)
	}
	if len(d.Causes) > 0 {
		table.Row()
	}
	for _, c := range d.Causes {
		table.Row(c.When(), c.Words())
	}
	return table.Flush()
}

func ofFrames(n, all int, list string) string {
	if n == 0 {
		return fmt.Sprintf("0 of %s", terminal.CountOf(all, "frame"))
	}
	return fmt.Sprintf("%d of %s: %s", n, terminal.CountOf(all, "frame"), list)
}
