package account

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/ground/plaintext"
)

// Jobs is svc jobs.
type Jobs struct {
	profile.Flags
	output
	paging
	Status string `env:"-" enum:",awaiting_submit,queued,rendering,packaging,completed,failed,cancelled" default:"" placeholder:"STATUS" help:"Only jobs in this state: awaiting_submit, queued, rendering, packaging, completed, failed or cancelled."`
	Tag    string `env:"-" placeholder:"TAG" help:"Only jobs with this tag."`
	Search string `env:"-" placeholder:"WORDS" help:"Only jobs whose file name or tags contain these words, four at most."`
	From   string `env:"-" placeholder:"DAY" help:"Only jobs created on this day (UTC) or later, such as 2026-11-27."`
	To     string `env:"-" placeholder:"DAY" help:"Only jobs created on this day (UTC) or earlier."`
	Person string `env:"-" placeholder:"WHO" help:"Only jobs that this person started, or keys that they made: an e-mail address, what is before its @, or a person id."`
	Frames string `env:"-" placeholder:"LIST" help:"Only jobs that have all of these frames, such as 118 or 1-20,40-60x5."`
	Filter string `env:"-" placeholder:"NAME" help:"Only jobs that your saved filter with this name finds. The flags above replace parts of it."`
	Watch  bool   `env:"-" help:"Watch until every listed job has ended (Ctrl-C stops). Redraws on a terminal; otherwise prints one line per change."`
}

// watchPace is the time between two requests of --watch: a fifth of the rate that
// the service allows a key by default.
const watchPace = 5 * time.Second

// Run lists the workspace's jobs, newest first.
func (c *Jobs) Run(app *kong.Context) (err error) {
	if c.Watch && c.JSON {
		return terminal.WrongUsagef("--watch and --json cannot be used together: --json prints one object")
	}
	most, err := c.most()
	if err != nil {
		return err
	}
	api, err := c.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	wanted, err := c.wanted(ctx, api)
	if err != nil {
		return err
	}
	wanted.Limit = most
	if c.Watch {
		return c.watch(ctx, app.Stdout, wanted)
	}
	jobs, err := collect(api.Jobs(ctx, wanted))
	if err != nil {
		return err
	}
	return c.print(app, struct {
		OK   bool          `json:"ok"`
		Jobs []*client.Job `json:"jobs"`
	}{true, jobs}, func() {
		if len(jobs) == 0 {
			c.sayNone(app)
			return
		}
		listOf(jobs, time.Now()).Print(app.Stdout)
	})
}

// wanted selects the jobs: those of the saved filter, which flags change.
func (c *Jobs) wanted(ctx context.Context, api *client.Client) (client.JobsRequest, error) {
	var from client.JobsRequest
	if c.Filter != "" {
		saved, err := api.SavedFilters(ctx)
		if err != nil {
			return from, err
		}
		is := slices.IndexFunc(saved, func(f client.SavedFilter) bool { return strings.EqualFold(f.Name, c.Filter) })
		if is < 0 {
			return from, noFilter(c.Filter, saved)
		}
		from = saved[is].Request()
	}
	return client.JobsRequest{
		Status: cmp.Or(c.Status, from.Status), Tag: cmp.Or(c.Tag, from.Tag), Search: cmp.Or(c.Search, from.Search), From: cmp.Or(c.From, from.From),
		To: cmp.Or(c.To, from.To), Person: cmp.Or(c.Person, from.Person), Frames: cmp.Or(c.Frames, from.Frames),
	}, nil
}

// noFilter says which filters there are in place of the wanted one.
func noFilter(name string, saved []client.SavedFilter) error {
	if len(saved) == 0 {
		return fmt.Errorf("you have no saved filters, or this key belongs to nobody. Save a search in the console's list of jobs, and use a key of yours")
	}
	names := make([]string, len(saved))
	for i, f := range saved {
		names[i] = f.Name
	}
	return fmt.Errorf("you have no saved filter %q; yours are: %s", name, strings.Join(names, ", "))
}

// sayNone says that the list is empty, and how to change that.
func (c *Jobs) sayNone(app *kong.Context) {
	if c.Status+c.Tag+c.Search+c.From+c.To+c.Person+c.Frames+c.Filter != "" {
		terminal.Printf(app.Stdout, "no jobs match; without these flags, all are listed")
		return
	}
	terminal.Printf(app.Stdout, "no jobs yet. To render a scene:")
	terminal.Printf(app.Stdout, "  svc render scene.blend")
}

// collect reads a list to its end; it is never nil, so that JSON has an array.
func collect[T any](items func(func(T, error) bool)) (all []T, err error) {
	all = []T{}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}

// listOf is the jobs as a table.
func listOf(jobs []*client.Job, now time.Time) *terminal.List {
	list := terminal.NewList(
		terminal.Column{Title: "JOB"}, terminal.Column{Title: "STATUS"}, terminal.Column{Title: "FRAMES"},
		terminal.Column{Title: "FILE", Cut: true}, terminal.Column{Title: "TAGS", Cut: true, Spare: 3}, terminal.Column{Title: "PRICE", Spare: 1}, terminal.Column{Title: "CREATED", Spare: 2},
	)
	for _, j := range jobs {
		list.Row(j.JobID, j.Status, framesOf(j), j.Filename, strings.Join(j.Tags, ", "), numbers.Money(j.PriceCents, j.Currency), terminal.Ago(j.CreatedAt, now))
	}
	return list
}

// framesOf is how many frames of a job are done, as in "3/20".
func framesOf(j *client.Job) string { return fmt.Sprintf("%d/%d", j.FramesCompleted, j.FrameCount) }

// watch reads the jobs again and again. Once the service has answered, a connection that
// is lost is tried again without end.
func (c *Jobs) watch(ctx context.Context, w io.Writer, wanted client.JobsRequest) error {
	service, err := c.Service(profile.AgentKey | profile.AccountKey)
	if err != nil {
		return err
	}
	screen := &screen{w: w}
	var options []client.Option
	if terminal.Redraws(w) {
		options = append(options, profile.Retrying(service.Server, screen.note))
	}
	first, err := service.Client(options...)
	if err != nil {
		return err
	}
	patient, err := service.Client(append(options, client.WithAttempts(client.WithoutEnd))...)
	if err != nil {
		return err
	}
	api := first
	return watchJobs(ctx, screen, func() ([]*client.Job, error) {
		jobs, err := collect(api.Jobs(ctx, wanted))
		api = patient
		return jobs, err
	}, watchPace)
}

// watchJobs shows the jobs until none of them can change any more, or ctx ends, which is
// no failure.
func watchJobs(ctx context.Context, screen *screen, read func() ([]*client.Job, error), pace time.Duration) error {
	w := screen.w
	seen := map[string]string{}
	for {
		jobs, err := read()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if terminal.Redraws(w) {
			columns, lines := terminal.Screen(w)
			screen.show(terminal.Fit(listOf(jobs, time.Now()).Lines(columns), columns, lines))
		} else {
			printChanges(w, jobs, seen, time.Now())
		}
		if !anyAlive(jobs) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pace):
		}
	}
}

// printChanges writes a line for each job that differs from what was seen, the oldest
// first, as a log has it.
func printChanges(w io.Writer, jobs []*client.Job, seen map[string]string, now time.Time) {
	for i := len(jobs) - 1; i >= 0; i-- {
		j := jobs[i]
		is := j.Status + " " + framesOf(j)
		if seen[j.JobID] == is {
			continue
		}
		seen[j.JobID] = is
		terminal.Printf(w, "%s %s %s", terminal.Time(now), j.JobID, is)
	}
}

func anyAlive(jobs []*client.Job) bool {
	for _, j := range jobs {
		if !j.Terminal() {
			return true
		}
	}
	return false
}

// screen draws a list over the one before. Its lines fit the terminal: a line that the
// terminal breaks would count as two.
type screen struct {
	w     io.Writer
	drawn int // lines
}

// note writes a line below the list, until the next list is drawn.
func (s *screen) note(format string, args ...any) {
	line := plaintext.Line(fmt.Sprintf(format, args...))
	if columns := terminal.Width(s.w); columns > 0 {
		line = terminal.Cut(line, columns)
	}
	s.drawn++
	_, _ = io.WriteString(s.w, line+"\n") // a closed terminal has no reader
}

func (s *screen) show(lines []string) {
	over := ""
	if s.drawn > 0 {
		over = fmt.Sprintf("\x1b[%dA\x1b[J", s.drawn) // up to the first line, and clear what is below
	}
	s.drawn = len(lines)
	_, _ = io.WriteString(s.w, over+strings.Join(lines, "\n")+"\n") // a closed terminal has no reader
}

// Cancel is svc cancel ID.
type Cancel struct {
	profile.Flags
	output
	ID string `arg:"" name:"job" help:"The job, JOB-…"`
}

// Run cancels a job that no worker has claimed. Cancelling it again is no failure.
func (c *Cancel) Run(app *kong.Context) (err error) {
	api, err := c.Any()
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(&err)
	defer stop()
	job, err := api.Cancel(ctx, c.ID)
	if err != nil {
		return err
	}
	return c.print(app, jobObject{true, job}, func() {
		terminal.Printf(app.Stdout, "cancelled %s; nothing was charged, %s is available again", job.JobID, numbers.Money(job.PriceCents, job.Currency))
	})
}
