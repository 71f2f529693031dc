package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	name     string // "group/what", which -only is matched with
	unit     unit
	baseline string // what the figure stands beside
	goal     goal
	note     string // what must be known to judge the figure
}

// unit is how a figure is written: it is kept in seconds, bytes or a second.
type unit func(float64) string

func duration(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.3g ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

func size(bytes float64) string { return fmt.Sprintf("%.1f MB", bytes/1e6) }

func perSecond(n float64) string { return fmt.Sprintf("%.0f /s", n) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

// goal is what a row must reach. The zero goal asks for nothing.
type goal struct {
	text    string
	reached func(subject, ratio float64) bool
	worst   bool // the worst round counts, not the median
}

func ratioAtMost(bound float64) goal {
	return goal{text: fmt.Sprintf("<= %.3gx", bound), reached: func(_, ratio float64) bool { return ratio <= bound }}
}

func ratioAtLeast(bound float64) goal {
	return goal{text: fmt.Sprintf(">= %gx", bound), reached: func(_, ratio float64) bool { return ratio >= bound }}
}

func under(bound float64, u unit) goal {
	return goal{text: "< " + u(bound), reached: func(subject, _ float64) bool { return subject < bound }}
}

func over(bound float64, u unit) goal {
	return goal{text: "> " + u(bound), reached: func(subject, _ float64) bool { return subject > bound }}
}

// always makes a goal one for every round.
func (g goal) always() goal {
	g.worst = true
	return g
}

func (g goal) verdict(subject, ratio float64) string {
	switch {
	case g.reached == nil:
		return ""
	case g.reached(subject, ratio):
		return "ok"
	}
	return "MISSED"
}

// record holds the rounds of the rows, by name.
type record map[string]*series

type series struct{ subject, baseline []float64 }

func (r record) of(name string) *series {
	if r[name] == nil {
		r[name] = &series{}
	}
	return r[name]
}

// add records one measurement of a row and one of its baseline.
func (r record) add(name string, subject, baseline float64) {
	s := r.of(name)
	s.subject, s.baseline = append(s.subject, subject), append(s.baseline, baseline)
}

// ratios are those of each round's pair: the load on the machine changes less
// within a round than between them.
func (s *series) ratios() []float64 {
	all := make([]float64, min(len(s.subject), len(s.baseline)))
	for i := range all {
		all[i] = s.subject[i] / s.baseline[i]
	}
	return all
}

// median is the middle of the figures, the mean of the two of an even number.
func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// table is what has been measured so far.
type table struct{ lines [][]string }

func (t *table) add(rows []row, measured record) {
	for _, r := range rows {
		s := measured[r.name]
		if s == nil || len(s.subject) == 0 || len(s.baseline) == 0 {
			t.lines = append(t.lines, []string{"-", r.name, cmp.Or(r.goal.text, "-"), "", "not measured", r.baseline, r.note})
			continue
		}
		subject, baseline, ratio := median(s.subject), median(s.baseline), median(s.ratios())
		if r.goal.worst {
			subject = slices.Max(s.subject)
			ratio = subject / baseline
		}
		spread := fmt.Sprintf("%s (%s to %s)", r.unit(subject), r.unit(slices.Min(s.subject)), r.unit(slices.Max(s.subject)))
		t.lines = append(t.lines, []string{
			fmt.Sprintf("%.3gx", ratio), r.name, cmp.Or(r.goal.text, "-"), r.goal.verdict(subject, ratio),
			spread, r.unit(baseline) + " " + r.baseline, r.note,
		})
	}
}

func (t *table) print(to io.Writer) {
	if len(t.lines) == 0 {
		fmt.Fprintln(to, "nothing was measured")
		return
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RATIO\tWHAT\tGOAL\t\tMEASURED (FROM TO)\tBASELINE\tNOTE")
	for _, line := range t.lines {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush() // a table that cannot be printed has no reader to tell
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
