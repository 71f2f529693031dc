package leaderboard

import (
	"context"
	"fmt"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// measure is the value by which a tally counts results.
type measure int64

const (
	byScore measure = 0 // thousandths
	byTime  measure = 1 // milliseconds on the clock
)

// A tally counts the results of a group in buckets of five sizes. A bucket of level l
// holds 64^l neighbouring values, so a value is in one bucket of each level. A query
// walks down the levels and reads at most 64 rows of each, for any number of results
// and of ties.
const (
	levels  = 5
	fanBits = 6
	most    = 1<<(levels*fanBits) - 1 // the greatest value that can be counted
)

// bucketOf is the bucket that holds the value on a level.
func bucketOf(value int64, level int) int64 { return value >> (level * fanBits) }

// tally counts one more voice, or with on unset one less. The greatest value is 2^30-1: a
// score of a million samples per minute, or twelve days.
func tally(ctx context.Context, tx *db.Tx, group int64, m measure, value int64, on bool) error {
	if value < 0 || value > most {
		return fmt.Errorf("count a result: %d is not 0 to %d", value, int64(most))
	}
	for level := levels - 1; level >= 0; level-- {
		bucket := bucketOf(value, level)
		var err error
		if on {
			err = tx.BenchmarkTallyAdd(ctx, query.BenchmarkTallyAddParams{GroupID: group, Measure: int64(m), Level: int64(level), Bucket: bucket, Value: value})
		} else if err = tx.BenchmarkTallyTake(ctx, query.BenchmarkTallyTakeParams{GroupID: group, Measure: int64(m), Level: int64(level), Bucket: bucket, Value: value}); err == nil {
			err = tx.BenchmarkTallyClear(ctx, query.BenchmarkTallyClearParams{GroupID: group, Measure: int64(m), Level: int64(level), Bucket: bucket})
		}
		if err != nil {
			return fmt.Errorf("count a result: %w", err)
		}
	}
	return nil
}

// above returns how many results of a group have a greater value.
func above(ctx context.Context, tx *db.Tx, group int64, m measure, value int64) (int64, error) {
	n, err := tx.BenchmarkAbove(ctx, query.BenchmarkAboveParams{GroupID: group, Measure: int64(m), Value: value})
	if err != nil {
		return 0, fmt.Errorf("count the results above: %w", err)
	}
	return n, nil
}

// greatest returns the k-th greatest value of a group, counted from 1. The group has at
// least k results. Error: a tally that does not fit its group, which the audit also reports.
func greatest(ctx context.Context, tx *db.Tx, group int64, m measure, k int64) (int64, error) {
	value, _, err := walk(ctx, tx, group, m, k)
	return value, err
}

// walk returns the k-th greatest value of a group and the sum of the k greatest. It begins
// at the coarsest level, with all its buckets from the best down, and enters the bucket that
// holds the k-th result.
func walk(ctx context.Context, tx *db.Tx, group int64, m measure, k int64) (value, sum int64, err error) {
	first, behind := int64(0), int64(1)<<fanBits
	for level := levels - 1; ; level-- {
		rows, err := tx.BenchmarkBuckets(ctx, query.BenchmarkBucketsParams{GroupID: group, Measure: int64(m), Level: int64(level), First: first, Behind: behind})
		if err != nil {
			return 0, 0, fmt.Errorf("read the tally: %w", err)
		}
		found := int64(-1)
		for _, row := range rows {
			if k <= row.Results {
				found = row.Bucket
				break
			}
			k -= row.Results
			sum += row.Total
		}
		switch {
		case found < 0:
			return 0, 0, fmt.Errorf("the tally of group %d has fewer results than the group", group)
		case level == 0: // all values in the bucket are equal
			return found, sum + k*found, nil
		}
		first, behind = found<<fanBits, (found+1)<<fanBits
	}
}

// median returns the median of n results in the measure's unit: for an even number the
// mean of the two in the middle, rounded up. n is the number of results in the group, at
// least 1.
func median(ctx context.Context, tx *db.Tx, group int64, m measure, n int64) (int64, error) {
	upper, err := greatest(ctx, tx, group, m, (n+1)/2)
	if err != nil || n%2 == 1 {
		return upper, err
	}
	lower, err := greatest(ctx, tx, group, m, n/2+1)
	return (upper + lower + 1) / 2, err
}

// trimmed is how many of n results an average leaves out at each end: a quarter.
func trimmed(n int64) int64 { return n / 4 }

// trimmedMean returns the mean of n results without the best and the worst quarter, in the
// measure's unit and rounded to the nearest. n is as for median.
func trimmedMean(ctx context.Context, tx *db.Tx, group int64, m measure, n int64) (int64, error) {
	out, left := trimmed(n), n-2*trimmed(n)
	_, upTo, err := walk(ctx, tx, group, m, n-out)
	if err != nil {
		return 0, err
	}
	best := int64(0)
	if out > 0 {
		if _, best, err = walk(ctx, tx, group, m, out); err != nil {
			return 0, err
		}
	}
	return (upTo - best + left/2) / left, nil
}

// thousandths converts a stored score or time to its published unit.
func thousandths(n int64) float64 { return float64(n) / 1000 }
