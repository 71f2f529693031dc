package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// report turns events into lines. It is not safe for concurrent use.
type report struct {
	out       io.Writer
	bar       bool // draw the progress bar: out is a terminal, which can overwrite its last line
	packages  int  // number of packages to test
	ended     int
	passed    int
	failed    int
	skipped   []string
	seconds   seconds  // of the packages that ended
	running   []string // packages under test, in the order of their start
	output    map[string]*pkgOutput
	builds    map[string]*strings.Builder // output of builds, by package
	started   time.Time
	lastDrawn time.Time
	drawn     bool // the bar is on the last line
	lastLine  time.Time
	now       func() time.Time
}

// pkgOutput is the output of a package's tests that have not passed. A passed test's
// output is dropped at once, which bounds the memory.
type pkgOutput struct {
	tests map[string]*strings.Builder // "" is the package itself
	order []string                    // names in tests, in the order of their first output
	count int                         // tests that ended
	bad   int                         // tests that failed or skipped
}

func newReport(out io.Writer, bar bool, packages int) *report {
	return &report{
		out: out, bar: bar, packages: packages, seconds: seconds{}, output: map[string]*pkgOutput{}, builds: map[string]*strings.Builder{}, started: time.Now(), lastLine: time.Now(), now: time.Now,
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

// cached reports whether go test took the result from its cache.
func (p *pkgOutput) cached() bool {
	own := p.tests[""]
	return own != nil && strings.Contains(own.String(), "\t(cached)")
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
	if !p.cached() {
		r.seconds[e.Package] = e.Elapsed
	}
	if e.Action != "fail" && p.bad == 0 {
		r.line("ok  \t%s\t%.1fs\t%d tests", e.Package, e.Elapsed, p.count)
		return
	}
	if p.bad == 0 {
		r.failed++ // the build failed, or the package ended outside a test
	}
	if built := r.builds[e.FailedBuild]; built != nil {
		r.line("%s", built.String())
		delete(r.builds, e.FailedBuild)
	}
	for _, test := range p.order {
		if output := p.tests[test]; output != nil && test != "" {
			r.line("%s", output.String())
		}
	}
	if output := p.tests[""]; output != nil {
		r.line("%s", output.String())
	}
	r.line("FAIL\t%s\t%.1fs\t%d of %d tests", e.Package, e.Elapsed, p.bad, p.count)
}

// end prints the totals and reports whether every test passed.
func (r *report) end() bool {
	for name, text := range r.builds { // failed builds that no package's end named
		r.line("# %s\n%s", name, text.String())
	}
	for _, test := range r.skipped {
		r.line("skipped (counts as failed): %s", test)
	}
	failed := r.failed + len(r.skipped)
	if r.ended < r.packages {
		failed++
		r.line("only %d of %d packages were tested", r.ended, r.packages)
	}
	r.clear()
	if slowest := r.seconds.slowest(5); len(slowest) > 0 {
		fmt.Fprintf(r.out, "slowest: %s\n", strings.Join(slowest, ", "))
	}
	fmt.Fprintf(r.out, "%d passed, %d failed\n", r.passed, failed)
	return failed == 0
}

// silence is how long a log may go without a line.
const silence = 30 * time.Second

// tick shows once a second that the run is alive: by the bar, otherwise by a line after
// some silence.
func (r *report) tick() {
	r.draw()
	if !r.bar && r.now().Sub(r.lastLine) >= silence {
		r.line("... %s", r.state())
	}
}

// state says how far the run is and what is under way.
func (r *report) state() string {
	busy := make([]string, 0, len(r.running))
	for _, name := range r.running {
		busy = append(busy, name[strings.LastIndexByte(name, '/')+1:])
	}
	if len(busy) == 0 {
		busy = []string{"building"}
	}
	return fmt.Sprintf("%d/%d packages, %d tests, %d failed, %s: %s",
		r.ended, r.packages, r.passed, r.failed, r.now().Sub(r.started).Truncate(time.Second), strings.Join(busy, ", "))
}

// line prints a line above the bar.
func (r *report) line(format string, values ...any) {
	r.clear()
	r.lastLine = r.now()
	fmt.Fprintln(r.out, strings.TrimSuffix(fmt.Sprintf(format, values...), "\n"))
}

// clear erases the bar, so that a line can take its place.
func (r *report) clear() {
	if r.drawn {
		fmt.Fprint(r.out, "\r\x1b[K")
		r.drawn = false
	}
}

// draw writes the bar, at most ten times a second.
func (r *report) draw() {
	now := r.now()
	if !r.bar || now.Sub(r.lastDrawn) < 100*time.Millisecond && r.drawn {
		return
	}
	r.lastDrawn = now
	const width = 24
	done := width * r.ended / max(r.packages, 1)
	text := fmt.Sprintf("[%s%s] %s", strings.Repeat("#", done), strings.Repeat(".", width-done), r.state())
	const columns = 100 // a wrapped line could not be overwritten
	fmt.Fprintf(r.out, "\r\x1b[K%.*s", columns, text)
	r.drawn = true
}
