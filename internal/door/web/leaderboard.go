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

// leaderboardPage makes a page one of the leaderboard's: it has their search field.
func leaderboardPage(build func(*http.Request) (page, error)) func(*http.Request) (page, error) {
	return func(r *http.Request) (page, error) {
		p, err := build(r)
		p.Section, p.Forms = leaderboardSection, true
		return p, err
	}
}

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
	if b.GPUs, err = s.Board.GPUs(ctx); err != nil {
		return page{}, err
	}
	slices.SortStableFunc(b.GPUs, func(a, b leaderboard.GPUShort) int { return cmp.Compare(b.AverageScore, a.AverageScore) })
	if len(b.GPUs) > 0 {
		b.Best = b.GPUs[0].AverageScore
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

// cut bounds what is searched for; more words would find nothing more.
func cutQuery(text string) string {
	const longest = 200
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "")
	}
	return text
}

func (s *Site) distribution(ctx context.Context, slug string, median *float64) (*columns, error) {
	bins, err := s.Board.Histogram(ctx, slug)
	if err != nil {
		return nil, err
	}
	return drawColumns(bins, median), nil
}
