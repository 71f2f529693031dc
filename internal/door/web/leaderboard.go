package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"svc.example/internal/work/benchmark/leaderboard"
)

// How much the leaderboard's first page shows.
const (
	boardRows = 10 // of the best and of the newest results
	boardGPUs = 50
)

// boardView is the leaderboard's first page.
type boardView struct {
	Stats    leaderboard.Stats
	GPUs     []leaderboard.GPUShort // the best average first
	MoreGPUs int
	Best     float64 // the greatest average: what bars are drawn against
	Top      []leaderboard.TopRow
	Latest   []leaderboard.Row
	Chart    *columns
	Found    *leaderboard.Found
}

func (p *pages) board(r *http.Request) (view, error) {
	ctx, asked := r.Context(), r.URL.Query().Get("q")
	if asked != "" {
		words := cut(asked)
		found, err := p.Board.Search(ctx, words)
		return view{Template: "board", Title: "Search: " + asked, JSON: "/node/v1/leaderboard/search?q=" + url.QueryEscape(words), Search: asked, Content: boardView{Found: &found}}, err
	}
	b := boardView{}
	var err error
	if b.Stats, err = p.Board.Stats(ctx); err != nil {
		return view{}, err
	}
	if b.GPUs, err = p.Board.GPUs(ctx); err != nil {
		return view{}, err
	}
	slices.SortStableFunc(b.GPUs, func(a, b leaderboard.GPUShort) int { return cmp.Compare(b.AverageScore, a.AverageScore) })
	if len(b.GPUs) > 0 {
		b.Best = b.GPUs[0].AverageScore
	}
	b.MoreGPUs = max(0, len(b.GPUs)-boardGPUs)
	b.GPUs = b.GPUs[:len(b.GPUs)-b.MoreGPUs]
	top, err := p.Board.Top(ctx, boardRows)
	if err != nil {
		return view{}, err
	}
	b.Top = top.Rows
	if b.Latest, err = p.Board.Latest(ctx, boardRows); err != nil {
		return view{}, err
	}
	b.Chart, err = p.distribution(ctx, "", b.Stats.MedianScore)
	return view{Template: "board", Title: "GPU leaderboard", JSON: "/node/v1/leaderboard/top", Content: b}, err
}

// cut bounds what is searched for; more words would find nothing more.
func cut(text string) string {
	const longest = 200
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "")
	}
	return text
}

func (p *pages) distribution(ctx context.Context, slug string, median *float64) (*columns, error) {
	bins, err := p.Board.Shape(ctx, slug)
	if err != nil {
		return nil, err
	}
	return drawColumns(bins, median), nil
}

// gpuView is a GPU's page.
type gpuView struct {
	leaderboard.GPU
	Chart   *columns
	History *dots
	Parts   []share
	Latest  []leaderboard.Row
	Others  bool // there are results under other versions
}

// share is one part of a percentile distribution.
type share struct {
	Label   leaderboard.Label
	Results int64
	Percent float64 // of the GPU's results
}

// gpuRows is how many results a GPU's page lists.
const gpuRows = 12

func (p *pages) gpu(r *http.Request) (view, error) {
	ctx, slug := r.Context(), r.PathValue("gpu_slug")
	g, err := p.Board.GPU(ctx, slug)
	if err != nil {
		return view{}, err
	}
	v := gpuView{GPU: g, Latest: g.LatestResults[:min(gpuRows, len(g.LatestResults))], Others: len(g.BenchmarkVersions) > 1}
	if v.Chart, err = p.distribution(ctx, slug, g.MedianScore); err != nil {
		return view{}, err
	}
	history, err := p.Board.History(ctx, slug)
	if err != nil {
		return view{}, err
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
	return view{Template: "gpu", Title: g.GPUName, JSON: "/node/v1/leaderboard/gpu/" + slug, Content: v}, nil
}

// compareView is the page that puts two GPUs side by side.
type compareView struct {
	GPUs []leaderboard.GPUShort // to choose from, by name
	A, B string                 // the slugs that are chosen
	Both *leaderboard.Comparison
	Rows []pair
}

// pair is a figure of both GPUs.
type pair struct {
	Name        string
	Seconds     bool // else a score
	A, B        *float64
	WideA, Wide float64 // lengths of the bars, in per cent
	Delta       leaderboard.Delta
	Better      string // "a", "b" or "" where they are equal or unknown
}

func (p *pages) compare(r *http.Request) (view, error) {
	ctx, q := r.Context(), r.URL.Query()
	c := compareView{A: q.Get("a"), B: q.Get("b")}
	var err error
	if c.GPUs, err = p.Board.GPUs(ctx); err != nil {
		return view{}, err
	}
	slices.SortFunc(c.GPUs, func(a, b leaderboard.GPUShort) int { return strings.Compare(a.GPUName, b.GPUName) })
	v := view{Template: "compare", Title: "Compare GPUs", Content: c}
	if c.A == "" || c.B == "" {
		return v, nil
	}
	both, err := p.Board.Compare(ctx, c.A, c.B)
	if err != nil {
		return view{}, err
	}
	a, b, d := both.A, both.B, both.Deltas
	c.Both = &both
	c.Rows = []pair{
		newPair("Median score", false, a.MedianScore, b.MedianScore, d.MedianScore),
		newPair("Average score", false, a.AverageScore, b.AverageScore, d.AverageScore),
		newPair("Best score", false, a.TopScore, b.TopScore, d.TopScore),
		newPair("Median render time", true, a.MedianRenderSeconds, b.MedianRenderSeconds, d.MedianRenderSeconds),
		newPair("Best render time", true, a.BestRenderSeconds, b.BestRenderSeconds, d.BestRenderSeconds),
	}
	v.Content, v.Title, v.JSON = c, both.A.GPUName+" and "+both.B.GPUName, "/node/v1/leaderboard/compare/"+c.A+"/"+c.B
	return v, nil
}

func newPair(name string, seconds bool, a, b *float64, d leaderboard.Delta) pair {
	p := pair{Name: name, Seconds: seconds, A: a, B: b, Delta: d}
	if a == nil || b == nil {
		return p
	}
	if longest := max(*a, *b); longest > 0 {
		p.WideA, p.Wide = 100**a/longest, 100**b/longest
	}
	switch {
	case *a == *b:
	case (*a > *b) != seconds:
		p.Better = "a"
	default:
		p.Better = "b"
	}
	return p
}

// resultView is a result's page.
type resultView struct {
	leaderboard.Result
	Fastest float64 // of the scenes, what bars are drawn against
}

func (p *pages) result(r *http.Request) (view, error) {
	result, err := p.Board.Result(r.Context(), r.PathValue("result_id"))
	if err != nil {
		return view{}, err
	}
	v := resultView{Result: result}
	for _, s := range result.Scenes {
		v.Fastest = max(v.Fastest, s.SamplesPerMinute)
	}
	return view{Template: "result", Title: result.DeviceName + ", " + scoreText(result.Score), JSON: "/node/v1/leaderboard/result/" + result.ResultID, Content: v}, nil
}
