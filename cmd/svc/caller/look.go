package caller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"svc.example/client"
	"svc.example/cmd/svc/profile"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/atomicfile"
	"svc.example/internal/ground/numbers"
)

// Look shows one frame of a file as the service's workers see it, for free.
type Look struct {
	profile.Flags
	FileFlags
	SettingFlags
	File  string `arg:"" type:"path" help:"The .blend file, or a folder with one."`
	Frame int    `env:"-" placeholder:"N" help:"Frame to render. Default: the middle of the scene's range."`
	Out   string `env:"-" placeholder:"FILE" help:"JPEG file to write; - is standard output. Default: FILE-frame-N.jpg in the current folder, unless the terminal shows the picture."`
	Show  string `env:"SVC_SHOW" enum:"auto,kitty,iterm,sixel,viewer,none" default:"auto" help:"How to show the picture: in the terminal with kitty, iTerm2 or sixel graphics, or in this machine's viewer. auto prefers the terminal."`
	JSON  bool   `name:"json" env:"SVC_JSON" help:"Print one JSON object; everything else goes to standard error. The picture is written to a file but not shown."`
}

// Help is printed below the flags.
func (Look) Help() string {
	return "The picture is small and coarse: at most 640 pixels and 32 samples. It is free, and workers render it when no paid frame is waiting. " +
		"The command also reports possible problems in the picture and estimates the time of the whole range. svc render offers the same before you confirm the price. " +
		terminal.ExitHelp(terminal.ExitInterrupted)
}

// looked is the form of --json.
type looked struct {
	OK bool `json:"ok"`
	*client.UploadPreview
	File       string `json:"file"` // the picture; "" where none was written
	FrameCount int    `json:"frame_count"`
	PriceCents int64  `json:"price_cents"`
	Currency   string `json:"currency"`
}

// Run uploads the file and shows the frame.
func (c *Look) Run(app *kong.Context) (err error) {
	if c.Frame < 0 {
		return terminal.WrongUsagef("--frame must be 1 or above")
	}
	if c.JSON && c.Out == "-" {
		return terminal.WrongUsagef("--json and --out - cannot be used together: both write to standard output")
	}
	service, err := c.Service(profile.AgentKey)
	if err != nil {
		return err
	}
	human := app.Stdout
	if c.JSON || c.Out == "-" {
		human = app.Stderr
	}
	display := terminal.NewDisplay(human, time.Now)
	api, err := service.Client(profile.RetriesOn(service.Server, human, display)...)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = terminal.Exit(terminal.ExitInterrupted, errors.New("stopped; nothing was spent"))
		}
		stop()
	}()
	context.AfterFunc(ctx, stop)
	scene, err := openScene(ctx, c.File, c.FileFlags, c.settings(), display)
	if err != nil {
		return err
	}
	defer scene.close()
	scene.say(display, scene.lacks() > 0) // a look shows what that means
	quote, err := scene.inspect(ctx, api, display, "")
	if err != nil {
		return err
	}
	l := looker{client: api, display: display, out: human, show: terminal.Graphics(c.Show), path: c.Out}
	if c.JSON {
		l.show = showNone
	}
	p, path, err := l.look(ctx, quote.UploadID, quote.Filename, c.Frame)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(app.Stdout, looked{true, p, path, quote.FrameCount, quote.PriceCents, quote.Currency})
	}
	l.describe(p, path, quote)
	return nil
}

// Ways to show a picture other than those of terminals.
const (
	showAuto   terminal.Graphics = "auto"
	showViewer terminal.Graphics = "viewer"
	showNone   terminal.Graphics = "none"
)

// looker gets previews and shows them.
type looker struct {
	client  *client.Client
	display terminal.Display
	out     io.Writer // that a person reads
	show    terminal.Graphics
	path    string // of the picture; "" for one of our own, - for standard output
}

// look shows a frame of an upload; frame 0 is the middle of the quoted range. path is where
// the picture was written, "" where it was only shown. The error of a preview without a
// picture is a *lookError.
func (l looker) look(ctx context.Context, uploadID, filename string, frame int) (p *client.UploadPreview, path string, err error) {
	if p, err = l.client.OrderPreview(ctx, uploadID, frame); err != nil {
		return nil, "", err
	}
	said := ""
	p, err = l.client.AwaitPreview(ctx, p, func(p *client.UploadPreview) {
		if now := progressOf(p); now != "" && now != said {
			l.display.Say("%s", now)
			said = now
		}
	})
	if err != nil {
		return nil, "", err
	}
	if p.Status != client.PreviewReady {
		return p, "", &lookError{p}
	}
	picture, err := l.client.PreviewImage(ctx, p)
	if err != nil {
		return p, "", err
	}
	path, err = l.present(p, filename, picture)
	return p, path, err
}

// present shows a picture if possible. It writes it to a file otherwise, or if the
// user has named a file.
func (l looker) present(p *client.UploadPreview, filename string, picture []byte) (path string, err error) {
	show := l.show
	if show == showAuto {
		if show = terminal.GraphicsOf(l.out); show == terminal.NoGraphics {
			show = showViewer
		}
	}
	inside := show != showViewer && show != showNone
	if inside {
		if err := show.Show(l.out, picture); err != nil {
			return "", err
		}
	}
	switch {
	case l.path == "-":
		_, err := os.Stdout.Write(picture)
		return "", err
	case l.path != "":
		path = l.path
	case inside:
		return "", nil
	default:
		path = fmt.Sprintf("%s-frame-%04d.jpg", strings.TrimSuffix(filepath.Base(filename), filepath.Ext(filename)), p.Frame)
	}
	if err := atomicfile.Replace(path, picture, 0o644); err != nil {
		return "", fmt.Errorf("write the picture: %w", err)
	}
	// A script wants no window.
	if show == showViewer && (l.show == showViewer || terminal.IsTerminal(l.out)) && !terminal.Open(path) {
		l.display.Say("no viewer was found on this machine; the picture is in %s", path)
	}
	return path, nil
}

// progressOf says why there is no picture yet; "" for none.
func progressOf(p *client.UploadPreview) string {
	switch {
	case p.Status == client.PreviewRendering:
		return fmt.Sprintf("a worker renders frame %d, small and coarse", p.Frame)
	case p.Status == client.PreviewQueued && p.WaitingReason == "no_worker_online":
		return "the preview waits: no worker is online"
	case p.Status == client.PreviewQueued && p.WaitingReason == "no_capable_worker":
		return "the preview waits: none of the workers that are online can render this scene"
	case p.Status == client.PreviewQueued && p.WaitingReason == "workers_busy":
		return "the preview waits: all workers render frames that are paid for"
	}
	return ""
}

// describe prints what was seen, and what the quoted frames would take and cost.
func (l looker) describe(p *client.UploadPreview, path string, quote *client.Quote) {
	l.table(func(row func(name, format string, args ...any)) {
		row("frame", "%d of %s, %d x %d, rendered in %s", p.Frame, quote.Filename, p.Width, p.Height, secondsText(p.Seconds))
		if path != "" {
			row("picture", "%s", path)
		}
		for _, w := range p.Findings {
			row("warning", "%s (%s)", w.Message, w.Code)
			if w.SuggestedAction != "" {
				row("", "%s", w.SuggestedAction)
			}
		}
		estimateRow(row, p.Estimate, quote.FrameCount)
		row("price", "%s for %s; the preview was free", numbers.Money(quote.PriceCents, quote.Currency), terminal.CountOf(quote.FrameCount, "frame"))
	})
}

// table prints rows through the display, above a bar that may be drawn.
func (l looker) table(fill func(row func(name, format string, args ...any))) {
	table := terminal.NewTable(nil)
	fill(table.Rowf)
	table.Say(l.display)
}

// estimateRow writes what so many frames would take.
func estimateRow(row func(name, format string, args ...any), e *client.RenderEstimate, frames int) {
	if e == nil {
		return
	}
	each := betweenText(e.FrameLow, e.FrameHigh) + " a frame"
	if e.TotalLow == nil || e.TotalHigh == nil {
		row("time", "%s", each)
		return
	}
	row("time", "%s; %s in %s, with the current workers", each, terminal.CountOf(frames, "frame"), betweenText(*e.TotalLow, *e.TotalHigh))
}

// betweenText writes a range of times, or one where both ends read alike.
func betweenText(low, high float64) string {
	from, to := secondsText(low), secondsText(high)
	if from == to {
		return from
	}
	return from + " to " + to
}

// secondsText writes a time as people say it: with one decimal below ten seconds, in
// whole seconds below an hour, and in minutes above.
func secondsText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second/10:
		return "less than 0.1 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", seconds)
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// lookError is a preview that has ended without a picture.
type lookError struct{ preview *client.UploadPreview }

// Failure implements failure.Coded.
func (e *lookError) Failure() (code, action string) {
	if f := e.preview.Failure; f != nil {
		return f.Code, f.SuggestedAction
	}
	return "preview_expired", "Look again later."
}

func (e *lookError) Error() string {
	if f := e.preview.Failure; f != nil {
		return fmt.Sprintf("frame %d could not be shown: %s (%s). %s Nothing was spent", e.preview.Frame, f.Message, f.Code, f.SuggestedAction)
	}
	return "no worker had time for a preview; look again later. Nothing was spent"
}
