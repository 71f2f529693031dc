package public

import (
	"fmt"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/work/benchmark/leaderboard"
)

// drawColumns lays out a histogram; nil without results. An empty bin has no column.
func drawColumns(bins []leaderboard.Bin, median *float64) *page.Columns {
	var columns []page.Column
	total := int64(0)
	for _, b := range bins {
		total += b.Results
		columns = append(columns, page.Column{Value: float64(b.Results), Words: fmt.Sprintf("%s to %s: %s", page.ScoreText(b.From), page.ScoreText(b.To), page.CountText(b.Results))})
	}
	c := page.Draw(columns)
	if c == nil {
		return nil
	}
	first, last := bins[0].From, bins[len(bins)-1].To
	c.From, c.Middle, c.To = page.ScoreText(first), page.ScoreText((first+last)/2), page.ScoreText(last)
	c.Words = fmt.Sprintf("Distribution of %s between the scores %s and %s", page.CountText(total), c.From, c.To)
	if median != nil {
		at := page.ChartWide * (*median - first) / (last - first)
		c.Median = &at
		c.Words += ", median " + page.ScoreText(*median)
	}
	return c
}

// dots is a scatter plot of results over time, ready to draw.
type dots struct {
	// Path is an SVG path with one segment of no length for each result; the
	// round line cap makes it a dot that does not stretch with the box.
	Path   string
	Median *float64
	// From and To are the dates of the oldest and the newest result.
	From, To string
	// Least and Top are the lowest and the highest score.
	Least, Top string
	Words      string
}

// drawDots lays out results over time; nil with fewer than two. rows are sorted
// from newest to oldest. The median line is left out where it lies outside the
// drawing.
func drawDots(rows []leaderboard.Row, median *float64) *dots {
	if len(rows) < 2 {
		return nil
	}
	newest, oldest := rows[0].CreatedAt, rows[len(rows)-1].CreatedAt
	least, top := rows[0].Score, rows[0].Score
	for _, r := range rows {
		least, top = min(least, r.Score), max(top, r.Score)
	}
	// A little air, and none of it below zero.
	air := max((top-least)*0.12, top*0.01)
	// The axis has some space above and below the dots, but never goes below
	// zero.
	low, high := max(0, least-air), top+air
	y := func(score float64) float64 { return page.ChartHigh * (1 - (score-low)/(high-low)) }
	var path strings.Builder
	for i, r := range rows {
		x := 1 - float64(i)/float64(len(rows)-1)
		// Without a span of time the dots are spread evenly.
		if took := newest.Sub(oldest); took > 0 {
			x = float64(r.CreatedAt.Sub(oldest)) / float64(took)
		}
		fmt.Fprintf(&path, "M%.1f %.1fh0", 12+x*(page.ChartWide-24), y(r.Score))
	}
	d := &dots{Path: path.String(), From: page.DayText(oldest), To: page.DayText(newest), Least: page.ScoreText(least), Top: page.ScoreText(top)}
	d.Words = fmt.Sprintf("The last %d results from %s to %s, scores %s to %s", len(rows), d.From, d.To, d.Least, d.Top)
	if median != nil && *median >= low && *median <= high {
		at := y(*median)
		d.Median = &at
	}
	return d
}
