package quote

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Unstarted is the open quote of an upload that no job has taken.
type Unstarted struct {
	UploadID, Filename string
	FrameCount         int
	PriceCents         int64
	// Left is how long the price is still locked.
	Left time.Duration
}

// ListUnstarted lists the unstarted quotes of a workspace, one for each upload, the newest
// first, and at most most.
func ListUnstarted(ctx context.Context, tx *db.Tx, workspaceID string, most int) ([]Unstarted, error) {
	rows, err := tx.QuotesUnstarted(ctx, query.QuotesUnstartedParams{WorkspaceID: workspaceID, Now: tx.Now, Max: int64(most)})
	if err != nil {
		return nil, fmt.Errorf("list unstarted quotes: %w", err)
	}
	out := make([]Unstarted, 0, len(rows))
	for _, r := range rows {
		out = append(out, Unstarted{r.UploadID, r.Filename, int(r.FrameCount), r.PriceCents, time.Duration(r.ExpiresAt-tx.Now) * time.Microsecond})
	}
	return out, nil
}
