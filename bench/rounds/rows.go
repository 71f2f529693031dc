package rounds

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// Row is one line of the table.
type Row struct {
	Name     string // "group/what"; -only is matched against it
	Unit     Unit   // of subject and baseline alike
	Baseline string // what the figure is compared with
	Goal     Goal
	Note     string // what a reader must know to judge the figure
}

// Unit formats a figure. Figures are stored in seconds, bytes, things per second, or as
// a share of 1.
type Unit func(float64) string

// Duration formats seconds.
func Duration(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

// Size formats bytes, in megabytes of a million bytes.
func Size(bytes float64) string { return fmt.Sprintf("%.1f MB", bytes/1e6) }

// PerSecond formats a rate.
func PerSecond(n float64) string { return fmt.Sprintf("%.0f /s", n) }

// Count formats a number of things.
func Count(n float64) string { return fmt.Sprintf("%.0f", n) }

// Kilobytes formats bytes, in kilobytes of a thousand bytes.
func Kilobytes(bytes float64) string { return fmt.Sprintf("%.1f kB", bytes/1e3) }

// Percent formats a share of 1.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

// Goal is what a row must reach. The zero Goal asks for nothing: such a row is there to
// be compared.
type Goal struct {
	text    string                            // as printed, such as "<= 0.75x"
	reached func(subject, ratio float64) bool // nil for the zero Goal
	worst   bool                              // judges the worst round, not the median
}

// RatioAtMost asks that subject over baseline is bound or less: for times and sizes.
func RatioAtMost(bound float64) Goal {
	return Goal{text: fmt.Sprintf("<= %.3gx", bound), reached: func(_, ratio float64) bool { return ratio <= bound }}
}

// RatioAtLeast asks that subject over baseline is bound or more: for rates.
func RatioAtLeast(bound float64) Goal {
	return Goal{text: fmt.Sprintf(">= %gx", bound), reached: func(_, ratio float64) bool { return ratio >= bound }}
}

// Under asks that the subject alone is below bound, regardless of the baseline.
func Under(bound float64, u Unit) Goal {
	return Goal{text: "< " + u(bound), reached: func(subject, _ float64) bool { return subject < bound }}
}

// Over asks that the subject alone is above bound, regardless of the baseline.
func Over(bound float64, u Unit) Goal {
	return Goal{text: "> " + u(bound), reached: func(subject, _ float64) bool { return subject > bound }}
}

// Always makes the goal one for every round: a bound on memory that holds in the median
// only is no bound. The largest figure is judged, so it fits goals of Under.
func (g Goal) Always() Goal {
	g.worst = true
	return g
}

// verdict is "ok", "MISSED", or "" without a goal.
func (g Goal) verdict(subject, ratio float64) string {
	switch {
	case g.reached == nil:
		return ""
	case g.reached(subject, ratio):
		return "ok"
	}
	return "MISSED"
}

// Record holds the measured rounds, by the name of their row.
type Record map[string]*Series

// Series are the figures of a row and of its baseline, in the order of the rounds. A row
// may add several figures per round; then both lists need not be equally long.
type Series struct{ Subject, Baseline []float64 }

// Of returns the series of a row and makes it when it is missing.
func (r Record) Of(name string) *Series {
	if r[name] == nil {
		r[name] = &Series{}
	}
	return r[name]
}

// Add records one measurement of a row and one of its baseline.
func (r Record) Add(name string, subject, baseline float64) {
	s := r.Of(name)
	s.Subject, s.Baseline = append(s.Subject, subject), append(s.Baseline, baseline)
}

// ratios are those of each pair, in order. The load of the machine changes less within
// a round than between rounds, so their median says more than a ratio of medians.
func (s *Series) ratios() []float64 {
	all := make([]float64, min(len(s.Subject), len(s.Baseline)))
	for i := range all {
		all[i] = s.Subject[i] / s.Baseline[i]
	}
	return all
}

// median is the middle figure, or the mean of the middle two. figures must not be empty.
func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Table collects lines to print. The zero Table is empty and ready to use.
type Table struct{ lines [][]string }

// Add adds the rows of a group. A row without figures is listed as not measured, so that
// a failure never shortens the table unnoticed.
func (t *Table) Add(rows []Row, measured Record) {
	for _, r := range rows {
		s := measured[r.Name]
		if s == nil || len(s.Subject) == 0 || len(s.Baseline) == 0 {
			t.lines = append(t.lines, []string{"-", r.Name, cmp.Or(r.Goal.text, "-"), "", "not measured", r.Baseline, r.Note})
			continue
		}
		subject, baseline, ratio := median(s.Subject), median(s.Baseline), median(s.ratios())
		if r.Goal.worst {
			subject = slices.Max(s.Subject)
			ratio = subject / baseline
		}
		spread := fmt.Sprintf("%s (%s to %s)", r.Unit(subject), r.Unit(slices.Min(s.Subject)), r.Unit(slices.Max(s.Subject)))
		t.lines = append(t.lines, []string{
			fmt.Sprintf("%.3gx", ratio), r.Name, cmp.Or(r.Goal.text, "-"), r.Goal.verdict(subject, ratio),
			spread, r.Unit(baseline) + " " + r.Baseline, r.Note,
		})
	}
}

// Print writes all rows, and below them the size and load of the machine.
func (t *Table) Print(to io.Writer) {
	if len(t.lines) == 0 {
		fmt.Fprintln(to, "nothing was measured")
		return
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RATIO\tWHAT\tGOAL\t\tMEASURED (FROM TO)\tBASELINE\tNOTE")
	for _, line := range t.lines {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush() // a table that cannot be printed has no reader
	fmt.Fprintf(to, "%d processors, load %s; RATIO is measured over baseline\n", runtime.NumCPU(), load())
}

// load is the machine's load average over the last minute, as text.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// AddShare records the figure that the given share of figures does not exceed, such as
// 0.99 for the 99th percentile. It fails when either list is empty.
func (r Record) AddShare(name string, subject, baseline []float64, share float64) error {
	a, errA := Percentile(subject, share)
	b, errB := Percentile(baseline, share)
	r.Add(name, a, b)
	return errors.Join(errA, errB)
}

// Percentile returns the figure that the given share of all does not exceed. It sorts
// all in place. An empty list is an error: nothing arrived that could be judged.
func Percentile(all []float64, share float64) (float64, error) {
	if len(all) == 0 {
		return 0, errors.New("nothing was received")
	}
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)], nil
}
