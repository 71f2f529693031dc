package leaderboard

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Bin is a column of a histogram: the number of results with a score in [From, To).
type Bin struct {
	From, To float64
	Results  int64
}

// A histogram uses the finest level of the tally with at most shapeBuckets buckets
// between the worst and the best score, merged into at most shapeBins columns.
const (
	shapeBuckets = 1024
	shapeBins    = 32
)

// Shape returns the histogram of the scores of a GPU, or with slug "" of all GPUs,
// under the current versions: columns of equal width from the worst score to the
// best, none without results. Error: gpu_not_found.
func (b *Board) Shape(ctx context.Context, slug string) (bins []Bin, err error) {
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		group, err := groupOf(ctx, tx, Current(), slug)
		if slug != "" && err == nil {
			group, _, err = find(ctx, tx, slug)
		}
		if err != nil || group.Results == 0 {
			return err
		}
		bins, err = shape(ctx, tx, group)
		return err
	})
	return bins, err
}

func shape(ctx context.Context, tx *db.Tx, group query.BenchmarkGroup) ([]Bin, error) {
	worst, err := greatest(ctx, tx, group.GroupID, byScore, group.Results)
	if err != nil {
		return nil, err
	}
	level := 0
	for bucketOf(group.ScoreTop, level)-bucketOf(worst, level) >= shapeBuckets {
		level++
	}
	first, last := bucketOf(worst, level), bucketOf(group.ScoreTop, level)
	rows, err := tx.BenchmarkBuckets(ctx, query.BenchmarkBucketsParams{
		GroupID: group.GroupID, Measure: int64(byScore), Level: int64(level), First: first, Behind: last + 1,
	})
	if err != nil {
		return nil, fmt.Errorf("read the distribution: %w", err)
	}
	each := (last-first)/shapeBins + 1 // buckets in a column
	bins := make([]Bin, (last-first)/each+1)
	for i := range bins {
		from := (first + int64(i)*each) << (level * fanBits)
		bins[i].From, bins[i].To = thousandths(from), thousandths(from+each<<(level*fanBits))
	}
	for _, row := range rows {
		bins[(row.Bucket-first)/each].Results += row.Results
	}
	return bins, nil
}

// historyMost is how many results a history shows.
const historyMost = 100

// History returns a GPU's newest results under the current versions, newest first.
// Error: gpu_not_found.
func (b *Board) History(ctx context.Context, slug string) (rows []Row, err error) {
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		group, _, err := find(ctx, tx, slug)
		if err != nil || group.Results == 0 {
			return err
		}
		found, err := tx.BenchmarkLatestOf(ctx, query.BenchmarkLatestOfParams{GroupID: group.GroupID, Most: historyMost})
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		for _, row := range found {
			rows = append(rows, b.row(row, group))
		}
		return nil
	})
	return rows, err
}
