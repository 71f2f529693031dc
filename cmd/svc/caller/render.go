// Package caller has the commands of people who have files rendered: render and
// inspect.
//
// What always holds: money is spent only after somebody accepted the price; Ctrl-C
// never leaves it unknown whether a job was started; frames are unpacked only after
// the receipt has proven them. It leaves the API to package client and the checks to
// package proof. Start reading at Run.
package caller

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
)

// Render uploads a file, shows its price, renders it, and fetches and verifies the
// result. It takes either a file, or a job that was started before.
type Render struct {
	profile.Flags
	File   string     `arg:"" optional:"" type:"existingfile" help:"The .blend file."`
	Frames FrameRange `env:"SVC_FRAMES" placeholder:"A-B" help:"Frames to render: A, A-B or A-B:STEP. Without it, the scene's frame range."`
	Out    string     `env:"SVC_OUT" type:"path" placeholder:"DIR" help:"Folder for the frames, the ZIP and the receipt. Without it, a folder named after the file and the job."`
	Yes    bool       `short:"y" env:"SVC_YES" help:"Accept the price and the terms without being asked."`
	JSON   bool       `name:"json" env:"SVC_JSON" help:"Print one JSON object at the end; everything else goes to standard error."`
	Job    string     `placeholder:"JOB-…" help:"Follow and fetch a job that is already started, instead of starting one."`
}

// Help is printed below the flags.
func (Render) Help() string {
	return "Exit codes: 0 rendered, fetched and verified; 1 failed or interrupted; 2 wrong usage; " +
		"3 the receipt's signature is not valid; 4 the ZIP does not match the receipt; 5 the receipt is not in the log."
}

// Run renders. The first Ctrl-C stops waiting and leaves the render running, since it
// is already paid for. With --json, standard output carries the one object only, and
// everything for people goes to standard error.
func (c *Render) Run(app *kong.Context) error {
	if (c.File == "") == (c.Job == "") {
		return terminal.WrongUsage(errors.New("give either a FILE to render or a --job to follow"))
	}
	if c.Job != "" && c.Frames.Given {
		return terminal.WrongUsage(errors.New("--frames cannot be used with --job: a started job keeps its frames"))
	}
	service, err := c.Service(profile.AgentKey)
	if err != nil {
		return err
	}
	c.Server = service.Server // what messages name
	api, err := c.Agent()
	if err != nil {
		return err
	}
	human := app.Stdout // the stream that people read
	if c.JSON {
		human = app.Stderr
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	consent := terms{yes: c.Yes, in: os.Stdin, out: human}
	result, err := Run(ctx, Options{
		Client: api, File: c.File, JobID: c.Job, Frames: c.Frames, Folder: c.Out,
		Accept: consent.accept, Display: terminal.NewDisplay(human, time.Now),
	})
	return c.report(app, human, result, c.explain(ctx, result, err))
}

// explain turns a failure into what the person needs to know next: how to continue
// after Ctrl-C, or which address could not be reached. An unknown start keeps its own
// text even after Ctrl-C, because "nothing was spent" would be a guess.
func (c *Render) explain(ctx context.Context, result Result, err error) error {
	_, unknownStart := errors.AsType[*unknownStartError](err)
	lost, unreachable := errors.AsType[*url.Error](err)
	switch {
	case err == nil || unknownStart:
		return err
	case ctx.Err() != nil:
		return c.interrupted(result.JobID)
	case unreachable:
		return fmt.Errorf("the service at %s cannot be reached: %w; check the address (--server) and whether the service is running", c.Server, lost.Err)
	}
	return err
}

// interrupted is the error after Ctrl-C. It prints the command that continues, with
// the flags that matter; the key is not among them, because terminals keep history.
func (c *Render) interrupted(jobID string) error {
	if jobID == "" {
		return errors.New("stopped before the job was started: nothing was spent")
	}
	next := "svc render --job " + jobID + " --server " + c.Server
	if c.Out != "" {
		next += " --out " + strconv.Quote(c.Out)
	}
	return fmt.Errorf("stopped waiting; the render continues. To follow and fetch it:\n  %s", next)
}

// report prints the outcome for people or for programs. With --json the object is
// printed after a failure too: a JobID in it means that money may be reserved.
func (c *Render) report(app *kong.Context, human io.Writer, result Result, err error) error {
	if err == nil {
		result.Print(human)
	}
	if c.JSON {
		result.OK = err == nil
		result.Error = failureOf(err)
		err = errors.Join(terminal.PrintJSON(app.Stdout, result), err)
	}
	return proof.WithExitCode(err)
}

// renderError is a failure in the form of --json. Its members mirror the API's
// envelope (spec 7).
type renderError struct {
	Code            string `json:"code"` // the service's code, or "failed"
	Message         string `json:"message"`
	SuggestedAction string `json:"suggested_action,omitempty"`
	RequestID       string `json:"request_id,omitempty"`
}

// failureOf finds the most useful description of err: the service's refusal, else the
// reason why the job failed, else the text alone under the code "failed".
func failureOf(err error) *renderError {
	if err == nil {
		return nil
	}
	shown := &renderError{Code: "failed", Message: err.Error()}
	var refused *client.Error
	var failed *jobError
	switch {
	case errors.As(err, &refused) && refused.Code != "":
		*shown = renderError{refused.Code, refused.Message, refused.SuggestedAction, refused.RequestID}
	case errors.As(err, &failed) && failed.job.Failure != nil:
		shown.Code, shown.SuggestedAction = failed.job.Failure.Code, failed.job.Failure.SuggestedAction
	}
	return shown
}

// FrameRange is the value of --frames. The zero value is the scene's own range.
type FrameRange struct {
	Given bool // false: the scene's own range
	client.Range
}

// UnmarshalText reads A, A-B or A-B:STEP, in numbers of 1 and above. It refuses signs
// and blanks, which strconv or a shell would let pass, so that a typing error never
// becomes a range that somebody pays for. The most frames are the service's to check.
func (r *FrameRange) UnmarshalText(text []byte) error {
	ends, step, stepped := strings.Cut(string(text), ":")
	first, last, ranged := strings.Cut(ends, "-")
	if !ranged {
		last = first
	}
	if !stepped {
		step = "1"
	}
	var numbers [3]int
	for i, word := range []string{first, last, step} {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || word[0] == '+' {
			return fmt.Errorf("%q is not A, A-B or A-B:STEP in numbers of 1 and above", text)
		}
		numbers[i] = n
	}
	if stepped && !ranged {
		return fmt.Errorf("%q has a step but no end", text)
	}
	if numbers[1] < numbers[0] {
		return fmt.Errorf("%q ends before it starts", text)
	}
	*r = FrameRange{true, client.Range{Start: numbers[0], End: numbers[1], Step: numbers[2]}}
	return nil
}

// terms asks a person to accept a price and the service's terms.
type terms struct {
	yes bool     // --yes: accepted beforehand, at whatever price
	in  *os.File // where the answer is typed
	out io.Writer
}

// errDeclined means that the person did not answer yes.
var errDeclined = errors.New("not started: nothing was spent")

// accept returns nil only after a yes: --yes, or "y" or "yes" typed on a terminal.
// Piped input never counts, whatever it says: a script that happens to feed a yes
// must not spend money. The end of ctx returns its error; the goroutine that reads is
// then left behind, because a read from a terminal cannot be cancelled, and ends with
// the process.
func (t terms) accept(ctx context.Context, quote *client.Quote) error {
	if t.yes {
		return nil
	}
	if !terminal.IsTerminal(t.in) {
		return terminal.WrongUsagef("not started: rendering costs %s, and there is no terminal to ask on; accept with --yes",
			terminal.Money(quote.PriceCents, quote.Currency))
	}
	fmt.Fprintf(t.out, "Render %s for %s and accept the terms %s? [y/N] ",
		terminal.CountOf(quote.FrameCount, "frame"), terminal.Money(quote.PriceCents, quote.Currency), client.LegalV1)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(t.in).ReadString('\n') // end of input counts as no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return ctx.Err()
	case word := <-answer:
		if word == "y" || word == "yes" {
			return nil
		}
		return errDeclined
	}
}
