package caller

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"svc.example/client"
	"svc.example/cmd/svc/terminal"
)

// terms asks a person to accept a price and the service's terms.
type terms struct {
	yes bool     // --yes: accepted beforehand, at whatever price
	in  *os.File // where the answer is typed
	out io.Writer
}

// errDeclined means that the person did not answer yes.
var errDeclined = errors.New("not started: nothing was spent. Run the command again to get a new price")

// accept returns nil only after a yes: --yes, or "y" or "yes" typed on a terminal.
// Piped input never counts, whatever it says: a script that happens to feed a yes
// must not spend money. The end of ctx returns its error; the goroutine that reads is
// then left behind, because a read from a terminal cannot be cancelled, and ends with
// the process.
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
	fmt.Fprintf(t.out, "Render %s%s for %s and accept the terms %s? [y/N] ", terminal.CountOf(offer.Frames, "frame"), in, price, client.LegalV1)
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

// missingError refuses to render a scene without files that it uses.
type missingError struct{ count int }

func (e *missingError) Error() string {
	return fmt.Sprintf("not started, nothing was spent: %s that the scene uses, named above, would be missing in the pictures. "+
		"Pack them into the .blend (in Blender: File, External Data, Pack Resources), or render without them with --allow-missing",
		terminal.CountOf(e.count, "file"))
}
