package caller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/links"
	"svc.example/internal/ground/numbers"
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
	price := numbers.Money(offer.PriceCents, offer.Currency)
	if !terminal.IsTerminal(t.in) {
		return terminal.WrongUsagef("not started: rendering costs %s, and there is no terminal to confirm it; accept with --yes", price)
	}
	terminal.Printf(t.out, "Type look to see a test frame first, for free.")
	for {
		terminal.Askf(t.out, "Render %s for %s and accept the terms? [y/N/look]", paidFrames(offer.Frames, offer.Reused), price)
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
	them, it := "them", "they are"
	if e.count == 1 {
		them, it = "it", "it is"
	}
	return fmt.Sprintf("%s: %s that the scene uses cannot be found; %s listed above. "+
		"Put %s where the scene looks for %s, or name the folder that has %s with --project-root. To render without %s, add --allow-missing",
		e.kept, terminal.CountOf(e.count, "file"), it, them, them, them, them)
}

// priceError is a price above --max-price.
type priceError struct {
	cents, most int64
	currency    string
}

// Failure implements failure.Coded.
func (e *priceError) Failure() (code, action string) { return string(fault.PriceAboveMax), "" }

func (e *priceError) Error() string {
	return fmt.Sprintf("%s: the price is %s, and --max-price allows %s. Render fewer frames, or raise --max-price",
		notStarted, numbers.Money(e.cents, e.currency), numbers.Money(e.most, e.currency))
}

// fundsError is a wallet that does not cover a price.
type fundsError struct {
	lacks    int64 // cents
	currency string
	server   string
}

// Failure implements failure.Coded.
func (e *fundsError) Failure() (code, action string) { return string(fault.InsufficientFunds), "" }

func (e *fundsError) Error() string {
	return fmt.Sprintf("%s: you need %s more. Add credit at %s, or render fewer frames",
		notStarted, numbers.Money(e.lacks, e.currency), strings.TrimRight(e.server, "/")+links.WalletPath)
}
