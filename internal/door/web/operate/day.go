package operate

import (
	"fmt"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/numbers"
	"svc.example/internal/work/operator"
)

// dayView shows the last 24 hours: as charts, and as figures.
type dayView struct {
	Trends []trend
	Hours  []operator.Hour // the oldest first
}

// trend is one chart of the last 24 hours.
type trend struct {
	Name, Now string
	Chart     *page.Columns // nil where all is 0
}

// dayOf draws hours, the oldest first.
func dayOf(hours []operator.Hour) dayView {
	var charged int64
	for _, h := range hours {
		charged += h.ChargedCents
	}
	last := hours[len(hours)-1]
	count := func(of func(operator.Hour) int64, one, many string) func(operator.Hour) (float64, string) {
		return func(h operator.Hour) (float64, string) {
			return float64(of(h)), countOf(of(h), one, many)
		}
	}
	return dayView{Hours: hours, Trends: []trend{
		drawTrend("Unfinished jobs", numbers.Grouped(last.Unfinished)+" now", hours, count(func(h operator.Hour) int64 { return h.Unfinished }, "job", "jobs")),
		drawTrend("Workers that delivered", numbers.Grouped(last.Workers)+" in this hour", hours, count(func(h operator.Hour) int64 { return h.Workers }, "worker", "workers")),
		drawTrend("Charged", numbers.Dollars(charged)+" in 24 h", hours, func(h operator.Hour) (float64, string) {
			return float64(h.ChargedCents), numbers.Dollars(h.ChargedCents)
		}),
	}}
}

// countOf writes a number of things.
func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return numbers.Grouped(n) + " " + many
}

// drawTrend draws a column for each hour. of gives its value, and that in words.
func drawTrend(name, now string, hours []operator.Hour, of func(operator.Hour) (float64, string)) trend {
	var columns []page.Column
	most, highest := "", 0.0
	for _, h := range hours {
		value, words := of(h)
		if value > highest {
			most, highest = words, value
		}
		columns = append(columns, page.Column{Value: value, Words: fmt.Sprintf("%s UTC: %s", h.Begins.Format("15:04"), words)})
	}
	chart := page.Draw(columns)
	if chart != nil {
		chart.From, chart.Middle, chart.To = "24 h ago", "at most "+most, "now"
		chart.Words = fmt.Sprintf("%s by hour: %s, at most %s in an hour", name, now, most)
	}
	return trend{name, now, chart}
}
