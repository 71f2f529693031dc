package operator

import (
	"context"
	"net/http"

	"github.com/alecthomas/kong"

	"svc.example/cmd/svc/terminal"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/operator"
)

// resultFlags name benchmark results.
type resultFlags struct {
	actFlags
	Results []string `arg:"" optional:"" name:"result" help:"Result ids, BMR-…"`
	Node    string   `placeholder:"KEY-ID" help:"All results of this node key instead."`
}

// changeResults asks, changes the results that the flags name, and prints how many have
// changed. Error: result_not_found.
func (f resultFlags) changeResults(k *kong.Context, verb, path, reason string, propose func(ctx context.Context, tx *db.Tx, resultIDs []string, changed *int64) (operator.Act, error)) error {
	if (len(f.Results) == 0) == (f.Node == "") {
		return terminal.WrongUsagef("give either results or --node")
	}
	named, n := f.Results, int64(0)
	body := map[string]any{}
	if f.Node != "" {
		body["node"] = f.Node
	} else {
		body["results"] = named
	}
	if reason != "" {
		body["reason"] = reason
	}
	after := operator.ResultsChanged{Results: -1}
	err := f.act(call{method: http.MethodPost, path: path, body: body}, &after, func(ctx context.Context, tx *db.Tx) (_ operator.Act, err error) {
		if f.Node != "" {
			if named, err = leaderboard.ResultsOf(ctx, tx, f.Node); err != nil {
				return operator.Act{}, err
			}
		}
		return propose(ctx, tx, named, &n)
	}, nil)
	if err != nil {
		return err
	}
	if after.Results < 0 { // next to the store
		after.Results, after.Changed = len(named), n
	}
	return f.print(k, field{"results", after.Results}, field{verb, after.Changed})
}

// leaderboardHide is svc admin leaderboard hide.
type leaderboardHide struct {
	resultFlags
	Reason string `required:"" help:"Reason shown on the results' pages, 1 to 500 bytes."`
}

// Run hides results.
func (c *leaderboardHide) Run(k *kong.Context) error {
	return c.changeResults(k, "hidden", "/results/hide", c.Reason, func(ctx context.Context, tx *db.Tx, resultIDs []string, changed *int64) (operator.Act, error) {
		return operator.HideResults(ctx, tx, resultIDs, c.Reason, changed)
	})
}

// leaderboardShow is svc admin leaderboard show.
type leaderboardShow struct{ resultFlags }

// Run shows hidden results again.
func (c *leaderboardShow) Run(k *kong.Context) error {
	return c.changeResults(k, "shown", "/results/show", "", operator.ShowResults)
}
