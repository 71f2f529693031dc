package account

import (
	"context"
	"strings"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
)

// queued is common to the commands that change a job's place in the queue, or its tags.
type queued struct {
	profile.Flags
	output
	ID string `arg:"" name:"job" help:"The job, JOB-…"`
}

// run asks for the change and prints what the job then is.
func (q *queued) run(app *kong.Context, ask func(ctx context.Context, api *client.Client) (*client.Job, error), says func(job *client.Job)) (err error) {
	api, err := q.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	job, err := ask(ctx, api)
	if err != nil {
		return err
	}
	return q.print(app, jobObject{true, job}, func() { says(job) })
}

// Pause is svc pause ID.
type Pause struct{ queued }

// Run pauses a job. Pausing it again is no failure.
func (c *Pause) Run(app *kong.Context) error {
	return c.run(app, func(ctx context.Context, api *client.Client) (*client.Job, error) { return api.Pause(ctx, c.ID) }, func(job *client.Job) {
		terminal.Printf(app.Stdout, "paused %s; frames that are being rendered are finished. Continue it with: svc resume %s", job.JobID, job.JobID)
	})
}

// Resume is svc resume ID.
type Resume struct{ queued }

// Run resumes a paused job. Resuming it again is no failure.
func (c *Resume) Run(app *kong.Context) error {
	return c.run(app, func(ctx context.Context, api *client.Client) (*client.Job, error) { return api.Resume(ctx, c.ID) }, func(job *client.Job) {
		terminal.Printf(app.Stdout, "resumed %s", job.JobID)
	})
}

// Tag is svc tag ID TAG…
type Tag struct {
	queued
	Tags []string `arg:"" optional:"" name:"tag" help:"The tags that the job then has, in place of those that it had: at most 10, of at most 32 characters each."`
	None bool     `env:"-" help:"Remove all tags."`
}

// Run gives a job tags.
func (c *Tag) Run(app *kong.Context) error {
	if (len(c.Tags) == 0) != c.None {
		return terminal.WrongUsagef("give the tags of the job, or --none to remove all of them")
	}
	return c.run(app, func(ctx context.Context, api *client.Client) (*client.Job, error) {
		return api.SetTags(ctx, c.ID, append([]string{}, c.Tags...))
	}, func(job *client.Job) {
		if c.None {
			terminal.Printf(app.Stdout, "%s now has no tags", job.JobID)
			return
		}
		terminal.Printf(app.Stdout, "%s now has %s: %s", job.JobID, terminal.CountOf(len(job.Tags), "tag"), strings.Join(job.Tags, ", "))
	})
}

// Priority is svc priority ID N.
type Priority struct {
	queued
	Priority int `arg:"" help:"1 to 100. A new job has 50."`
}

// Run gives a job a priority among those of its workspace.
func (c *Priority) Run(app *kong.Context) error {
	return c.run(app, func(ctx context.Context, api *client.Client) (*client.Job, error) {
		return api.SetPriority(ctx, c.ID, c.Priority)
	}, func(job *client.Job) {
		terminal.Printf(app.Stdout, "%s now has priority %d. Jobs of your workspace with a higher one render first", job.JobID, c.Priority)
	})
}
