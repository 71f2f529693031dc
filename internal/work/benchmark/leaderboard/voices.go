package leaderboard

import (
	"context"
	"fmt"
	"math"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// A key has one voice under equal versions, however many results it sends from however many
// GPUs: its newest ranked result. Only voices are counted and ranked, so no key moves a
// figure by more than one sample does (docs/leaderboard.md has the bounds).

// speak makes a ranked result, whose row is there, the voice of its key, unless a newer one
// is. The lock is held.
func speak(ctx context.Context, tx *db.Tx, r query.BenchmarkResult) error {
	newest, _, err := voice(ctx, tx, r, math.MaxInt64)
	if err != nil || newest.Number > r.Number {
		return err
	}
	before, spoke, err := voice(ctx, tx, r, r.Number)
	if err != nil {
		return err
	}
	changed := map[int64]bool{r.BoardID: true, r.GroupID: true}
	if spoke {
		changed[before.GroupID] = true
		if err := sound(ctx, tx, before, false); err != nil {
			return err
		}
	}
	if err := sound(ctx, tx, r, true); err != nil {
		return err
	}
	for groupID := range changed {
		if err := figure(ctx, tx, groupID); err != nil {
			return err
		}
	}
	return nil
}

// voice finds the newest ranked result of the key of r with a number below before.
func voice(ctx context.Context, tx *db.Tx, r query.BenchmarkResult, before int64) (found query.BenchmarkResult, ok bool, err error) {
	found, err = tx.BenchmarkVoice(ctx, query.BenchmarkVoiceParams{BoardID: r.BoardID, WorkerKeyID: r.WorkerKeyID, Before: before})
	if db.IsNotFound(err) {
		return found, false, nil
	}
	if err != nil {
		return found, false, fmt.Errorf("find the voice of a key: %w", err)
	}
	return found, true, nil
}

// sound adds a voice to the counts of its board and its GPU, or takes it out of them.
func sound(ctx context.Context, tx *db.Tx, r query.BenchmarkResult, on bool) error {
	speaks := int64(0)
	if on {
		speaks = 1
	}
	if err := tx.BenchmarkSpeak(ctx, query.BenchmarkSpeakParams{Speaks: speaks, Number: r.Number}); err != nil {
		return fmt.Errorf("give a key its voice: %w", err)
	}
	more := 2*speaks - 1
	for _, group := range []int64{r.BoardID, r.GroupID} {
		if err := tx.BenchmarkGroupCount(ctx, query.BenchmarkGroupCountParams{Results: more, Synthetic: more * r.Synthetic, GroupID: group}); err != nil {
			return fmt.Errorf("count a voice: %w", err)
		}
		if err := tally(ctx, tx, group, byScore, r.Score, on); err != nil {
			return err
		}
		if group == r.BoardID {
			continue // no query returns times of all GPUs
		}
		if err := tally(ctx, tx, group, byTime, r.TimeMs, on); err != nil {
			return err
		}
	}
	return nil
}

// figure recomputes the figures of a group from its tallies.
func figure(ctx context.Context, tx *db.Tx, groupID int64) error {
	g, err := tx.BenchmarkGroupGet(ctx, groupID)
	if err != nil {
		return fmt.Errorf("read a group: %w", err)
	}
	if g, err = figured(ctx, tx, g); err != nil {
		return err
	}
	err = tx.BenchmarkGroupFigures(ctx, query.BenchmarkGroupFiguresParams{
		ScoreTop: g.ScoreTop, ScoreMean: g.ScoreMean, ScoreMedian: g.ScoreMedian, TimeBest: g.TimeBest, TimeMean: g.TimeMean, TimeMedian: g.TimeMedian, GroupID: groupID,
	})
	if err != nil {
		return fmt.Errorf("write the figures of a group: %w", err)
	}
	return nil
}

// figured returns a group with the figures that its tallies give; all 0 without a voice. A
// board has none of times.
func figured(ctx context.Context, tx *db.Tx, g query.BenchmarkGroup) (query.BenchmarkGroup, error) {
	n := g.Results
	g.ScoreTop, g.ScoreMean, g.ScoreMedian, g.TimeBest, g.TimeMean, g.TimeMedian = 0, 0, 0, 0, 0, 0
	if n == 0 {
		return g, nil
	}
	var err error
	read := func(into *int64, of func() (int64, error)) {
		if err == nil {
			*into, err = of()
		}
	}
	read(&g.ScoreTop, func() (int64, error) { return greatest(ctx, tx, g.GroupID, byScore, 1) })
	read(&g.ScoreMean, func() (int64, error) { return trimmedMean(ctx, tx, g.GroupID, byScore, n) })
	read(&g.ScoreMedian, func() (int64, error) { return median(ctx, tx, g.GroupID, byScore, n) })
	if g.GpuSlug == "" {
		return g, err
	}
	read(&g.TimeBest, func() (int64, error) { return greatest(ctx, tx, g.GroupID, byTime, n) })
	read(&g.TimeMean, func() (int64, error) { return trimmedMean(ctx, tx, g.GroupID, byTime, n) })
	read(&g.TimeMedian, func() (int64, error) { return median(ctx, tx, g.GroupID, byTime, n) })
	return g, err
}
