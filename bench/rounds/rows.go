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
	Name     string // "group/what", which -only is matched with
	Unit     Unit
	Baseline string // what the figure is compared with
	Goal     Goal
	Note     string // what must be known to judge the figure
}

// Unit is how a figure is written: it is kept in seconds, bytes or a second.
type Unit func(float64) string

// Duration writes seconds.
func Duration(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

// Size writes bytes.
func Size(bytes float64) string { return fmt.Sprintf("%.1f MB", bytes/1e6) }

// PerSecond writes a rate.
func PerSecond(n float64) string { return fmt.Sprintf("%.0f /s", n) }

// Percent writes a share of 1.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

// Goal is what a row must reach. The zero Goal asks for nothing.
type Goal struct {
	text    string
	reached func(subject, ratio float64) bool
	worst   bool // the worst round counts, not the median
}

// RatioAtMost is a goal on subject over baseline.
func RatioAtMost(bound float64) Goal {
	return Goal{text: fmt.Sprintf("<= %.3gx", bound), reached: func(_, ratio float64) bool { return ratio <= bound }}
}

// RatioAtLeast is the goal of a subject whose figure is to be large.
func RatioAtLeast(bound float64) Goal {
	return Goal{text: fmt.Sprintf(">= %gx", bound), reached: func(_, ratio float64) bool { return ratio >= bound }}
}

// Under is a goal on the subject alone.
func Under(bound float64, u Unit) Goal {
	return Goal{text: "< " + u(bound), reached: func(subject, _ float64) bool { return subject < bound }}
}

// Over is the goal of a subject whose figure is to be large.
func Over(bound float64, u Unit) Goal {
	return Goal{text: "> " + u(bound), reached: func(subject, _ float64) bool { return subject > bound }}
}

// Always makes a goal one for every round.
func (g Goal) Always() Goal {
	g.worst = true
	return g
}

func (g Goal) verdict(subject, ratio float64) string {
	switch {
	case g.reached == nil:
		return ""
	case g.reached(subject, ratio):
		return "ok"
	}
	return "MISSED"
}

// Record holds the rounds of the rows, by name.
type Record map[string]*Series

// Series are the figures of a row and of its baseline, in the order of the rounds.
type Series struct{ Subject, Baseline []float64 }

// Of is the series of a row, made when it is first asked for.
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

// ratios are those of each round's pair: the load on the machine changes less
// within a round than between them.
func (s *Series) ratios() []float64 {
	all := make([]float64, min(len(s.Subject), len(s.Baseline)))
	for i := range all {
		all[i] = s.Subject[i] / s.Baseline[i]
	}
	return all
}

// median is the middle of the figures, the mean of the two of an even number.
func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Table is what has been measured so far.
type Table struct{ lines [][]string }

// Add takes the rows of a group; one that has no figures is listed as not measured.
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

// Print writes the rows added so far.
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

// load is the machine's load average over the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// AddShare records what a share of figures does not exceed.
func (r Record) AddShare(name string, subject, baseline []float64, share float64) error {
	a, errA := Percentile(subject, share)
	b, errB := Percentile(baseline, share)
	r.Add(name, a, b)
	return errors.Join(errA, errB)
}

// Percentile is the figure that a share of all does not exceed.
func Percentile(all []float64, share float64) (float64, error) {
	if len(all) == 0 {
		return 0, errors.New("nothing was received")
	}
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)], nil
}
