package operator

import (
	"context"
	"fmt"
	"strings"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/sheet"
	"svc.example/internal/work/wallet"
)

// MostMonths bounds the months that one reading of the usage has.
const MostMonths = 36

// Usage is what a workspace used in a month (UTC): its jobs that completed in it, and what was
// refunded in it; of the jobs with the same tags, where it is split by them.
type Usage struct {
	Month         string   `json:"month"` // such as 2026-11
	WorkspaceID   string   `json:"workspace_id"`
	Tags          []string `json:"tags,omitempty"` // of the jobs; none also where it is not split
	Jobs          int64    `json:"jobs"`
	Frames        int64    `json:"frames"`
	RenderSeconds float64  `json:"render_seconds"`
	ChargedCents  int64    `json:"charged_cents"`
	RefundedCents int64    `json:"refunded_cents"`
}

// UsageScope says which usage is read.
type UsageScope struct {
	WorkspaceID string // "" for all
	Months      int    // the last ones, this one included: 1 to MostMonths
	// ByTags splits it by the tags of the jobs. A job counts once, with all its tags, so the
	// sums stay the same.
	ByTags bool
}

// UsageOf reads usage, the newest month first and in it what paid most. Jobs and the ledger are
// what it is added up from, each time. Error: invalid_request.
func UsageOf(ctx context.Context, tx *db.Tx, of UsageScope) ([]Usage, error) {
	if of.Months < 1 || of.Months > MostMonths {
		return nil, fault.Field("months", "is %d; it must be 1 to %d", of.Months, MostMonths)
	}
	since := wallet.FirstOfMonth(tx.Time(), of.Months-1)
	asked := query.UsageParams{Since: db.Micros(since), WorkspaceID: of.WorkspaceID}
	if of.ByTags {
		asked.ByTags = 1
	}
	rows, err := tx.Usage(ctx, asked)
	if err != nil {
		return nil, fmt.Errorf("add up the usage: %w", err)
	}
	all := make([]Usage, 0, len(rows))
	for _, r := range rows {
		var tags []string
		if r.Tags != "" {
			tags = strings.Split(r.Tags, ",")
		}
		all = append(all, Usage{r.Month, r.WorkspaceID, tags, r.Jobs, r.Frames, float64(r.RenderUs) / 1e6, r.ChargedCents, r.RefundedCents})
	}
	return all, nil
}

// WriteUsage writes usage as CSV, with a head.
func WriteUsage(out *sheet.Writer, all []Usage) error {
	out.Row("month", "workspace_id", "jobs", "frames", "render_seconds", "charged_cents", "refunded_cents", "tags")
	for _, u := range all {
		out.Row(u.Month, u.WorkspaceID, u.Jobs, u.Frames, sheet.Seconds(u.RenderSeconds), u.ChargedCents, u.RefundedCents, strings.Join(u.Tags, ","))
	}
	return out.Flush()
}
