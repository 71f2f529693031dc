package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"svc.example/internal/test/await"
	"svc.example/internal/test/screen"
)

var writeGolden = flag.Bool("write-golden", false, "write testdata/golden")

// The terminals on which every verb is shown. NO_COLOR is set on one of them: no verb
// uses colours, so both show the same.
const (
	narrow = 50
	wide   = 120
)

// verb is a command with the lines that show it. Its golden file has what each prints on a
// narrow terminal, on a wide one, and with --json where the command has that.
type verb struct {
	words string
	when  phase
	lines []line
	// raw says that it prints for programs: only the first line is kept, and none is wrapped.
	raw bool
}

// phase is when a verb is shown: one after the other, since a worker takes any job.
type phase int

const (
	nobody phase = iota // no worker is online
	alone               // the verb is the worker
	online              // a worker is there
)

// line is a command line as a person types it.
type line struct {
	args string // after the words; {NAME} is one of take.names
	exit int
	with func(*take) // what is prepared, each time
	// types are pairs: what is waited for, as the golden file has it, and what is then typed.
	types []string
	plain bool // it has no --json form
	loose bool // what it prints has other lengths in each run: its lines are joined
}

// asked answers the question of a change.
var asked = []string{"[y/N] ", "y\n"}

// TestEveryVerbIsShownAsItIs compares what every verb prints, when it succeeds and when
// it fails, with testdata/golden. No line is wider than the terminal, and nothing is
// coloured.
func TestEveryVerbIsShownAsItIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for when, name := range []string{"nobody", "alone", "online"} {
		s.begin(phase(when))
		t.Run(name, func(t *testing.T) {
			for _, v := range verbs {
				if v.when == phase(when) {
					t.Run(v.words, func(t *testing.T) {
						t.Parallel()
						s.with(t).show(v)
					})
				}
			}
		})
	}
}

// TestEveryVerbIsShown finds each command of the program in the table, with a success and
// a failure.
func TestEveryVerbIsShown(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&program{}, defaults(""))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]map[bool]bool{}
	for _, v := range verbs {
		shown[v.words] = map[bool]bool{}
		for _, l := range v.lines {
			shown[v.words][l.exit == 0] = true
		}
	}
	for _, leaf := range leavesOf(parser.Model.Node) {
		words := wordsOf(leaf)
		if reason := shownElsewhere[words]; !shown[words][true] && reason == "" {
			t.Errorf("no line of the table shows svc %s as it succeeds", words)
		}
		if !shown[words][false] {
			t.Errorf("no line of the table shows svc %s as it fails", words)
		}
		delete(shown, words)
	}
	for words := range shown {
		t.Errorf("the table has %q, which is no command", words)
	}
}

// leavesOf are the commands below n that are not hidden.
func leavesOf(n *kong.Node) (all []*kong.Node) {
	for _, child := range n.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			all = append(all, child)
		default:
			all = append(all, leavesOf(child)...)
		}
	}
	return all
}

func wordsOf(n *kong.Node) string {
	if n.Parent.Type == kong.ApplicationNode {
		return n.Name
	}
	return wordsOf(n.Parent) + " " + n.Name
}

// with is the stage in a part of the test.
func (s *stage) with(t *testing.T) *showing { return &showing{s, t} }

type showing struct {
	*stage
	t *testing.T
}

// show runs the lines of a verb and compares them with its golden file.
func (s *showing) show(v verb) {
	var all strings.Builder
	for _, l := range v.lines {
		l.args = strings.TrimSpace(v.words + " " + l.args)
		for _, columns := range []uint16{narrow, wide} {
			r := s.take(s.t)
			set := ""
			if columns == narrow {
				r.env["NO_COLOR"], set = "1", "NO_COLOR=1 "
			}
			said, code := r.onTerminal(columns, l)
			if code != l.exit {
				s.t.Errorf("svc %s ends with %d, want %d:\n%s", l.args, code, l.exit, said)
			}
			if v.raw && code == 0 {
				said = said[:strings.Index(said, "\n")+1] + "...\n"
			}
			fits(s.t, said, columns)
			if l.loose {
				said = broken.ReplaceAllString(said, " ")
			}
			fmt.Fprintf(&all, "%d columns: %ssvc %s\n%s", columns, set, l.args, indented(steady(said)))
			if code != 0 {
				fmt.Fprintf(&all, "exit code %d\n", code)
			}
			all.WriteByte('\n')
		}
		if !l.plain && l.exit != 2 {
			all.WriteString(s.asJSON(l))
		}
	}
	compare(s.t, strings.ReplaceAll(v.words, " ", "-"), all.String())
}

// onTerminal runs a line on a terminal, and returns what a person sees at the end.
func (r *take) onTerminal(columns uint16, l line) (said string, code int) {
	r.t.Helper()
	if l.with != nil {
		l.with(r)
	}
	command := r.command(l.args)
	shown := screen.Start(r.t, command, columns)
	if r.ready != nil {
		r.ready()
	}
	for i := 0; i < len(l.types); i += 2 {
		await.Until(r.t, l.types[i], func() bool { return strings.Contains(steady(shown.Text()), l.types[i]) })
		shown.Type(r.t, "", l.types[i+1])
	}
	_ = command.Wait() // the exit code says it
	shown.End(r.t)
	if coloured.MatchString(shown.Text()) {
		r.t.Errorf("svc %s has colours, which NO_COLOR must take away", l.args)
	}
	if drawn := shown.Text(); moved.MatchString(drawn) {
		fits(r.t, moved.ReplaceAllString(drawn, "\n"), columns) // what was drawn over, too
	}
	return shown.Seen(), command.ProcessState.ExitCode()
}

// asJSON runs a line with --json, away from a terminal. A question is answered by --yes.
func (s *showing) asJSON(l line) string {
	r := s.take(s.t)
	if l.with != nil {
		l.with(r)
	}
	args := l.args + " --json"
	if l.types != nil {
		args += " --yes"
	}
	command := r.command(args)
	object, _ := command.Output() // the exit code says it
	if code := command.ProcessState.ExitCode(); code != l.exit {
		s.t.Errorf("svc %s ends with %d, want %d: %s", args, code, l.exit, object)
	}
	if !json.Valid(object) {
		s.t.Errorf("svc %s prints %s", args, object)
	}
	return fmt.Sprintf("no terminal: svc %s\n%s\n", args, indented(steady(string(object))))
}

func indented(text string) string {
	var all strings.Builder
	for line := range strings.Lines(text) {
		all.WriteString("    " + line)
	}
	return all.String()
}

var (
	broken   = regexp.MustCompile(`\n  +`)
	coloured = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	moved    = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	// whole are lines that may be wider than the terminal: one word, which is copied; a
	// command, which is too; a line of a log, which is searched.
	whole = regexp.MustCompile(`^(svc: error:)? *[^ ]+$|^ +svc .*$|^time=.* level=`)
)

// fits reports the lines that are wider than the terminal.
func fits(t *testing.T, said string, columns uint16) {
	t.Helper()
	for line := range strings.FieldsFuncSeq(said, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimPrefix(line, "^C") // what was typed is no part of it
		if n := utf8.RuneCountInString(line); n > int(columns) && !whole.MatchString(line) {
			t.Errorf("a line has %d columns, the terminal %d: %s", n, columns, line)
		}
	}
}

// compare compares text with a golden file.
func compare(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	if *writeGolden {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s is not what it was. If that is meant: go test ./cmd/svc -run TestEveryVerbIsShownAsItIs -write-golden, and read the difference.\n%s", path, difference(string(want), text))
	}
}

// difference is the first line in which two texts differ, with what is before it.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("line %d, after\n%s\nwas\n%s\nis\n%s", at+1, strings.Join(a[max(0, at-3):at], "\n"),
		strings.Join(a[at:min(len(a), at+3)], "\n"), strings.Join(b[at:min(len(b), at+3)], "\n"))
}

// masks replace what is another one in each run. What people read keeps its length, since
// lines are wrapped by it.
var masks = []struct {
	form *regexp.Regexp
	with string // "" numbers what is found, in place of its digits
}{
	{regexp.MustCompile(`\b(?:[A-Z]{3}-|key_|msg_|req_|person-)[0-9a-f]{32}\b`), ""},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), ""},
	{regexp.MustCompile(`\b(svc_(?:agent_|node_|operator_)?(?:test_)?)[0-9A-Za-z]{43}\b`), "${1}" + strings.Repeat("X", 43)},
	{regexp.MustCompile(`\b(svc_(?:agent_|node_|operator_)?(?:test_)?)[0-9A-Za-z]{8}…`), "${1}XXXXXXXX…"},
	{regexp.MustCompile(`whsec_[0-9A-Za-z+/]{43}=`), "whsec_" + strings.Repeat("X", 43) + "="},
	{regexp.MustCompile(`token=[0-9A-Za-z_-]{43}`), "token=" + strings.Repeat("X", 43)},
	{regexp.MustCompile(`\b(expires|signature)=[0-9A-Za-z_-]+`), "${1}=X"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)`), "2000-01-01T00:00:00Z"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`), "2000-01-01 00:00:00"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d`), "2000-01-01 00:00"},
	{regexp.MustCompile(`\b20\d\d-\d\d([ ",\n])`), "2000-01${1}"},
	{regexp.MustCompile(`,\d+\.\d{3},`), ",0.000,"},
	{regexp.MustCompile(`127\.0\.0\.1:\d{5}`), "127.0.0.1:00000"},
	{regexp.MustCompile(`/tmp/svc-golden-\d{10}/\d{4}`), "/tmp/svc-golden-0000000000/0000"},
	{regexp.MustCompile(`/tmp/svc-golden-\d{10}`), "/tmp/svc-golden-0000000000"},
	{regexp.MustCompile(`"[0-9A-Za-z+/]{66,}={0,2}"`), `"BASE64"`},
	{regexp.MustCompile(`("[a-z_]*(?:seconds|bytes|_ms)[a-z_]*": )-?[\d.e+-]+`), "${1}0"},
	{regexp.MustCompile(`("queue_position": )\d+`), "${1}1"},
	{regexp.MustCompile(`\b\d{5} bytes, SHA`), "70000 bytes, SHA"},
	{regexp.MustCompile(`receipt says \d{5}\b`), "receipt says 70000"},
	{regexp.MustCompile(`files of \d\d\d\.\d KiB`), "files of 100.0 KiB"},
	{regexp.MustCompile(`\bleaf \d+ of the \d+ in`), "leaf 0 of the 9 in"},
	{regexp.MustCompile(`\boff by \d+ s`), "off by 12000 s"},
	{regexp.MustCompile(`(\ntook +)[\dhms.]+`), "${1}0s"},
	{regexp.MustCompile(` in \d+ ms\b`), " in 0 ms"},
	{regexp.MustCompile(`(?:less than )?\d+(?:\.\d)? s(?: to (?:less than )?\d+(?:\.\d)? s)?\b`), "0.1 s"},
	{regexp.MustCompile(`[0-9A-Za-z+/]{43}=`), strings.Repeat("X", 43) + "="},
	{regexp.MustCompile(`\(devel\)|v\d+\.\d+\.\d+[-+.0-9a-z]*|go1\.\d+(\.\d+)?`), "X"},
}

// progress is how far the worker is whenever one looks.
var progress = regexp.MustCompile(`(?m)^(?:waiting: .*|the preview .*|a worker renders .*|queued.*|rendering(?: on .*)?|packaging|completed)\n(?:  .*\n)*`)

// steady replaces what is another one in each run.
func steady(text string) string {
	text = progress.ReplaceAllString(text, "")
	numbers := map[string]int{}
	for _, m := range masks {
		if m.with != "" {
			text = m.form.ReplaceAllString(text, m.with)
			continue
		}
		text = m.form.ReplaceAllStringFunc(text, func(found string) string {
			if numbers[found] == 0 {
				numbers[found] = len(numbers) + 1
			}
			at := strings.LastIndexAny(found, "-_") + 1
			return found[:at] + fmt.Sprintf("%0*d", len(found)-at, numbers[found])
		})
	}
	return text
}
