package leaderboard

import (
	"context"
	"fmt"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/work/benchmark"
)

// Row is a result among others (spec 4.6).
type Row struct {
	ResultID              string             `json:"result_id" doc:"Begins with BMR-."`
	ReceiptID             string             `json:"receipt_id" doc:"Begins with RCT-."`
	GPUName               string             `json:"gpu_name" doc:"unknown of a CPU's result."`
	GPUSlug               string             `json:"gpu_slug" doc:"unknown of a CPU's result."`
	DeviceName            string             `json:"device_name" doc:"What rendered, as the worker named it."`
	VRAMGB                *int64             `json:"vram_gb"`
	Score                 float64            `json:"score" doc:"Samples per minute, summed over the scenes; higher is better."`
	RenderSeconds         float64            `json:"render_seconds" doc:"On the clock, summed over the scenes."`
	RenderDevice          string             `json:"render_device" enum:"GPU,CPU"`
	Synthetic             bool               `json:"synthetic" doc:"Nothing was rendered: a test of the service itself."`
	Verification          benchmark.Standing `json:"verification" enum:"verified,waiting,unverified,outlier,refuted,synthetic" doc:"Whether a picture that the service drew was rendered with it. Only verified and synthetic ones are ranked."`
	CreatedAt             time.Time          `json:"created_at"`
	BenchmarkVersion      string             `json:"benchmark_version"`
	SceneVersion          string             `json:"scene_version"`
	ScoringVersion        string             `json:"scoring_version"`
	GlobalPercentileLabel Label              `json:"global_percentile_label" enum:"top_1,top_5,top_10,top_25,top_50,bottom_50,unknown" doc:"Among all GPUs' results under equal versions; unknown of a CPU's result and under 3 results."`
	ReceiptSchemaVersion  string             `json:"receipt_schema_version" doc:"The predicate type that the worker signed."`
	PublicResultURL       string             `json:"public_result_url" format:"uri"`
	GPUPageURL            *string            `json:"gpu_page_url" format:"uri" doc:"The GPU's page; null of a result that is not ranked."`
}

// TopRow is a row with its place.
type TopRow struct {
	Rank int64 `json:"rank" doc:"1 is the best; equal scores have equal ranks."`
	Row
}

// Top is the best results of all GPUs.
type Top struct {
	Rows        []TopRow `json:"rows" doc:"The best first; of equal scores the earlier."`
	SampleCount int64    `json:"sample_count" doc:"Results that the ranks are among."`
	Versions
}

// Top reads the n best results under the current versions. Ranks are counted along the
// rows, because the list begins at the best.
func (b *Board) Top(ctx context.Context, n int) (t Top, err error) {
	t = Top{Rows: []TopRow{}, Versions: Current()}
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		board, err := groupOf(ctx, tx, t.Versions, "")
		if err != nil || board.Results == 0 {
			return err
		}
		t.SampleCount = board.Results
		rows, err := tx.BenchmarkTop(ctx, query.BenchmarkTopParams{BoardID: board.GroupID, Most: int32(n)})
		if err != nil {
			return fmt.Errorf("read the best results: %w", err)
		}
		for i, row := range rows {
			top := TopRow{Rank: int64(i + 1), Row: b.row(row, board)}
			if i > 0 && row.Score == rows[i-1].Score {
				top.Rank = t.Rows[i-1].Rank
			}
			top.GlobalPercentileLabel = labelOf(top.Rank, board.Results)
			t.Rows = append(t.Rows, top)
		}
		return nil
	})
	return t, err
}

// Latest reads the n newest results, CPUs' and those under older versions too.
// Each row's label is among the results under its own versions.
func (b *Board) Latest(ctx context.Context, n int) (rows []Row, err error) {
	rows = []Row{}
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		found, err := tx.BenchmarkLatest(ctx, int32(n))
		if err != nil {
			return fmt.Errorf("read the newest results: %w", err)
		}
		rows, err = b.rows(ctx, tx, found)
		return err
	})
	return rows, err
}

// rows gives results their labels; what that takes is read once a board.
func (b *Board) rows(ctx context.Context, tx *db.Tx, found []query.BenchmarkResult) ([]Row, error) {
	rows, boards := []Row{}, map[int64]*cutoffs{}
	for _, row := range found {
		s := boards[row.BoardID]
		if s == nil {
			board, err := tx.BenchmarkGroupGet(ctx, row.BoardID)
			if err != nil {
				return nil, fmt.Errorf("read board: %w", err)
			}
			if s, err = cutoffsOf(ctx, tx, board); err != nil {
				return nil, err
			}
			boards[row.BoardID] = s
		}
		r := b.row(row, s.board)
		if row.GroupID > 0 {
			r.GlobalPercentileLabel = s.label(row.Score)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// row converts a stored result, without its label. Group 0 is that of a result in no
// ranking.
func (b *Board) row(row query.BenchmarkResult, board query.BenchmarkGroup) Row {
	r := Row{
		ResultID: row.ResultID, ReceiptID: row.ReceiptID, GPUName: row.GpuName, GPUSlug: row.GpuSlug, DeviceName: row.DeviceName,
		VRAMGB: db.Optional(row.VramGb), Score: thousandths(row.Score), RenderSeconds: thousandths(row.TimeMs), RenderDevice: benchmark.GPU,
		Synthetic: row.Synthetic == 1, Verification: benchmark.Standing(row.Standing), CreatedAt: db.Time(row.CreatedAt),
		BenchmarkVersion: board.BenchmarkVersion, SceneVersion: board.SceneVersion, ScoringVersion: board.ScoringVersion,
		GlobalPercentileLabel: NoLabel, ReceiptSchemaVersion: benchmark.ReceiptType, PublicResultURL: b.Links.Result(row.ResultID),
	}
	if row.GpuSlug == benchmark.Unknown {
		r.RenderDevice = benchmark.CPU
	}
	if row.GroupID == 0 {
		return r
	}
	page := b.Links.GPU(row.GpuSlug)
	r.GPUPageURL = &page
	return r
}

// groupOf reads a group; the zero group, without results, when there is none.
// The slug "" is the group of all GPUs, the board.
func groupOf(ctx context.Context, tx *db.Tx, v Versions, slug string) (query.BenchmarkGroup, error) {
	g, err := tx.BenchmarkGroupFind(ctx, query.BenchmarkGroupFindParams{
		BenchmarkVersion: v.Benchmark, SceneVersion: v.Scene, ScoringVersion: v.Scoring, GpuSlug: slug,
	})
	if db.IsNotFound(err) {
		return query.BenchmarkGroup{}, nil
	}
	if err != nil {
		return g, fmt.Errorf("read group %q: %w", slug, err)
	}
	return g, nil
}

// Stats is the leaderboard in short, under the current versions.
type Stats struct {
	TotalSubmissions     int64      `json:"total_submissions" doc:"Keys whose newest ranked result counts."`
	SyntheticSubmissions int64      `json:"synthetic_submissions" doc:"How many of these results are synthetic."`
	GPUCount             int64      `json:"gpu_count"`
	TopScore             *float64   `json:"top_score"`
	MedianScore          *float64   `json:"median_score"`
	AverageScore         *float64   `json:"average_score"`
	CommonGPUs           []GPUShort `json:"common_gpus" doc:"Those with the most results, at most 10."`
	ScoreFormula         string     `json:"score_formula" doc:"What scoring_version computes."`
	LastUpdated          *time.Time `json:"last_updated"`
	Versions             Versions   `json:"versions"`
}

// commonMost is how many GPUs the summary names.
const commonMost = 10

// ScoreFormula is contract.ScoringVersion in words.
const ScoreFormula = "score = sum over the scenes of samples * 60 / render_seconds, each rounded to the thousandth"

// Stats reads the summary. Without results all figures are null.
func (b *Board) Stats(ctx context.Context) (s Stats, err error) {
	s = Stats{CommonGPUs: []GPUShort{}, ScoreFormula: ScoreFormula, Versions: Current()}
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		board, err := groupOf(ctx, tx, s.Versions, "")
		if err != nil || board.Results == 0 {
			return err
		}
		f := figuresOf(board)
		s.TotalSubmissions, s.SyntheticSubmissions = board.Results, board.Synthetic
		s.TopScore, s.MedianScore, s.AverageScore, s.LastUpdated = f.TopScore, f.MedianScore, f.AverageScore, f.LastUpdated
		if s.GPUCount, err = countGPUs(ctx, tx, s.Versions); err != nil {
			return err
		}
		s.CommonGPUs, err = common(ctx, tx, s.Versions, commonMost)
		return err
	})
	return s, err
}

// GPUShort is a GPU among others.
type GPUShort struct {
	GPUName      string  `json:"gpu_name"`
	GPUSlug      string  `json:"gpu_slug"`
	GPUVendor    string  `json:"gpu_vendor"`
	VRAMGB       *int64  `json:"vram_gb"`
	SampleCount  int64   `json:"sample_count"`
	MedianScore  float64 `json:"median_score"`
	AverageScore float64 `json:"average_score" doc:"Without the best and the worst quarter."`
	TopScore     float64 `json:"top_score"`
	Synthetic    bool    `json:"synthetic" doc:"Some of the results were not rendered."`

	// The same under the names of other leaderboards of this interface.
	Submissions      int64   `json:"submissions" doc:"The same as sample_count."`
	AvgScore         float64 `json:"avg_score" doc:"The same as average_score."`
	AvgRenderSeconds float64 `json:"avg_render_seconds" doc:"The average render time, without the best and the worst quarter."`
}

// gpusMost bounds the list of GPUs.
const gpusMost = 500

// GPUs are those that have results under the current versions.
type GPUs struct {
	GPUs  []GPUShort `json:"gpus" doc:"Under the current versions, those with the most results first; at most 500."`
	Total int64      `json:"total_gpus" doc:"How many there are, those beyond the list too."`
}

// GPUs lists the GPUs with the most results under the current versions. At most gpusMost;
// a GPU beyond is still found by its slug and by search.
func (b *Board) GPUs(ctx context.Context) (all GPUs, err error) {
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		if all.GPUs, err = common(ctx, tx, Current(), gpusMost); err != nil {
			return err
		}
		all.Total, err = countGPUs(ctx, tx, Current())
		return err
	})
	return all, err
}

func countGPUs(ctx context.Context, tx *db.Tx, v Versions) (int64, error) {
	n, err := tx.BenchmarkGroupsCount(ctx, query.BenchmarkGroupsCountParams{BenchmarkVersion: v.Benchmark, SceneVersion: v.Scene, ScoringVersion: v.Scoring})
	if err != nil {
		return 0, fmt.Errorf("count GPUs: %w", err)
	}
	return n, nil
}

// common reads the GPUs with the most results. Their figures are those stored with the
// group, so no tally is read.
func common(ctx context.Context, tx *db.Tx, v Versions, most int32) ([]GPUShort, error) {
	groups, err := tx.BenchmarkGroupsCommon(ctx, query.BenchmarkGroupsCommonParams{
		BenchmarkVersion: v.Benchmark, SceneVersion: v.Scene, ScoringVersion: v.Scoring, Most: most,
	})
	if err != nil {
		return nil, fmt.Errorf("list GPUs: %w", err)
	}
	all := []GPUShort{}
	for _, g := range groups {
		all = append(all, GPUShort{
			GPUName: g.GpuName, GPUSlug: g.GpuSlug, GPUVendor: g.GpuVendor, VRAMGB: db.Optional(g.VramGb), SampleCount: g.Results,
			MedianScore: thousandths(g.ScoreMedian), AverageScore: thousandths(g.ScoreMean), TopScore: thousandths(g.ScoreTop), Synthetic: g.Synthetic > 0,
			Submissions: g.Results, AvgScore: thousandths(g.ScoreMean), AvgRenderSeconds: thousandths(g.TimeMean),
		})
	}
	return all, nil
}

// hasPercentiles reports whether there are percentiles for so many results.
func hasPercentiles(results int64) bool { return results >= contract.PercentileSamples }
