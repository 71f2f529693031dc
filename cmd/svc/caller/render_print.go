package caller

import (
	"fmt"
	"io"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/proof"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
)

// printQuote shows what would be rendered at which price, and the service's warnings,
// before the person is asked.
func printQuote(to terminal.Display, q *client.Quote) {
	var text strings.Builder
	table := terminal.NewTable(&text)
	row := table.Rowf
	row("file", "%s, %s", q.Filename, terminal.InBytes.Text(q.InputSizeBytes))
	row("scene", "%s, %d x %d at %d %%, %s", q.Scene.Name, q.Scene.ResolutionX, q.Scene.ResolutionY,
		q.Scene.ResolutionPercentage, terminal.CountOf(q.Scene.Samples, "sample"))
	row("frames", "%s", framesText(q))
	if most := time.Duration(q.MaximumFrameSeconds) * time.Second; most > 0 { // an older service does not say
		row("limit", "%s for each frame; one that takes longer fails, and a job that fails costs nothing", most)
	}
	row("price", "%s, locked until %s", terminal.Money(q.PriceCents, q.Currency), q.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC"))
	if !q.Qualified1C {
		row("warning", "the scene is too complex for this price; the service will not start it")
	}
	for _, warning := range q.Warnings {
		row("warning", "%s (%s)", warning.Message, warning.Code)
	}
	_ = table.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(text.String()) {
		to.Say("%s", strings.TrimSuffix(line, "\n"))
	}
}

// framesText is the range and the number of frames, as in "1-20 (20 frames)".
func framesText(q *client.Quote) string {
	text := fmt.Sprint(q.FrameStart)
	if q.FrameEnd != q.FrameStart {
		text += fmt.Sprintf("-%d", q.FrameEnd)
	}
	if q.FrameStep > 1 {
		text += fmt.Sprintf(", step %d", q.FrameStep)
	}
	return fmt.Sprintf("%s (%s)", text, terminal.CountOf(q.FrameCount, "frame"))
}

// Print shows a person what they have: the checks, the price, and where the files
// are. Call it after a Run without an error; it needs at least one frame.
func (r *Result) Print(w io.Writer) {
	proof.PrintChecks(w, r.Checks)
	table := terminal.NewTable(w)
	row := func(name, value string) { table.Row(name, value) }
	row("price", fmt.Sprintf("%s for %s", terminal.Money(r.ChargedCents, r.Currency), terminal.CountOf(len(r.Frames), "frame")))
	row("rendered", r.renderedBy())
	if len(r.Switched) > 0 {
		row("switched", strings.Join(r.Switched, ", "))
	}
	row("frames", r.Folder)
	row("first", r.Frames[0])
	row("zip", r.ZIP)
	row("sha256", r.SHA256)
	row("receipt", r.Receipt)
	_ = table.Flush() // nobody reads a closed standard output
	fmt.Fprintln(w, "receipt verified")
}

// renderedBy names what rendered the frames. Pictures of the synthetic renderer are
// not renders, and the line says so in capitals: they must not be taken for results.
func (r *Result) renderedBy() string {
	if r.Renderer == contract.SyntheticApplication {
		return "NOT RENDERED: test pictures of a " + r.Renderer
	}
	return fmt.Sprintf("by %s %s on %s (%s)", r.Renderer, r.Version, r.DeviceName, r.RenderDevice)
}
