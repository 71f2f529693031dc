package web

import (
	"fmt"
	"strings"

	"svc.example/internal/work/benchmark/leaderboard"
)

// A chart is drawn into a box of chartWide by chartHigh that the page stretches;
// words stand beside it in HTML, where they keep their size on a phone.
const (
	chartWide = 1000.0
	chartHigh = 240.0
)

// columns is a distribution as it is drawn.
type columns struct {
	Bars             []bar
	Median           *float64 // its place from the left
	From, Middle, To string   // what the axis says
	Words            string   // the chart for those who do not see it
}

type bar struct {
	X, Y, Wide, High float64
	Words            string
}

// drawColumns draws at least one column; nil when there is none.
func drawColumns(bins []leaderboard.Bin, median *float64) *columns {
	if len(bins) == 0 {
		return nil
	}
	c, tallest, total := &columns{}, int64(0), int64(0)
	for _, b := range bins {
		tallest, total = max(tallest, b.Results), total+b.Results
	}
	first, last := bins[0].From, bins[len(bins)-1].To
	wide := chartWide / float64(len(bins))
	gap := min(wide*0.12, 4)
	for i, b := range bins {
		if b.Results == 0 {
			continue
		}
		// What is there is seen, however few it is.
		high := max(3, chartHigh*float64(b.Results)/float64(tallest))
		c.Bars = append(c.Bars, bar{float64(i)*wide + gap/2, chartHigh - high, wide - gap, high,
			fmt.Sprintf("%s to %s: %s", scoreText(b.From), scoreText(b.To), countText(b.Results))})
	}
	c.From, c.Middle, c.To = scoreText(first), scoreText((first+last)/2), scoreText(last)
	c.Words = fmt.Sprintf("Distribution of %s between the scores %s and %s", countText(total), c.From, c.To)
	if median != nil {
		at := chartWide * (*median - first) / (last - first)
		c.Median = &at
		c.Words += ", median " + scoreText(*median)
	}
	return c
}

// dots is a history as it is drawn.
type dots struct {
	Path       string // a point of no length for each result
	Median     *float64
	From, To   string // dates
	Least, Top string // scores
	Words      string
}

// drawDots draws results over time; nil when there are fewer than two.
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
	low, high := max(0, least-air), top+air
	y := func(score float64) float64 { return chartHigh * (1 - (score-low)/(high-low)) }
	var path strings.Builder
	for i, r := range rows {
		x := 1 - float64(i)/float64(len(rows)-1)
		if took := newest.Sub(oldest); took > 0 {
			x = float64(r.CreatedAt.Sub(oldest)) / float64(took)
		}
		fmt.Fprintf(&path, "M%.1f %.1fh0", 12+x*(chartWide-24), y(r.Score))
	}
	d := &dots{Path: path.String(), From: dayText(oldest), To: dayText(newest), Least: scoreText(least), Top: scoreText(top)}
	d.Words = fmt.Sprintf("The last %d results from %s to %s, scores %s to %s", len(rows), d.From, d.To, d.Least, d.Top)
	if median != nil && *median >= low && *median <= high {
		at := y(*median)
		d.Median = &at
	}
	return d
}
