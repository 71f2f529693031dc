package public

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"svc.example/internal/door/web/page"
	"svc.example/internal/work/benchmark/leaderboard"
)

// TestChartsStayInTheirBox draws whatever a GPU's results may be.
func TestChartsStayInTheirBox(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int64Range(0, 1_000_000), 1, 64).Draw(t, "results")
		if slices.Max(counts) == 0 {
			counts[0] = 1
		}
		from := rapid.Float64Range(0, 100_000).Draw(t, "from")
		var bins []leaderboard.Bin
		for i, n := range counts {
			bins = append(bins, leaderboard.Bin{From: from + float64(i), To: from + float64(i) + 1, Results: n})
		}
		median := from + rapid.Float64Range(0, float64(len(bins))).Draw(t, "median")
		c := drawColumns(bins, &median)
		shown := 0
		for _, n := range counts {
			if n > 0 {
				shown++
			}
		}
		if len(c.Bars) != shown {
			t.Fatalf("%d columns for %d with results", len(c.Bars), shown)
		}
		for _, b := range c.Bars {
			if b.X < 0 || b.X+b.Wide > page.ChartWide+1e-6 || b.Y < 0 || b.High < 3 || b.Y+b.High > page.ChartHigh+1e-6 {
				t.Fatalf("%+v leaves the box", b)
			}
		}
		if *c.Median < 0 || *c.Median > page.ChartWide+1e-6 {
			t.Fatalf("the median is at %v", *c.Median)
		}
	})
}

func TestAHistoryNeedsTwoResults(t *testing.T) {
	t.Parallel()
	now, median := time.Now(), 100.0
	one := []leaderboard.Row{{Score: 100, CreatedAt: now}}
	if drawDots(one, &median) != nil {
		t.Error("one result is drawn as a history")
	}
	// Equal scores at one moment: nothing to divide by.
	d := drawDots(append(one, one[0]), &median)
	if d == nil || d.Path != "M988.0 120.0h0M12.0 120.0h0" || *d.Median != 120 {
		t.Errorf("%+v", d)
	}
}
