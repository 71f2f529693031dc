package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// report turns events into lines. It is used by one goroutine.
type report struct {
	out       io.Writer
	bar       bool // there is a terminal, which can overwrite its last line
	packages  int  // that will be tested
	ended     int
	passed    int
	failed    int
	skipped   []string
	running   []string // in the order of their start
	output    map[string]*pkgOutput
	builds    map[string]*strings.Builder // by what was built
	started   time.Time
	lastDrawn time.Time
	drawn     bool // the bar stands on the last line
	now       func() time.Time
}

// pkgOutput is what a package's tests have printed, without those that passed.
type pkgOutput struct {
	tests map[string]*strings.Builder // "" is the package itself
	order []string
	count int
	bad   int
}

func newReport(out io.Writer, bar bool, packages int) *report {
	return &report{
		out: out, bar: bar, packages: packages, output: map[string]*pkgOutput{}, builds: map[string]*strings.Builder{}, started: time.Now(), now: time.Now,
	}
}

func (r *report) add(e event) {
	switch e.Action {
	case "build-output":
		r.build(e.ImportPath).WriteString(e.Output)
	case "start":
		r.running = append(r.running, e.Package)
	case "output":
		r.of(e.Package).write(e.Test, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e)
		} else {
			r.endTest(e)
		}
	}
	r.draw()
}

func (r *report) build(name string) *strings.Builder {
	if r.builds[name] == nil {
		r.builds[name] = &strings.Builder{}
	}
	return r.builds[name]
}

func (r *report) of(name string) *pkgOutput {
	if r.output[name] == nil {
		r.output[name] = &pkgOutput{tests: map[string]*strings.Builder{}}
	}
	return r.output[name]
}

func (p *pkgOutput) write(test, text string) {
	if p.tests[test] == nil {
		p.tests[test] = &strings.Builder{}
		p.order = append(p.order, test)
	}
	p.tests[test].WriteString(text)
}

func (r *report) endTest(e event) {
	p := r.of(e.Package)
	p.count++
	switch e.Action {
	case "pass":
		r.passed++
		delete(p.tests, e.Test)
	case "fail":
		r.failed++
		p.bad++
	case "skip":
		r.skipped = append(r.skipped, e.Package+" "+e.Test)
		p.bad++
	}
}

func (r *report) endPackage(e event) {
	r.ended++
	r.running = slices.DeleteFunc(r.running, func(name string) bool { return name == e.Package })
	p := r.of(e.Package)
	delete(r.output, e.Package)
	if e.Action != "fail" && p.bad == 0 {
		r.line("ok  \t%s\t%.1fs\t%d tests", e.Package, e.Elapsed, p.count)
		return
	}
	if p.bad == 0 {
		r.failed++ // it was not built, or ended outside its tests
	}
	if built := r.builds[e.FailedBuild]; built != nil {
		r.line("%s", built.String())
		delete(r.builds, e.FailedBuild)
	}
	for _, test := range p.order {
		if said := p.tests[test]; said != nil && test != "" {
			r.line("%s", said.String())
		}
	}
	if said := p.tests[""]; said != nil {
		r.line("%s", said.String())
	}
	r.line("FAIL\t%s\t%.1fs\t%d of %d tests", e.Package, e.Elapsed, p.bad, p.count)
}

// end prints the sum and reports whether all is well.
func (r *report) end() bool {
	for name, text := range r.builds { // what no package's end has named
		r.line("# %s\n%s", name, text.String())
	}
	for _, test := range r.skipped {
		r.line("skipped, which counts as failed: %s", test)
	}
	failed := r.failed + len(r.skipped)
	if r.ended < r.packages {
		failed++
		r.line("%d of %d packages were tested", r.ended, r.packages)
	}
	r.clear()
	fmt.Fprintf(r.out, "%d passed, %d failed\n", r.passed, failed)
	return failed == 0
}

func (r *report) line(format string, values ...any) {
	r.clear()
	fmt.Fprintln(r.out, strings.TrimSuffix(fmt.Sprintf(format, values...), "\n"))
}

func (r *report) clear() {
	if r.drawn {
		fmt.Fprint(r.out, "\r\x1b[K")
		r.drawn = false
	}
}

// draw writes the bar, ten times a second at most.
func (r *report) draw() {
	now := r.now()
	if !r.bar || now.Sub(r.lastDrawn) < 100*time.Millisecond && r.drawn {
		return
	}
	r.lastDrawn = now
	const width = 24
	done := width * r.ended / max(r.packages, 1)
	busy := make([]string, 0, len(r.running))
	for _, name := range r.running {
		busy = append(busy, name[strings.LastIndexByte(name, '/')+1:])
	}
	text := fmt.Sprintf("[%s%s] %d/%d packages, %d tests, %d failed, %s: %s", strings.Repeat("#", done), strings.Repeat(".", width-done),
		r.ended, r.packages, r.passed, r.failed, now.Sub(r.started).Truncate(time.Second), strings.Join(busy, ", "))
	const columns = 100 // a line that wraps could not be overwritten
	fmt.Fprintf(r.out, "\r\x1b[K%.*s", columns, text)
	r.drawn = true
}
