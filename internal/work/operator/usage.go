package operator

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/sheet"
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

// WriteUsage writes usage as CSV, with a head.
func WriteUsage(out *sheet.Writer, all []Usage) error {
	out.Row("month", "workspace_id", "jobs", "frames", "render_seconds", "charged_cents", "refunded_cents")
	for _, u := range all {
		out.Row(u.Month, u.WorkspaceID, u.Jobs, u.Frames, sheet.Seconds(u.RenderSeconds), u.ChargedCents, u.RefundedCents)
	}
	return out.Flush()
}
