package public

import (
	"net/http"

	"svc.example/internal/door/web/page"
	"svc.example/internal/work/benchmark/leaderboard"
)

// gpuView is the content of a GPU's page.
type gpuView struct {
	leaderboard.GPU
	Chart   *page.Columns
	History *dots
	Parts   []share
	Latest  []leaderboard.Row
	// Others says that there are results under other versions, which do not
	// count here.
	Others bool
}

// share is one part of a GPU's percentile distribution.
type share struct {
	Label   leaderboard.Label
	Results int64
	// Percent is the part's share of the GPU's results, 0 to 100.
	Percent float64
}

// gpuRows is how many results a GPU's page lists.
const gpuRows = 12

// gpu builds the page of a GPU. Errors: gpu_not_found.
func (s *Site) gpu(r *http.Request) (page.Page, error) {
	ctx, slug := r.Context(), r.PathValue("gpu_slug")
	g, err := s.Board.GPU(ctx, slug)
	if err != nil {
		return page.Page{}, err
	}
	v := gpuView{GPU: g, Latest: g.LatestResults[:min(gpuRows, len(g.LatestResults))], Others: len(g.BenchmarkVersions) > 1}
	if v.Chart, err = s.distribution(ctx, slug, g.MedianScore); err != nil {
		return page.Page{}, err
	}
	history, err := s.Board.History(ctx, slug)
	if err != nil {
		return page.Page{}, err
	}
	v.History = drawDots(history, g.MedianScore)
	if d := g.Percentiles; d != nil {
		for _, part := range []share{
			{leaderboard.Top1, d.Top1, 0}, {leaderboard.Top5, d.Top5, 0}, {leaderboard.Top10, d.Top10, 0},
			{leaderboard.Top25, d.Top25, 0}, {leaderboard.Top50, d.Top50, 0}, {leaderboard.Bottom50, d.Bottom50, 0},
		} {
			part.Percent = 100 * float64(part.Results) / float64(g.SampleCount)
			v.Parts = append(v.Parts, part)
		}
	}
	return page.Page{Template: "gpu", Title: g.GPUName, JSON: "/node/v1/leaderboard/gpu/" + slug, Content: v}, nil
}
