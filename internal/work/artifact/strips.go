package artifact

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/work/receipt"
)

// stripsOf reads the strips of a job's accepted frames, by frame.
func stripsOf(ctx context.Context, tx *db.Tx, jobID string) (map[int64][]receipt.Strip, error) {
	rows, err := tx.StripsOfJob(ctx, jobID)
	if err != nil {
		return nil, fmt.Errorf("read the strips of %s: %w", jobID, err)
	}
	strips := map[int64][]receipt.Strip{}
	for _, r := range rows {
		strips[r.Frame] = append(strips[r.Frame], receipt.Strip{From: int(r.RowFrom), To: int(r.RowTo), SHA256: r.Sha256, Above: r.SeamAbove, Below: r.SeamBelow})
	}
	return strips, nil
}
