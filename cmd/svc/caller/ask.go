package caller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
)

// terms asks a person to accept a price and the service's terms.
type terms struct {
	yes bool     // --yes: accepted beforehand, at any price
	in  *os.File // where the answer is typed
	out io.Writer
}

// errDeclined means that the person did not answer yes.
var errDeclined = errors.New("not started: nothing was spent. Run the command again to get a new price")

// accept returns nil only after a yes: --yes, or "y" or "yes" typed on a terminal.
// Piped input never counts: a script that happens to feed a yes must not spend money.
// "look" shows a frame and asks again. The end of ctx returns its error.
func (t terms) accept(ctx context.Context, offer Offer) error {
	if t.yes {
		return nil
	}
	price := terminal.Money(offer.PriceCents, offer.Currency)
	if !terminal.IsTerminal(t.in) {
		return terminal.WrongUsagef("not started: rendering costs %s, and there is no terminal to ask on; accept with --yes", price)
	}
	in := ""
	if offer.Jobs > 1 {
		in = fmt.Sprintf(" in %d jobs", offer.Jobs)
	}
	fmt.Fprintln(t.out, "look shows a frame first, for free")
	for {
		terminal.Askf(t.out, "Render %s%s for %s and accept the terms %s? [y/N/look]", terminal.CountOf(offer.Frames, "frame"), in, price, client.LegalV1)
		word, err := terminal.Answer(ctx, t.in, t.out)
		switch {
		case err != nil || terminal.IsYes(word):
			return err
		case word != "look" && word != "l":
			return errDeclined
		}
		if err := offer.Look(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			terminal.Printf(t.out, "%v", err)
		}
	}
}

// missingError refuses to render a scene without files that it uses.
type missingError struct {
	count int
	kept  string // what was not done, such as "not started, nothing was spent"
}

// notStarted is what was not done where a render is refused.
const notStarted = "not started, nothing was spent"

// Failure implements failure.Coded.
func (e *missingError) Failure() (code, action string) { return "missing_files", "" }

func (e *missingError) Error() string {
	return fmt.Sprintf("%s: %s that the scene uses, named above, would be missing in the pictures. "+
		"Put them where the scene looks for them, choose the folder that has them with --project-root, or go on without them with --allow-missing",
		e.kept, terminal.CountOf(e.count, "file"))
}
