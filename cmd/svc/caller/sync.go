package caller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
)

// Sync keeps a folder up to date with the frames of a job while it renders.
type Sync struct {
	profile.Flags
	Job    string `arg:"" help:"The job, JOB-…"`
	Folder string `arg:"" type:"path" help:"Folder for the frames. What is there already is not fetched again."`
	JSON   bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
	Events bool   `env:"-" help:"Print a line of JSON for each frame when it is there, and one for the job at the end; everything else goes to standard error."`
}

// Help is printed below the flags.
func (Sync) Help() string {
	return "Each frame appears in the folder when it is accepted, whole or not at all. Its other files, such as those of File Output nodes and the second eye, are below outputs/, under the names of the ZIP. When the job is complete, its receipt and proof are put next to the frames, and all of it is verified. If the scene's output is a movie, movie.mp4 comes last. " +
		"The same command again continues. " +
		terminal.ExitHelp(terminal.ExitBadSignature, terminal.ExitBadArtifact, terminal.ExitNotInLog, terminal.ExitInterrupted)
}

// syncedFrame is a line of --events.
type syncedFrame struct {
	Type  string `json:"type"` // "frame"
	Frame int    `json:"frame"`
	Path  string `json:"path"`
	// Outputs are the paths of its other files, such as those of File Output nodes.
	Outputs []string `json:"outputs,omitempty"`
}

// syncedJob is the object of --json, and the last line of --events.
type syncedJob struct {
	Type   string   `json:"type"` // "job"
	OK     bool     `json:"ok"`
	JobID  string   `json:"job_id"`
	Status string   `json:"status"`
	Folder string   `json:"folder"`
	Frames []string `json:"frames"` // paths
	// Outputs are the paths of all other files.
	Outputs []string `json:"outputs,omitempty"`
	// Movie is the path of the movie, where the scene's output is one.
	Movie string `json:"movie,omitempty"`
}

// Run follows the job.
func (c *Sync) Run(app *kong.Context) (err error) {
	service, err := c.Service(profile.AgentKey | profile.AccountKey)
	if err != nil {
		return err
	}
	human := app.Stdout
	if c.JSON || c.Events {
		human = app.Stderr
	}
	display := terminal.NewDisplay(human, time.Now)
	api, err := service.Client(profile.RetriesOn(service.Server, human, display)...)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	frames, outputs := []string{}, []string(nil)
	saved := func(f client.FrameSaved) {
		frames, outputs = append(frames, f.Path), append(outputs, f.Outputs...)
		switch {
		case c.Events:
			err = errors.Join(err, terminal.PrintJSONLine(app.Stdout, syncedFrame{"frame", f.Frame, f.Path, f.Outputs}))
		case !f.Was && !c.JSON:
			display.Say("%s", near(f.Path))
		}
	}
	shown := newFollowing(display)
	job, failed := api.Sync(ctx, c.Job, c.Folder, saved, shown.event)
	shown.end()
	switch {
	case ctx.Err() != nil:
		return terminal.Exit(terminal.ExitInterrupted, errors.New("stopped; the service continues to render. Run the same command again to continue"))
	case failed != nil:
		return failed
	case err != nil:
		return err
	case job.Status != client.StatusCompleted:
		return &jobError{job}
	}
	if err := c.prove(ctx, api, job.JobID); err != nil {
		if ctx.Err() != nil {
			return terminal.Exit(terminal.ExitInterrupted, errors.New("stopped; the frames are here, but not verified yet. Run the same command again to verify them"))
		}
		return proof.WithExitCode(err)
	}
	end := syncedJob{"job", true, job.JobID, job.Status, c.Folder, frames, outputs, saveMovie(ctx, api, display, job, c.Folder)}
	switch {
	case c.Events:
		return terminal.PrintJSONLine(app.Stdout, end)
	case c.JSON:
		return terminal.PrintJSON(app.Stdout, end)
	}
	parts := []string{terminal.CountOf(len(frames), "frame")}
	if len(outputs) > 0 {
		parts = append(parts, terminal.CountOf(len(outputs), "other file"))
	}
	what := strings.Join(parts, " and ")
	if end.Movie != "" {
		what = strings.Join(parts, ", ") + " and the movie"
	}
	terminal.Printf(app.Stdout, "%s in %s, verified. To verify again:", what, near(c.Folder))
	terminal.Printf(app.Stdout, "  %s", verifyCommand(c.Folder, api.TestMode()))
	return nil
}

// prove puts the receipt and what proves it next to the frames, and verifies all of it.
func (c *Sync) prove(ctx context.Context, api *client.Client, jobID string) error {
	if err := api.SaveProof(ctx, jobID, c.Folder); err != nil {
		return err
	}
	found, err := (&proof.Verify{Receipt: filepath.Join(c.Folder, proof.ReceiptFile), Test: api.TestMode(), Require: []string{"pictures", "log", "key"}}).Check()
	switch {
	case err != nil:
		return err
	case found.JobID != jobID:
		return fmt.Errorf("the service sent the receipt of job %s", found.JobID)
	case slices.Contains(found.NotChecked, "artifact"):
		return errors.New("the folder lacks frames or outputs that the receipt lists")
	}
	return nil
}
