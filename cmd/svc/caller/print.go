package caller

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/reuse"
)

// missingFiles are the files that the scene uses and the upload does not contain, one
// line each. A service of another version may name none.
func missingFiles(q *client.Quote) (lines []string) {
	var files []quote.MissingFile
	if json.Unmarshal(q.Scene.MissingFiles, &files) != nil {
		return nil
	}
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%s %s, used by %s", f.Kind, f.Path, f.Owner))
	}
	return lines
}

// mostMissing bounds the missing files that are named before the price.
const mostMissing = 50

// printQuote shows what would be rendered at which price, and then what is wrong with the
// scene, the worst first: it stands right above the question. wallet is nil where an older
// service does not tell it.
func printQuote(to terminal.Display, q *client.Quote, missing []string, wallet *client.Wallet) {
	table := terminal.NewTable(nil)
	row := table.Rowf
	if q.RerenderOf != "" {
		row("again", "frames of %s", q.RerenderOf)
	}
	row("file", "%s, %s", q.Filename, terminal.InBytes.Text(q.InputSizeBytes))
	row("scene", "%s, %d x %d at %d %%, %s", q.Scene.Name, q.Scene.ResolutionX, q.Scene.ResolutionY,
		q.Scene.ResolutionPercentage, terminal.CountOf(q.Scene.Samples, "sample"))
	if camera := q.Settings.Camera; camera != "" {
		row("camera", "%s", camera)
	}
	if config := q.Settings.OCIO; config != "" {
		row("colours", "OpenColorIO configuration %s", config)
	}
	if layer := q.Settings.ViewLayer; layer != "" {
		row("layer", "%s", layer)
	}
	row("frames", "%s (%s)", cmp.Or(q.FrameList, rangeText(q.FrameStart, q.FrameEnd, q.FrameStep)), terminal.CountOf(q.FrameCount, "frame"))
	if n := q.ReusedFrameCount; n != nil {
		row("unchanged", "%s", unchanged(*n, q))
		printChanges(table, q.Changes)
	}
	if most := time.Duration(q.MaximumFrameSeconds) * time.Second; most > 0 { // an older service does not say
		row("limit", "%s for each frame; one that takes longer fails, and a job that fails costs nothing", terminal.Span(most))
	}
	row("price", "%s, locked until %s", numbers.Money(q.PriceCents, q.Currency), dayAndTime(q.ExpiresAt))
	if wallet != nil {
		row("wallet", "%s available", numbers.Money(wallet.AvailableCents, q.Currency))
	}
	if q.TermsURL != "" {
		row("terms", "%s (%s)", q.TermsURL, client.LegalV1)
	}
	for i, file := range missing {
		if i == mostMissing {
			row("missing", "%d more; svc inspect --json names them all", len(missing)-i)
			break
		}
		row("missing", "%s", file)
	}
	if !q.Qualified1C {
		row("warning", "the scene is too complex for this price; the service will not start it")
	}
	for _, w := range q.Warnings {
		row("warning", "%s (%s)", w.Message, w.Code)
		if w.SuggestedAction != "" {
			row("", "%s", w.SuggestedAction)
		}
	}
	table.Say(to)
}

// mostCauses is how many causes a person reads before the price; the rest only counts.
const mostCauses = 8

// printChanges says why the other frames are rendered.
func printChanges(table *terminal.Table, c *client.Changes) {
	if c == nil {
		return
	}
	table.Rowf("changed", "since %s (%s)", c.JobID, c.Filename)
	for i, cause := range c.Causes {
		if i == mostCauses {
			table.Rowf("", "and %d more", len(c.Causes)-i+c.CausesLeftOut)
			break
		}
		said := reuse.Change(cause)
		table.Rowf("", "%s: %s", said.When(), said.Words())
	}
	if c.Inseparable != "" {
		table.Rowf("", "a changed key changes all frames, because %s", c.Inseparable)
	}
}

// unchanged says which frames a quote takes over from earlier jobs.
func unchanged(n int, q *client.Quote) string {
	switch n {
	case 0:
		return "no frame; all are rendered"
	case q.FrameCount:
		return "all frames; they cost nothing"
	}
	return fmt.Sprintf("%d of %s, which cost nothing: %s; rendered are %s", n, terminal.CountOf(q.FrameCount, "frame"), q.ReusedFrames, q.FramesToRender)
}

// paidFrames counts the frames of a price, and says which of them it does not pay.
func paidFrames(n, reused int) string {
	text := terminal.CountOf(n, "frame")
	if reused > 0 {
		text += fmt.Sprintf(", %d taken over at no cost", reused)
	}
	return text
}

// Print shows a person what they have, on one screen: where the frames are, what they
// cost, how long they took, and how to verify them. Call it after a Run without an error.
func (r *Result) Print(w io.Writer) {
	table := terminal.NewTable(w)
	row := func(name, value string) { table.Row(name, value) }
	first, last := near(r.Frames[0]), r.Frames[len(r.Frames)-1]
	if len(r.Frames) == 1 {
		row("frames", first)
	} else {
		row("frames", fmt.Sprintf("%s to %s", first, filepath.Base(last)))
	}
	if r.OutputCount > 0 {
		row("outputs", terminal.CountOf(r.OutputCount, "file")+" besides the frames, below outputs/ in the ZIP")
	}
	if text := r.overviewsText(); text != "" {
		row("overview", text)
	}
	if r.Movie != "" {
		row("movie", near(r.Movie))
	}
	for _, f := range r.Findings {
		row("look at", terminal.Finding(f.Frames, f.FrameCount, f.Message, f.Code))
		row("", f.SuggestedAction)
	}
	price := fmt.Sprintf("%s for %s", numbers.Money(r.ChargedCents, r.Currency), paidFrames(len(r.Frames), r.ReusedCount))
	if r.Test {
		price += ", of test mode: nobody has paid"
	}
	row("price", price)
	row("took", r.took())
	row("rendered", r.renderedBy())
	name := "changed"
	for _, code := range r.Switched {
		row(name, changed(code))
		name = ""
	}
	row("zip", near(r.ZIP))
	row("sha256", r.SHA256)
	row("receipt", near(r.Receipt)+", verified")
	row("verify", verifyCommand(r.Folder, r.Test))
	_ = table.Flush() // nobody reads a closed standard output
}

// changed says what was rendered in place of what the file asks for. The receipt has the code.
func changed(code string) string {
	if w, ok := quote.RowOf(quote.WarningCode(code)); ok {
		return fmt.Sprintf("%s (%s)", w.Instead, code)
	}
	return code
}

// verifyCommand is how a person verifies a folder again.
func verifyCommand(folder string, test bool) string {
	command := "svc verify " + quoted(near(folder))
	if test {
		command += " --test"
	}
	return command
}

// took is the time from the first claim of a frame to the end.
func (r *Result) took() string {
	return (time.Duration(r.ElapsedSeconds*1000) * time.Millisecond).Round(100 * time.Millisecond).String()
}

// near writes a path as it is from the current folder, where that is shorter: the end
// fits on a screen, and its command can be copied.
func near(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if from, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(from) {
		return from
	}
	return path
}

// quoted writes a path so that a shell takes it as one word. To those of Windows a
// backslash is no escape, and no name there has a quote.
func quoted(path string) string {
	if runtime.GOOS == "windows" {
		if strings.ContainsAny(path, " &()[]{}^=;!'+,`~%$#@") {
			return `"` + path + `"`
		}
		return path
	}
	if strings.ContainsAny(path, " \t\"'$&;()<>|*?[]#~`!{}\\") {
		return strconv.Quote(path)
	}
	return path
}

// renderedBy names what rendered the frames. Pictures of the synthetic renderer are
// not renders, and the line says so in capitals, so that they are not mistaken for
// results.
func (r *Result) renderedBy() string {
	if r.Renderer == contract.SyntheticApplication {
		return "NOT RENDERED: test pictures of a " + r.Renderer
	}
	return fmt.Sprintf("by %s %s on %s (%s)", r.Renderer, r.Version, r.DeviceName, r.RenderDevice)
}
