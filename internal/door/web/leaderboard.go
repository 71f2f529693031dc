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
	Chart  *columns
	Found  *leaderboard.Found
}

// leaderboardPage marks a page as one of the leaderboard's and allows its
// search form.
func leaderboardPage(build func(*http.Request) (page, error)) func(*http.Request) (page, error) {
	return func(r *http.Request) (page, error) {
		p, err := build(r)
		p.Section, p.Forms = leaderboardSection, true
		return p, err
	}
}

// board builds the leaderboard's first page, or the results of a search when
// the query has q.
func (s *Site) board(r *http.Request) (page, error) {
	ctx, asked := r.Context(), r.URL.Query().Get("q")
	if asked != "" {
		words := cutQuery(asked)
		found, err := s.Board.Search(ctx, words)
		return page{Template: "board", Title: "Search: " + asked, JSON: "/node/v1/leaderboard/search?q=" + url.QueryEscape(words), Search: asked, Content: boardView{Found: &found}}, err
	}
	b := boardView{}
	var err error
	if b.Stats, err = s.Board.Stats(ctx); err != nil {
		return page{}, err
	}
	gpus, err := s.Board.GPUs(ctx)
	if err != nil {
		return page{}, err
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
		return page{}, err
	}
	b.Top = top.Rows
	if b.Latest, err = s.Board.Latest(ctx, boardRows); err != nil {
		return page{}, err
	}
	b.Chart, err = s.distribution(ctx, "", b.Stats.MedianScore)
	return page{Template: "board", Title: "GPU leaderboard", JSON: "/node/v1/leaderboard/top", Content: b}, err
}

// cutQuery bounds a search text to 200 bytes, the limit of the API's search. A
// longer text would find nothing more.
func cutQuery(text string) string {
	const longest = 200
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "")
	}
	return text
}

// distribution builds the histogram of all scores, or of one GPU's when slug is
// not empty.
func (s *Site) distribution(ctx context.Context, slug string, median *float64) (*columns, error) {
	bins, err := s.Board.Histogram(ctx, slug)
	if err != nil {
		return nil, err
	}
	return drawColumns(bins, median), nil
}
