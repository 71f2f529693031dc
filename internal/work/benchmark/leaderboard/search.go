package leaderboard

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/work/benchmark"
)

// Hit is a GPU or a result that a search has found. Exactly one of SampleCount and
// ResultID is set, by Type.
type Hit struct {
	Type        HitType `json:"type" enum:"gpu,result"`
	Title       string  `json:"title"`
	GPUSlug     string  `json:"gpu_slug"`
	URL         string  `json:"url" format:"uri"`
	SampleCount *int64  `json:"sample_count,omitempty" doc:"Of a GPU."`
	ResultID    *string `json:"result_id,omitempty" doc:"Of a result."`

	Subtitle      string  `json:"subtitle" doc:"Of a GPU its vendor, memory and number of results; of a result its device and day, and its verification where that is not verified."`
	Score         float64 `json:"score" doc:"Of a GPU the average; samples per minute."`
	RenderSeconds float64 `json:"render_seconds" doc:"Of a GPU the average."`
}

// HitType is what was found.
type HitType string

// Types of hits.
const (
	HitGPU    HitType = "gpu"
	HitResult HitType = "result"
)

// Found is the answer to a search.
type Found struct {
	Query       string `json:"query"`
	ResultCount int    `json:"result_count"`
	Results     []Hit  `json:"results" doc:"GPUs first, by their number of results; then results, the newest first."`
}

// Bounds of a search. All words must occur in one value of a public member. The
// number of distinct values stays small with any number of results.
const (
	searchWords  = 4  // further words are ignored
	searchGPUs   = 25 // leaves space for results
	searchValues = 16 // values whose results are read, newest first
)

// Search finds GPUs by their names under the current versions, and results by their ids
// and by GPU, driver, CPU, system, Blender and device. An empty query finds nothing. An id
// finds only its result. Case is ignored, and words are not patterns: % and _ are plain
// characters.
func (b *Board) Search(ctx context.Context, text string) (f Found, err error) {
	f = Found{Query: text, Results: []Hit{}}
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return f, nil
	}
	err = b.DB.Read(ctx, func(tx *db.Tx) error {
		f.Results = []Hit{}
		if hit, err := b.byID(ctx, tx, strings.TrimSpace(text)); err != nil || hit != nil {
			f.Results = append(f.Results, hit...)
			return err
		}
		like := patterns(words)
		if err := b.searchGPUs(ctx, tx, like, &f); err != nil {
			return err
		}
		return b.searchResults(ctx, tx, like, &f)
	})
	f.ResultCount = len(f.Results)
	return f, err
}

// patterns returns LIKE patterns for the words. Missing words match any text.
func patterns(words []string) (like [searchWords]string) {
	escape := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	for i := range like {
		like[i] = "%"
		if i < len(words) {
			like[i] = "%" + escape.Replace(words[i]) + "%"
		}
	}
	return like
}

// byID finds a result by its own id or its receipt's id. nil means that the text is no id
// of a known result, and the search continues by words.
func (b *Board) byID(ctx context.Context, tx *db.Tx, text string) ([]Hit, error) {
	resultID := text
	if id.Valid(id.Receipt, text) {
		var err error
		if resultID, err = tx.BenchmarkResultOfReceipt(ctx, text); err != nil && !db.IsNotFound(err) {
			return nil, fmt.Errorf("search a receipt: %w", err)
		}
	}
	if !id.Valid(id.Benchmark, resultID) {
		return nil, nil
	}
	row, err := tx.BenchmarkResultGet(ctx, resultID)
	if db.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("search a result: %w", err)
	}
	return []Hit{b.hit(row)}, nil
}

// hit shows a result by its device and its score.
func (b *Board) hit(row query.BenchmarkResult) Hit {
	device := benchmark.GPU
	if row.GpuSlug == benchmark.Unknown {
		device = benchmark.CPU
	}
	about := []string{device, db.Time(row.CreatedAt).Format(time.DateOnly)}
	if row.Standing != string(benchmark.Verified) {
		about = append(about, row.Standing)
	}
	return Hit{
		Type: HitResult, Title: row.DeviceName + ", " + strconv.FormatFloat(thousandths(row.Score), 'f', 1, 64), Subtitle: strings.Join(about, ", "),
		GPUSlug: row.GpuSlug, URL: b.Links.Result(row.ResultID), ResultID: &row.ResultID, Score: thousandths(row.Score), RenderSeconds: thousandths(row.TimeMs),
	}
}

// nothingRendered marks synthetic results in a subtitle.
const nothingRendered = "synthetic"

// hitGPU shows a GPU by its name and its averages.
func (b *Board) hitGPU(g query.BenchmarkGroup) Hit {
	about := []string{}
	if g.GpuVendor != benchmark.Unknown {
		about = append(about, g.GpuVendor)
	}
	if g.VramGb > 0 {
		about = append(about, fmt.Sprintf("%d GB", g.VramGb))
	}
	if g.Results == 1 {
		about = append(about, "1 result")
	} else {
		about = append(about, fmt.Sprintf("%d results", g.Results))
	}
	if g.Synthetic > 0 {
		about = append(about, nothingRendered)
	}
	return Hit{
		Type: HitGPU, Title: g.GpuName, Subtitle: strings.Join(about, ", "), GPUSlug: g.GpuSlug, URL: b.Links.GPU(g.GpuSlug), SampleCount: &g.Results,
		Score: thousandths(g.ScoreMean), RenderSeconds: thousandths(g.TimeMean),
	}
}

// searchGPUs appends the GPUs whose name or slug contains all words.
func (b *Board) searchGPUs(ctx context.Context, tx *db.Tx, like [searchWords]string, f *Found) error {
	v := Current()
	groups, err := tx.BenchmarkGroupsLike(ctx, query.BenchmarkGroupsLikeParams{
		BenchmarkVersion: v.Benchmark, SceneVersion: v.Scene, ScoringVersion: v.Scoring,
		Word1: like[0], Word2: like[1], Word3: like[2], Word4: like[3], Most: searchGPUs,
	})
	if err != nil {
		return fmt.Errorf("search GPUs: %w", err)
	}
	for _, g := range groups {
		f.Results = append(f.Results, b.hitGPU(g))
	}
	return nil
}

// searchResults reads the newest results of each value that contains all words. A result
// under several values comes once.
func (b *Board) searchResults(ctx context.Context, tx *db.Tx, like [searchWords]string, f *Found) error {
	values, err := tx.BenchmarkFacetsLike(ctx, query.BenchmarkFacetsLikeParams{
		Word1: like[0], Word2: like[1], Word3: like[2], Word4: like[3], Most: searchValues,
	})
	if err != nil {
		return fmt.Errorf("search values: %w", err)
	}
	// GPUs come first, and results fill the rest.
	limit := contract.SearchMost - len(f.Results)
	rows := map[int64]query.BenchmarkResult{}
	for _, value := range values {
		found, err := tx.BenchmarkPostings(ctx, query.BenchmarkPostingsParams{FacetID: value, Most: int32(limit)})
		if err != nil {
			return fmt.Errorf("search results: %w", err)
		}
		for _, row := range found {
			rows[row.Number] = row
		}
	}
	newest := slices.Collect(maps.Values(rows))
	slices.SortFunc(newest, func(a, b query.BenchmarkResult) int { return cmp.Compare(b.Number, a.Number) })
	for _, row := range newest[:min(limit, len(newest))] {
		f.Results = append(f.Results, b.hit(row))
	}
	return nil
}
