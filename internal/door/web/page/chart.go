package page

import (
	"fmt"

	"svc.example/internal/ground/numbers"
)

// A chart is drawn into a box of ChartWide by ChartHigh units, which the page stretches to its
// width. Text is next to the drawing, in HTML, so that it keeps its size on a phone.
const (
	ChartWide = 1000.0
	ChartHigh = 240.0
)

// Columns is a chart with a column for each of several things, as the template of that name draws
// it. The template only prints numbers.
type Columns struct {
	Bars []Bar
	// Median is the x of the median line; nil draws none.
	Median *float64
	// From, Middle and To label the axis.
	From, Middle, To string
	// Words describes the chart to screen readers.
	Words string
}

// Bar is one column, in units of the box.
type Bar struct {
	X, Y, Wide, High float64
	Words            string
	Flag             bool // it stands out
}

// Column is what a chart shows of one thing.
type Column struct {
	Value float64 // 0 or more; 0 has no column
	Words string  // shown under the pointer
	Flag  bool
}

// DrawMonths draws an amount in cents for each month, the oldest first; nil where none is above
// zero. what says what the amounts are.
func DrawMonths(what string, months []string, cents []int64) *Columns {
	var columns []Column
	total := int64(0)
	for i, month := range months {
		total += cents[i]
		columns = append(columns, Column{Value: float64(max(0, cents[i])), Words: month + ": " + numbers.Dollars(cents[i])})
	}
	c := Draw(columns)
	if c == nil {
		return nil
	}
	n := len(months)
	c.From, c.Middle, c.To = months[0], months[n/2], months[n-1]
	c.Words = fmt.Sprintf("%s from %s to %s: %s", what, c.From, c.To, numbers.Dollars(total))
	return c
}

// Draw lays out columns from the left; nil where none has a value.
func Draw(columns []Column) *Columns {
	tallest := 0.0
	for _, c := range columns {
		tallest = max(tallest, c.Value)
	}
	if tallest == 0 {
		return nil
	}
	drawn := &Columns{}
	wide := ChartWide / float64(len(columns))
	gap := min(wide*0.12, 4)
	for i, c := range columns {
		if c.Value == 0 {
			continue
		}
		// Three units at least: a single result stays visible next to a thousand.
		high := max(3, ChartHigh*c.Value/tallest)
		drawn.Bars = append(drawn.Bars, Bar{float64(i)*wide + gap/2, ChartHigh - high, wide - gap, high, c.Words, c.Flag})
	}
	return drawn
}
