package operator

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/wallet"
)

// MostMonths bounds the months that one reading of the usage has.
const MostMonths = 36

// Usage is what a workspace used in a month (UTC): its jobs that completed in it, and what was
// refunded in it.
type Usage struct {
	Month         string  `json:"month"` // such as 2026-11
	WorkspaceID   string  `json:"workspace_id"`
	Jobs          int64   `json:"jobs"`
	Frames        int64   `json:"frames"`
	RenderSeconds float64 `json:"render_seconds"`
	ChargedCents  int64   `json:"charged_cents"`
	RefundedCents int64   `json:"refunded_cents"`
}

// UsageOf reads the usage of the last months, this one included, the newest month first and in
// it the workspace that paid most; of one workspace, or of all with "". Jobs and the ledger are
// what it is added up from, each time. Error: invalid_request.
func UsageOf(ctx context.Context, tx *db.Tx, workspaceID string, months int) ([]Usage, error) {
	if months < 1 || months > MostMonths {
		return nil, fault.Field("months", "is %d; it must be 1 to %d", months, MostMonths)
	}
	since := wallet.FirstOfMonth(tx.Time(), months-1)
	rows, err := tx.Usage(ctx, query.UsageParams{Since: db.Micros(since), WorkspaceID: workspaceID})
	if err != nil {
		return nil, fmt.Errorf("add up the usage: %w", err)
	}
	all := make([]Usage, 0, len(rows))
	for _, r := range rows {
		all = append(all, Usage{r.Month, r.WorkspaceID, r.Jobs, r.Frames, float64(r.RenderUs) / 1e6, r.ChargedCents, r.RefundedCents})
	}
	return all, nil
}

// WriteUsage writes usage as CSV, with a head. It has ids and numbers only, which no program
// takes for a formula.
func WriteUsage(w io.Writer, all []Usage) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"month", "workspace_id", "jobs", "frames", "render_seconds", "charged_cents", "refunded_cents"}) // Flush keeps the error
	for _, u := range all {
		_ = out.Write([]string{
			u.Month, u.WorkspaceID, strconv.FormatInt(u.Jobs, 10), strconv.FormatInt(u.Frames, 10), strconv.FormatFloat(u.RenderSeconds, 'f', 3, 64),
			strconv.FormatInt(u.ChargedCents, 10), strconv.FormatInt(u.RefundedCents, 10),
		})
	}
	out.Flush()
	return out.Error()
}
