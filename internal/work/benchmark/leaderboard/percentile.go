package leaderboard

import (
	"context"
	"math"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
)

// Label is the part of all results that a result is in.
type Label string

// Labels. Each result has one: the narrowest part that contains it.
const (
	Top1     Label = "top_1"
	Top5     Label = "top_5"
	Top10    Label = "top_10"
	Top25    Label = "top_25"
	Top50    Label = "top_50"
	Bottom50 Label = "bottom_50"
	NoLabel  Label = "unknown"
)

// part is the best percent of all results.
type part struct {
	label   Label
	percent int64
}

// From the narrowest to the widest, so the first that fits is the label.
func parts() []part {
	return []part{{Top1, 1}, {Top5, 5}, {Top10, 10}, {Top25, 25}, {Top50, 50}}
}

// labelOf returns the label of a rank among so many results: top_5 is a rank within the
// first five hundredths. In whole numbers, so that no result is at a boundary by rounding.
func labelOf(rank, among int64) Label {
	if !hasPercentiles(among) {
		return NoLabel
	}
	for _, p := range parts() {
		if rank*100 <= p.percent*among {
			return p.label
		}
	}
	return Bottom50
}

// cutoffs is a board with the lowest score of each part, so that labelling a page of
// results costs no query per row.
type cutoffs struct {
	board query.BenchmarkGroup
	least []int64 // by parts(); -1 where the part is too small for a rank
}

// It reads the tally once for each part. For fewer results than a percentile needs, least
// is nil.
func cutoffsOf(ctx context.Context, tx *db.Tx, board query.BenchmarkGroup) (*cutoffs, error) {
	s := &cutoffs{board: board}
	if !hasPercentiles(board.Results) {
		return s, nil
	}
	for _, p := range parts() {
		last := p.percent * board.Results / 100 // the last rank of the part
		score := int64(-1)
		if last > 0 {
			var err error
			if score, err = greatest(ctx, tx, board.GroupID, byScore, last); err != nil {
				return nil, err
			}
		}
		s.least = append(s.least, score)
	}
	return s, nil
}

// It gives the same label as labelOf for the score's rank: a score that reaches a cutoff
// is at that rank or above.
func (s *cutoffs) label(score int64) Label {
	for i, least := range s.least {
		if least >= 0 && score >= least {
			return parts()[i].label
		}
	}
	if s.least == nil {
		return NoLabel
	}
	return Bottom50
}

// Distribution counts a GPU's results by their label among all GPUs' results. Each
// result is counted once.
type Distribution struct {
	Top1     int64 `json:"top_1"`
	Top5     int64 `json:"top_5"`
	Top10    int64 `json:"top_10"`
	Top25    int64 `json:"top_25"`
	Top50    int64 `json:"top_50"`
	Bottom50 int64 `json:"bottom_50"`
}

// distribution returns nil when there are too few results. The part of each label is what
// the wider part has more than the narrower one. The board has at least as many results as
// one of its GPUs, so least is not nil here.
func (s *cutoffs) distribution(ctx context.Context, tx *db.Tx, gpu query.BenchmarkGroup) (*Distribution, error) {
	if !hasPercentiles(gpu.Results) {
		return nil, nil
	}
	d := &Distribution{}
	counted := int64(0)
	for i, count := range []*int64{&d.Top1, &d.Top5, &d.Top10, &d.Top25, &d.Top50} {
		if s.least[i] < 0 {
			continue
		}
		within, err := above(ctx, tx, gpu.GroupID, byScore, s.least[i]-1)
		if err != nil {
			return nil, err
		}
		*count = within - counted
		counted = within
	}
	d.Bottom50 = gpu.Results - counted
	return d, nil
}

// Place is a score's position among the results of a group.
type Place struct {
	Rank       *int64   `json:"rank" doc:"1 is the best; equal scores have equal ranks. Null of a CPU's result."`
	Among      int64    `json:"among" doc:"Results that the rank is among."`
	Percentile *float64 `json:"percentile" minimum:"0" maximum:"100" doc:"Per cent of these results that have a lower score; null under 3 results."`
	Label      Label    `json:"label" enum:"top_1,top_5,top_10,top_25,top_50,bottom_50,unknown"`
}

// The rank is one more than the number of better results, so equal scores share it. The
// percentile counts only lower scores.
func placeOf(ctx context.Context, tx *db.Tx, group query.BenchmarkGroup, score int64) (Place, error) {
	p := Place{Among: group.Results, Label: NoLabel}
	better, err := above(ctx, tx, group.GroupID, byScore, score)
	if err != nil {
		return p, err
	}
	rank := better + 1
	p.Rank, p.Label = &rank, labelOf(rank, group.Results)
	if !hasPercentiles(group.Results) {
		return p, nil
	}
	reached, err := above(ctx, tx, group.GroupID, byScore, score-1)
	if err != nil {
		return p, err
	}
	percentile := 100 * float64(group.Results-reached) / float64(group.Results)
	p.Percentile = &percentile
	return p, nil
}

// Ranked is the place that a score would have among all GPUs' results.
type Ranked struct {
	Rank        *int64 `json:"rank" doc:"One more than the number of results with a higher score; null while there are no results."`
	SampleCount int64  `json:"sample_count" doc:"Results that the rank is among."`
	Label       Label  `json:"percentile_label" enum:"top_1,top_5,top_10,top_25,top_50,bottom_50,unknown" doc:"unknown under 3 results."`
}

// Rank places a score, in samples per minute from 0 to a million and rounded to the
// thousandth, among the results under the current versions. It adds nothing to them.
func (b *Board) Rank(ctx context.Context, score float64) (r Ranked, err error) {
	r = Ranked{Label: NoLabel}
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		board, err := groupOf(ctx, tx, Current(), "")
		if err != nil || board.Results == 0 {
			return err
		}
		place, err := placeOf(ctx, tx, board, int64(math.Round(score*1000)))
		r = Ranked{Rank: place.Rank, SampleCount: place.Among, Label: place.Label}
		return err
	})
	return r, err
}
