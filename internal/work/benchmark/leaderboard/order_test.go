package leaderboard_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/ground/db"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/leaderboardtest"
	"svc.example/internal/work/benchmark"
	"svc.example/internal/work/benchmark/leaderboard"
)

// oracle answers by looking at every result.
type oracle []known

type known struct {
	id, slug      string // slug "" of a CPU
	score, tookMS int64
}

func (o oracle) of(slug string) (some oracle) {
	for _, k := range o {
		if k.slug != "" && (slug == "" || k.slug == slug) {
			some = append(some, k)
		}
	}
	return some
}

func (o oracle) rank(score int64) (rank int64) {
	rank = 1
	for _, k := range o {
		if k.score > score {
			rank++
		}
	}
	return rank
}

// label is the narrowest part that the rank is in.
func (o oracle) label(score int64) string {
	if len(o) < 3 {
		return "unknown"
	}
	share := float64(o.rank(score)) / float64(len(o))
	for _, percent := range []float64{1, 5, 10, 25, 50} {
		if share <= percent/100+1e-12 {
			return fmt.Sprintf("top_%v", percent)
		}
	}
	return "bottom_50"
}

func (o oracle) percentile(score int64) *float64 {
	if len(o) < 3 {
		return nil
	}
	lower := 0.0
	for _, k := range o {
		if k.score < score {
			lower++
		}
	}
	lower = 100 * lower / float64(len(o))
	return &lower
}

func (o oracle) median(of func(known) int64) float64 {
	var values []int64
	for _, k := range o {
		values = append(values, of(k))
	}
	slices.Sort(values)
	n := len(values)
	return float64((values[(n-1)/2]+values[n/2]+1)/2) / 1000
}

// trimmed is the mean without the best and the worst quarter.
func (o oracle) trimmed(of func(known) int64) float64 {
	var values []int64
	for _, k := range o {
		values = append(values, of(k))
	}
	slices.Sort(values)
	values = values[len(values)/4 : len(values)-len(values)/4]
	sum := int64(0)
	for _, v := range values {
		sum += v
	}
	n := int64(len(values))
	return float64((sum+n/2)/n) / 1000
}

func scoreOf(k known) int64 { return k.score }
func timeOf(k known) int64  { return k.tookMS }

// TestOrderIsExactWhateverTheResults adds results with many ties and neighbours
// and asks everything about all that have been added so far.
func TestOrderIsExactWhateverTheResults(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newBoard(t, d)
		var all oracle
		ended := time.Now().Add(-time.Hour)
		// Each check continues where the previous one ended: the board only
		// grows.
		rapid.Check(t, func(rt *rapid.T) {
			gpus := []string{"NVIDIA GeForce RTX 4090", "GeForce RTX 4090", "AMD Radeon RX 7900 XTX", "Apple M2 (GPU - 10 cores)"}
			for range rapid.IntRange(1, 5).Draw(rt, "results") {
				ended = ended.Add(time.Millisecond)
				score := rapid.OneOf(rapid.Int64Range(3000, 3070), rapid.Int64Range(3000, 700_000_000), rapid.SampledFrom([]int64{4_096_000, 4_095_999, 262_144_000, 899_999_997})).Draw(rt, "score")
				gpu := rapid.SampledFrom(append(gpus, "")).Draw(rt, "GPU")
				r := leaderboardtest.CPURun("a CPU", float64(score)/1000, ended)
				slug := ""
				if gpu != "" {
					r = leaderboardtest.Run(gpu, 0, float64(score)/1000, ended)
					slug = benchmark.NameOf(gpu, nil).Slug
				}
				done := h.submit(r)
				if done.Reason != "" {
					rt.Fatalf("rejected: %s", done.Detail)
				}
				all = append(all, known{done.ResultID, slug, score, int64(math.Round(r.RenderSeconds * 1000))})
			}
			h.compare(rt, all)
		})
		h.clean(len(all))
	})
}

// compare asks for everything that depends on order.
func (h *testBoard) compare(rt *rapid.T, all oracle) {
	ctx, same := h.t.Context(), func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	gpus := all.of("")
	top, err := h.Board.Top(ctx, 20)
	if err != nil {
		rt.Fatal(err)
	}
	sorted := slices.Clone(gpus)
	slices.SortStableFunc(sorted, func(a, b known) int { return cmp.Compare(b.score, a.score) })
	same("top rows", len(top.Rows), min(20, len(gpus)))
	for i, row := range top.Rows {
		same("top result", row.ResultID, sorted[i].id)
		same("top rank", row.Rank, gpus.rank(sorted[i].score))
		same("top label", row.GlobalPercentileLabel, gpus.label(sorted[i].score))
	}
	latest, err := h.Board.Latest(ctx, 10)
	if err != nil {
		rt.Fatal(err)
	}
	for i, row := range latest {
		k, label := all[len(all)-1-i], "unknown"
		if k.slug != "" {
			label = gpus.label(k.score)
		}
		same("latest result", row.ResultID, k.id)
		same("latest label", row.GlobalPercentileLabel, label)
	}
	stats, err := h.Board.Stats(ctx)
	if err != nil {
		rt.Fatal(err)
	}
	same("submissions", stats.TotalSubmissions, len(gpus))
	if len(gpus) == 0 {
		same("figures of nothing", stats.MedianScore == nil && stats.TopScore == nil && stats.AverageScore == nil, true)
		return
	}
	same("median", *stats.MedianScore, gpus.median(scoreOf))
	slugs := map[string]bool{}
	for _, k := range gpus {
		slugs[k.slug] = true
	}
	same("GPUs", stats.GPUCount, len(slugs))
	for slug := range slugs {
		h.compareGPU(rt, slug, gpus, same)
	}
	picked := rapid.SampledFrom(all).Draw(rt, "asked for")
	result, err := h.Board.Result(ctx, picked.id)
	if err != nil {
		rt.Fatal(err)
	}
	if picked.slug == "" {
		same("a CPU's place", result.Global.Rank == nil && result.WithinGPU.Rank == nil && result.Global.Percentile == nil, true)
		return
	}
	for name, c := range map[string]struct {
		among oracle
		place leaderboard.Place
	}{"global": {gpus, result.Global}, "within the GPU": {all.of(picked.slug), result.WithinGPU}} {
		same(name+" rank", *c.place.Rank, c.among.rank(picked.score))
		same(name+" among", c.place.Among, len(c.among))
		same(name+" label", c.place.Label, c.among.label(picked.score))
		if want := c.among.percentile(picked.score); (want == nil) != (c.place.Percentile == nil) || (want != nil && *want != *c.place.Percentile) {
			rt.Fatalf("%s percentile: %v, want %v", name, c.place.Percentile, want)
		}
	}
}

func (h *testBoard) compareGPU(rt *rapid.T, slug string, gpus oracle, same func(string, any, any)) {
	g, err := h.Board.GPU(h.t.Context(), slug)
	if err != nil {
		rt.Fatal(err)
	}
	own := gpus.of(slug)
	best := own[0].tookMS
	for _, k := range own {
		best = min(best, k.tookMS)
	}
	same("samples", g.SampleCount, len(own))
	same("GPU's median", *g.MedianScore, own.median(scoreOf))
	same("GPU's median time", *g.MedianRenderSeconds, own.median(timeOf))
	same("GPU's best time", *g.BestRenderSeconds, float64(best)/1000)
	same("GPU's average", *g.AverageScore, own.trimmed(scoreOf))
	same("GPU's average time", *g.AverageRenderSeconds, own.trimmed(timeOf))
	same("GPU's best", *g.TopScore, float64(slices.MaxFunc(own, func(a, b known) int { return cmp.Compare(a.score, b.score) }).score)/1000)
	bins, err := h.Board.Histogram(h.t.Context(), slug)
	if err != nil {
		rt.Fatal(err)
	}
	for i, b := range bins {
		within := 0
		for _, k := range own {
			if told := float64(k.score) / 1000; told >= b.From && told < b.To {
				within++
			}
		}
		same("results in a column", b.Results, within)
		same("columns side by side", i == 0 || b.From == bins[i-1].To, true)
	}
	same("columns at both ends", len(bins) <= 32 && bins[0].Results > 0 && bins[len(bins)-1].Results > 0, true)
	if len(own) < 3 {
		same("percentiles of too few", g.Percentiles == nil, true)
		return
	}
	want := map[string]int64{}
	for _, k := range own {
		want[gpus.label(k.score)]++
	}
	p := g.Percentiles
	same("percentiles", []int64{p.Top1, p.Top5, p.Top10, p.Top25, p.Top50, p.Bottom50},
		[]int64{want["top_1"], want["top_5"], want["top_10"], want["top_25"], want["top_50"], want["bottom_50"]})
}
