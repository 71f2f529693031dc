package public

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"

	"svc.example/internal/door/web/page"
	"svc.example/internal/work/benchmark/leaderboard"
)

// How much the leaderboard's first page shows. Search finds the rest.
const (
	// boardRows is the number of best and of newest results.
	boardRows = 10 // of the best and of the newest results
	// boardGPUs is the number of GPUs.
	boardGPUs = 50
)

// boardView is the content of the leaderboard's first page, or of a search:
// then only Found is set.
type boardView struct {
	Stats leaderboard.Stats
	// GPUs are sorted by median score, the best first.
	GPUs     []leaderboard.GPUShort
	MoreGPUs int
	// Best is the highest median: the length of the longest bar.
	Best   float64
	Top    []leaderboard.TopRow
	Latest []leaderboard.Row
	Chart  *page.Columns
	Found  *leaderboard.Found
}

// leaderboardPage marks a page as one of the leaderboard's and allows its
// search form.
func leaderboardPage(build func(*http.Request) (page.Page, error)) func(*http.Request) (page.Page, error) {
	return func(r *http.Request) (page.Page, error) {
		p, err := build(r)
		p.Section, p.Forms = page.LeaderboardSection, true
		return p, err
	}
}

// board builds the leaderboard's first page, or the results of a search when
// the query has q.
func (s *Site) board(r *http.Request) (page.Page, error) {
	ctx, asked := r.Context(), r.URL.Query().Get("q")
	if asked != "" {
		words := page.CutQuery(asked)
		found, err := s.Board.Search(ctx, words)
		return page.Page{Template: "board", Title: "Search: " + asked, JSON: "/node/v1/leaderboard/search?q=" + url.QueryEscape(words), Search: asked, Content: boardView{Found: &found}}, err
	}
	b := boardView{}
	var err error
	if b.Stats, err = s.Board.Stats(ctx); err != nil {
		return page.Page{}, err
	}
	gpus, err := s.Board.GPUs(ctx)
	if err != nil {
		return page.Page{}, err
	}
	b.GPUs = gpus.GPUs
	slices.SortStableFunc(b.GPUs, func(a, b leaderboard.GPUShort) int { return cmp.Compare(b.MedianScore, a.MedianScore) })
	if len(b.GPUs) > 0 {
		b.Best = b.GPUs[0].MedianScore
	}
	b.MoreGPUs = max(0, len(b.GPUs)-boardGPUs)
	b.GPUs = b.GPUs[:len(b.GPUs)-b.MoreGPUs]
	top, err := s.Board.Top(ctx, boardRows)
	if err != nil {
		return page.Page{}, err
	}
	b.Top = top.Rows
	if b.Latest, err = s.Board.Latest(ctx, boardRows); err != nil {
		return page.Page{}, err
	}
	b.Chart, err = s.distribution(ctx, "", b.Stats.MedianScore)
	return page.Page{Template: "board", Title: "GPU leaderboard", JSON: "/node/v1/leaderboard/top", Content: b}, err
}

// distribution builds the histogram of all scores, or of one GPU's when slug is
// not empty.
func (s *Site) distribution(ctx context.Context, slug string, median *float64) (*page.Columns, error) {
	bins, err := s.Board.Histogram(ctx, slug)
	if err != nil {
		return nil, err
	}
	return drawColumns(bins, median), nil
}

// labelText writes a percentile label; "" for an unknown one.
func labelText(l leaderboard.Label) string {
	return map[leaderboard.Label]string{
		leaderboard.Top1: "Top 1 %", leaderboard.Top5: "Top 5 %", leaderboard.Top10: "Top 10 %", leaderboard.Top25: "Top 25 %",
		leaderboard.Top50: "Top 50 %", leaderboard.Bottom50: "Lower 50 %",
	}[l]
}

// versionsText writes the versions that results are compared under.
func versionsText(v leaderboard.Versions) string {
	return v.Benchmark + ", " + v.Scene + ", " + v.Scoring
}
