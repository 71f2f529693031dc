package leaderboard

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Bin is a column of a histogram: the number of results with a score in [From, To).
// From and To are scores in samples per minute.
type Bin struct {
	From, To float64
	Results  int64
}

// A histogram uses the finest level of the tally with at most histogramBuckets buckets
// between the worst and the best score, merged into at most histogramBins columns.
// So a histogram reads at most 1,024 rows, for any number of results.
const (
	histogramBuckets = 1024
	histogramBins    = 32
)

// Histogram returns the histogram of the scores of a GPU, or with slug "" of all GPUs,
// under the current versions: columns of equal width from the worst score to the
// best, none without results. Error: gpu_not_found.
func (b *Board) Histogram(ctx context.Context, slug string) (bins []Bin, err error) {
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		group, err := groupOf(ctx, tx, Current(), slug)
		if slug != "" && err == nil {
			group, _, err = find(ctx, tx, slug)
		}
		if err != nil || group.Results == 0 {
			return err
		}
		bins, err = histogram(ctx, tx, group)
		return err
	})
	return bins, err
}

// The board of all GPUs and one GPU's group work alike: both have a tally of scores. worst
// is the last of the group's results.
func histogram(ctx context.Context, tx *db.Tx, group query.BenchmarkGroup) ([]Bin, error) {
	worst, err := greatest(ctx, tx, group.GroupID, byScore, group.Results)
	if err != nil {
		return nil, err
	}
	level := 0
	for bucketOf(group.ScoreTop, level)-bucketOf(worst, level) >= histogramBuckets {
		level++
	}
	first, last := bucketOf(worst, level), bucketOf(group.ScoreTop, level)
	rows, err := tx.BenchmarkBuckets(ctx, query.BenchmarkBucketsParams{
		GroupID: group.GroupID, Measure: int64(byScore), Level: int64(level), First: first, Behind: last + 1,
	})
	if err != nil {
		return nil, fmt.Errorf("read the distribution: %w", err)
	}
	// Every column has equally many buckets; the last one may reach beyond the best score.
	each := (last-first)/histogramBins + 1 // buckets in a column
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
