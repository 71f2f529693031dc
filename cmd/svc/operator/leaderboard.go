package operator

import (
	"context"
	"fmt"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/benchmark/leaderboard"
)

// resultFlags name benchmark results.
type resultFlags struct {
	changeFlags
	Results []string `arg:"" optional:"" name:"result" help:"Ids of results, BMR-…"`
	Node    string   `placeholder:"KEY-ID" help:"All results of this node key instead."`
}

// changeResults asks, changes the results that the flags name, and prints how many have
// changed. Error: result_not_found.
func (f resultFlags) changeResults(k *kong.Context, verb, what string, change func(ctx context.Context, tx *db.Tx, resultIDs []string) (int64, error)) error {
	if (len(f.Results) == 0) == (f.Node == "") {
		return terminal.WrongUsagef("give either results or --node")
	}
	var named []string
	var n int64
	err := f.change(func(ctx context.Context, tx *db.Tx) (_ string, err error) {
		if named = f.Results; f.Node != "" {
			if named, err = leaderboard.ResultsOf(ctx, tx, f.Node); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf(what, terminal.CountOf(len(named), "result")), leaderboard.Accepted(ctx, tx, named)
	}, func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = change(ctx, tx, named)
		return err
	})
	if err != nil {
		return err
	}
	return f.print(k, field{"results", len(named)}, field{verb, n})
}

// leaderboardHide is svc admin leaderboard hide.
type leaderboardHide struct {
	resultFlags
	Reason string `required:"" help:"What the results' pages say, 1 to 500 bytes."`
}

// Run hides results.
func (c *leaderboardHide) Run(k *kong.Context) error {
	reason := plaintext.Line(c.Reason)
	if reason == "" || len(reason) > 500 {
		return terminal.WrongUsagef("--reason has %d bytes; it must have 1 to 500", len(reason))
	}
	return c.changeResults(k, "hidden", "take %s off every page and out of every count; the log of receipts keeps them", func(ctx context.Context, tx *db.Tx, resultIDs []string) (int64, error) {
		return leaderboard.Hide(ctx, tx, resultIDs, reason)
	})
}

// leaderboardShow is svc admin leaderboard show.
type leaderboardShow struct{ resultFlags }

// Run shows hidden results again.
func (c *leaderboardShow) Run(k *kong.Context) error {
	return c.changeResults(k, "shown", "show %s again", leaderboard.Show)
}
