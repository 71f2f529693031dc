package leaderboard

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
)

// Figures are the statistics of a GPU, or of all GPUs, under the current versions. Each
// key has one voice in them, its newest ranked result, and averages leave out the best
// and the worst quarter. Scores are samples per minute, times are seconds on the clock.
// All pointers are nil for a GPU that has results only under other versions.
type Figures struct {
	GPUName              string     `json:"gpu_name"`
	GPUSlug              string     `json:"gpu_slug"`
	GPUVendor            string     `json:"gpu_vendor"`
	VRAMGB               *int64     `json:"vram_gb"`
	SampleCount          int64      `json:"sample_count" doc:"Keys whose newest ranked result is of this GPU."`
	SyntheticCount       int64      `json:"synthetic_count" doc:"Results that nothing was rendered for."`
	TopScore             *float64   `json:"top_score"`
	MedianScore          *float64   `json:"median_score"`
	AverageScore         *float64   `json:"average_score" doc:"Without the best and the worst quarter."`
	AverageRenderSeconds *float64   `json:"average_render_seconds" doc:"Without the best and the worst quarter."`
	MedianRenderSeconds  *float64   `json:"median_render_seconds"`
	BestRenderSeconds    *float64   `json:"best_render_seconds"`
	LastUpdated          *time.Time `json:"last_updated"`
}

// GPU is one GPU (spec 4.6).
type GPU struct {
	Figures
	Percentiles       *Distribution     `json:"percentile_distribution" doc:"How many of the GPU's results are in which part of all results; each counts once. Null under 3 results."`
	LatestResults     []Row             `json:"latest_results" doc:"The newest of those that are ranked first, at most 25."`
	UnverifiedResults []Row             `json:"unverified_results" doc:"The newest of those that are not ranked, at most 10; verification says why."`
	BenchmarkVersions []CountedVersions `json:"benchmark_versions" doc:"Under which versions there are results; the figures are of those of /stats."`

	average int64 // the average score as it is stored; 0 without results
}

// CountedVersions are versions under which a GPU has results.
type CountedVersions struct {
	Versions
	SampleCount int64 `json:"sample_count" doc:"Keys whose newest ranked result under these versions is of this GPU."`
}

// figuresOf converts the statistics that are stored with a group.
func figuresOf(g query.BenchmarkGroup) Figures {
	f := Figures{GPUName: g.GpuName, GPUSlug: g.GpuSlug, GPUVendor: g.GpuVendor, VRAMGB: db.Optional(g.VramGb), SampleCount: g.Results, SyntheticCount: g.Synthetic}
	if g.Results == 0 {
		return f
	}
	f.TopScore, f.MedianScore, f.AverageScore, f.LastUpdated = new(thousandths(g.ScoreTop)), new(thousandths(g.ScoreMedian)), new(thousandths(g.ScoreMean)), new(db.Time(g.UpdatedAt))
	if g.GpuSlug != "" { // times of all GPUs together are not counted
		f.AverageRenderSeconds, f.MedianRenderSeconds, f.BestRenderSeconds = new(thousandths(g.TimeMean)), new(thousandths(g.TimeMedian)), new(thousandths(g.TimeBest))
	}
	return f
}

// find returns a GPU's group under the current versions, and all its groups. A GPU
// with results only under other versions gets an empty group. Error: gpu_not_found.
func find(ctx context.Context, tx *db.Tx, slug string) (current query.BenchmarkGroup, all []query.BenchmarkGroup, err error) {
	if slug != "" {
		if all, err = tx.BenchmarkGroupsOfSlug(ctx, slug); err != nil {
			return current, nil, fmt.Errorf("find GPU %q: %w", slug, err)
		}
	}
	if len(all) == 0 {
		return current, nil, fault.New(fault.GPUNotFound, "There are no results for the GPU %q.", slug)
	}
	for _, g := range all {
		if versionsOfGroup(g) == Current() {
			return g, all, nil
		}
	}
	g := all[0]
	return query.BenchmarkGroup{GpuSlug: g.GpuSlug, GpuName: g.GpuName, GpuVendor: g.GpuVendor, VramGb: g.VramGb}, all, nil
}

// versionsOfGroup are the versions whose results the group counts.
func versionsOfGroup(g query.BenchmarkGroup) Versions {
	return Versions{g.BenchmarkVersion, g.SceneVersion, g.ScoringVersion}
}

// gpuLatest and gpuApart are how many results a GPU's page shows: ranked ones, and others.
const (
	gpuLatest = contract.LatestDefault
	gpuApart  = 10
)

// GPU reads one GPU. Error: gpu_not_found. All of it is read in one transaction, so the
// figures fit the list of results.
func (b *Board) GPU(ctx context.Context, slug string) (g GPU, err error) {
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		g, err = b.gpu(ctx, tx, slug)
		return err
	})
	return g, err
}

func (b *Board) gpu(ctx context.Context, tx *db.Tx, slug string) (g GPU, err error) {
	group, all, err := find(ctx, tx, slug)
	if err != nil {
		return g, err
	}
	g = GPU{LatestResults: []Row{}, UnverifiedResults: []Row{}, BenchmarkVersions: []CountedVersions{}}
	for _, one := range all {
		g.BenchmarkVersions = append(g.BenchmarkVersions, CountedVersions{versionsOfGroup(one), one.Results})
	}
	g.Figures = figuresOf(group)
	if group.Results > 0 {
		g.average = group.ScoreMean
	}
	if g.UnverifiedResults, err = b.unverifiedResults(ctx, tx, slug); err != nil || group.Results == 0 {
		return g, err
	}
	// Percentiles are among all GPUs, so they need the board and not only this group.
	board, err := groupOf(ctx, tx, Current(), "")
	if err != nil {
		return g, err
	}
	s, err := cutoffsOf(ctx, tx, board)
	if err != nil {
		return g, err
	}
	if g.Percentiles, err = s.distribution(ctx, tx, group); err != nil {
		return g, err
	}
	rows, err := tx.BenchmarkLatestOf(ctx, query.BenchmarkLatestOfParams{GroupID: group.GroupID, Most: gpuLatest})
	if err != nil {
		return g, fmt.Errorf("read the newest results: %w", err)
	}
	for _, row := range rows {
		r := b.row(row, board)
		r.GlobalPercentileLabel = s.label(row.Score)
		g.LatestResults = append(g.LatestResults, r)
	}
	return g, nil
}

// unverifiedResults lists a GPU's newest results that are not ranked.
func (b *Board) unverifiedResults(ctx context.Context, tx *db.Tx, slug string) ([]Row, error) {
	found, err := tx.BenchmarkLatestApart(ctx, query.BenchmarkLatestApartParams{GpuSlug: slug, Most: gpuApart})
	if err != nil {
		return nil, fmt.Errorf("read the results that are not ranked: %w", err)
	}
	return b.rows(ctx, tx, found)
}

// Delta is the difference of GPU A from GPU B; null where either is unknown.
type Delta struct {
	Absolute *float64 `json:"absolute" doc:"Of A less that of B."`
	Percent  *float64 `json:"percent" doc:"The same, in per cent of that of B."`
}

// Comparison is two GPUs side by side. The differences of the averages are in three places,
// because pages for other leaderboards of this interface read them in deltas, or in the
// deltas of data.
type Comparison struct {
	A      Compared `json:"gpu_a"`
	B      Compared `json:"gpu_b"`
	Deltas Deltas   `json:"deltas"`
	Data   Averages `json:"data" doc:"The differences of the averages once more."`
	AverageDeltas
}

// Averages has the differences of the averages alone.
type Averages struct {
	Deltas AverageDeltas `json:"deltas"`
}

// Compared is one GPU of a comparison.
type Compared struct {
	Figures
	LatestResults []Row `json:"latest_results" doc:"The newest of those that are ranked first, at most 25."`
}

// AverageDeltas are the differences of the averages of two GPUs.
type AverageDeltas struct {
	ScoreDelta                *float64 `json:"score_delta" doc:"The average score of A less that of B."`
	ScoreDeltaPercent         *float64 `json:"score_delta_percent" doc:"The same, in per cent of that of B."`
	RenderSecondsDelta        *float64 `json:"render_seconds_delta" doc:"The average render time of A less that of B; below 0 where A is faster."`
	RenderSecondsDeltaPercent *float64 `json:"render_seconds_delta_percent" doc:"The same, in per cent of that of B."`
	AveragePercentileA        *float64 `json:"average_percentile_a" minimum:"0" maximum:"100" doc:"Per cent of all GPUs' results with a lower score than the average of A; null under 3 results."`
	AveragePercentileB        *float64 `json:"average_percentile_b" minimum:"0" maximum:"100" doc:"The same of B."`
	PercentileDelta           *float64 `json:"percentile_delta" doc:"That of A less that of B, in percentage points."`
	SampleCountA              int64    `json:"sample_count_a"`
	SampleCountB              int64    `json:"sample_count_b"`
}

// Deltas are the differences by figure.
type Deltas struct {
	AverageDeltas
	TopScore             Delta `json:"top_score"`
	MedianScore          Delta `json:"median_score"`
	AverageScore         Delta `json:"average_score"`
	AverageRenderSeconds Delta `json:"average_render_seconds"`
	MedianRenderSeconds  Delta `json:"median_render_seconds"`
	BestRenderSeconds    Delta `json:"best_render_seconds"`
}

// Compare reads two GPUs. Error: gpu_not_found. Both are read in one transaction. A GPU
// compared with itself has differences of 0.
func (b *Board) Compare(ctx context.Context, slugA, slugB string) (c Comparison, err error) {
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		c = Comparison{}
		if c.A, c.AveragePercentileA, err = b.side(ctx, tx, slugA); err != nil {
			return err
		}
		c.B, c.AveragePercentileB, err = b.side(ctx, tx, slugB)
		return err
	})
	c.SampleCountA, c.SampleCountB = c.A.SampleCount, c.B.SampleCount
	c.Deltas = Deltas{
		AverageDeltas{}, delta(c.A.TopScore, c.B.TopScore), delta(c.A.MedianScore, c.B.MedianScore), delta(c.A.AverageScore, c.B.AverageScore),
		delta(c.A.AverageRenderSeconds, c.B.AverageRenderSeconds), delta(c.A.MedianRenderSeconds, c.B.MedianRenderSeconds),
		delta(c.A.BestRenderSeconds, c.B.BestRenderSeconds),
	}
	c.ScoreDelta, c.ScoreDeltaPercent = c.Deltas.AverageScore.Absolute, c.Deltas.AverageScore.Percent
	c.RenderSecondsDelta, c.RenderSecondsDeltaPercent = c.Deltas.AverageRenderSeconds.Absolute, c.Deltas.AverageRenderSeconds.Percent
	c.PercentileDelta = delta(c.AveragePercentileA, c.AveragePercentileB).Absolute
	c.Deltas.AverageDeltas, c.Data.Deltas = c.AverageDeltas, c.AverageDeltas
	return c, err
}

// side reads one GPU of a comparison, and the percentile that its average score has among
// all GPUs' results.
func (b *Board) side(ctx context.Context, tx *db.Tx, slug string) (c Compared, percentile *float64, err error) {
	g, err := b.gpu(ctx, tx, slug)
	c = Compared{g.Figures, g.LatestResults}
	if err != nil || g.average == 0 {
		return c, nil, err
	}
	board, err := groupOf(ctx, tx, Current(), "")
	if err != nil {
		return c, nil, err
	}
	place, err := placeOf(ctx, tx, board, g.average)
	return c, place.Percentile, err
}

// No percentage where B is 0.
func delta(a, b *float64) (d Delta) {
	if a == nil || b == nil {
		return d
	}
	more := *a - *b
	d.Absolute = &more
	if *b != 0 {
		percent := 100 * more / *b
		d.Percent = &percent
	}
	return d
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
