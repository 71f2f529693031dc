package public

import (
	"net/http"
	"slices"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/work/benchmark/leaderboard"
)

// compareView is the content of the page that compares two GPUs.
type compareView struct {
	// GPUs are the choices, sorted by name.
	GPUs []leaderboard.GPUShort
	// A and B are the chosen slugs; "" when none is chosen.
	A, B string
	Both *leaderboard.Comparison
	Rows []pair
}

// pair is one figure of both GPUs.
type pair struct {
	Name string
	// Seconds marks a duration, of which less is better; otherwise it is a
	// score.
	Seconds bool
	A, B    *float64
	// WideA and Wide are the lengths of the bars of A and B, in per cent of the
	// longer one.
	WideA, Wide float64
	Delta       leaderboard.Delta
	// Better is "a" or "b"; "" when both are equal or one is unknown.
	Better string
}

// compare builds the comparison. Until two GPUs are chosen it shows the form
// only. Errors: gpu_not_found.
func (s *Site) compare(r *http.Request) (page.Page, error) {
	ctx, q := r.Context(), r.URL.Query()
	c := compareView{A: q.Get("a"), B: q.Get("b")}
	gpus, err := s.Board.GPUs(ctx)
	if err != nil {
		return page.Page{}, err
	}
	c.GPUs = gpus.GPUs
	slices.SortFunc(c.GPUs, func(a, b leaderboard.GPUShort) int { return strings.Compare(a.GPUName, b.GPUName) })
	p := page.Page{Template: "compare", Title: "Compare GPUs", Content: c}
	if c.A == "" || c.B == "" {
		return p, nil
	}
	both, err := s.Board.Compare(ctx, c.A, c.B)
	if err != nil {
		return page.Page{}, err
	}
	a, b, d := both.A, both.B, both.Deltas
	c.Both = &both
	c.Rows = []pair{
		newPair("Median score", false, a.MedianScore, b.MedianScore, d.MedianScore),
		newPair("Trimmed average", false, a.AverageScore, b.AverageScore, d.AverageScore),
		newPair("Best score", false, a.TopScore, b.TopScore, d.TopScore),
		newPair("Median render time", true, a.MedianRenderSeconds, b.MedianRenderSeconds, d.MedianRenderSeconds),
		newPair("Best render time", true, a.BestRenderSeconds, b.BestRenderSeconds, d.BestRenderSeconds),
	}
	p.Content, p.Title, p.JSON = c, both.A.GPUName+" and "+both.B.GPUName, "/node/v1/leaderboard/compare/"+c.A+"/"+c.B
	return p, nil
}

// newPair returns a row of the comparison. Where a figure is unknown there are
// no bars, since a bar of no length would look like zero.
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
