package metrics_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/work/autoscale"
)

// The folders of the repository that these tests compare with /metrics.
const (
	root  = "../../../"
	rules = root + "deploy/prometheus/svc.rules.yml"
	board = root + "deploy/grafana/svc.json"
)

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// promtool runs Debian's promtool.
func promtool(t *testing.T, arguments ...string) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Fatal("promtool is not installed: scripts/install-tools promtool")
	}
	if out, err := exec.Command("promtool", arguments...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

func TestPrometheusAcceptsTheRulesAndTheirTestsPass(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "config", root+"deploy/prometheus/prometheus.yml") // with its rules
	promtool(t, "test", "rules", root+"deploy/prometheus/svc.rules.test.yml")
}

// TestEachAlertIsTestedBothWays: that it fires on its cause, and not without it.
func TestEachAlertIsTestedBothWays(t *testing.T) {
	t.Parallel()
	fires, quiet := map[string]bool{}, map[string]bool{}
	tests := read(t, root+"deploy/prometheus/svc.rules.test.yml")
	for _, m := range regexp.MustCompile(`alertname: (\w+)(, exp_alerts: \[\])?(\n +exp_alerts:\n +- )?`).FindAllStringSubmatch(tests, -1) {
		fires[m[1]] = fires[m[1]] || m[3] != ""
		quiet[m[1]] = quiet[m[1]] || m[2] != ""
	}
	for _, alert := range alerts(t) {
		if !fires[alert] || !quiet[alert] {
			t.Errorf("%s: it is tested that it fires: %v, and that it does not: %v", alert, fires[alert], quiet[alert])
		}
	}
}

// alerts lists the alerts of the rules.
func alerts(t *testing.T) (names []string) {
	t.Helper()
	text := read(t, rules)
	for _, m := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
		if !strings.Contains(text, `runbook: "docs/runbook.md#`+strings.ToLower(m[1])+`"`) && !strings.Contains(text, `runbook: "docs/runbook-tickets.md#`+strings.ToLower(m[1])+`"`) {
			t.Errorf("%s does not name its paragraph of the runbook", m[1])
		}
	}
	if len(names) < 9 {
		t.Fatalf("the rules have %d alerts", len(names))
	}
	return names
}

// TestTheRunbookHasAParagraphForEachAlert, and for nothing else: docs/runbook.md for those
// that wake somebody, docs/runbook-tickets.md for the others.
func TestTheRunbookHasAParagraphForEachAlert(t *testing.T) {
	t.Parallel()
	var titles []string
	pages := strings.Split(read(t, root+"docs/runbook.md"), "\n## ")[1:]
	tickets := strings.Split(read(t, root+"docs/runbook-tickets.md"), "\n## ")[1:]
	for i, part := range slices.Concat(pages, tickets) {
		title, text, _ := strings.Cut(part, "\n")
		titles = append(titles, title)
		for _, word := range []string{"**Look at**", "**Do:**"} {
			if !strings.Contains(text, word) {
				t.Errorf("the paragraph of %s does not say %s", title, word)
			}
		}
		severity := map[bool]string{true: "page", false: "ticket"}[i < len(pages)]
		if _, rule, _ := strings.Cut(read(t, rules), "alert: "+title+"\n"); !strings.HasPrefix(rule[strings.Index(rule, "severity: ")+len("severity: "):], severity) {
			t.Errorf("the rule and the paragraph of %s differ in severity", title)
		}
	}
	slices.Sort(titles)
	if want := slices.Sorted(slices.Values(alerts(t))); !slices.Equal(titles, want) {
		t.Errorf("the runbook has %q, the rules have %q", titles, want)
	}
}

// served returns the names and types of the metrics of a service that was asked something,
// and of an autoscaler.
func served(t *testing.T) map[string]string {
	t.Helper()
	_, url, metricsURL := start(t, "sqlite")
	get(t, url+"/livez")
	_, found := get(t, metricsURL+"/metrics")
	scaler := httptest.NewServer(autoscale.NewMetrics(1).Handler())
	defer scaler.Close()
	_, more := get(t, scaler.URL+"/metrics")
	found += more
	types := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(found, -1) {
		types[m[1]] = m[2]
	}
	return types
}

// TestTheDocumentHasEveryMetric with its type, and no other.
func TestTheDocumentHasEveryMetric(t *testing.T) {
	t.Parallel()
	told, is := map[string]string{}, served(t)
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(read(t, root+"docs/metrics.md"), -1) {
		told[m[1]] = m[2]
	}
	for name, kind := range is {
		if own := strings.HasPrefix(name, "svc_"); own && told[name] != kind {
			t.Errorf("%s is a %s; the document has %q", name, kind, told[name])
		} else if !own && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "promhttp_") {
			t.Errorf("the document has no line for %s", name)
		}
	}
	for name := range told {
		if is[name] == "" {
			t.Errorf("the document has %s, which is not served", name)
		}
	}
}

// TestRulesAndBoardUseMetricsThatAreServed: a name that was changed or mistyped would make
// an alert that never fires.
func TestRulesAndBoardUseMetricsThatAreServed(t *testing.T) {
	t.Parallel()
	names := map[string]bool{"up": true} // Prometheus' own
	for name, kind := range served(t) {
		names[name] = true
		if kind == "histogram" {
			names[name+"_bucket"], names[name+"_sum"], names[name+"_count"] = true, true, true
		}
	}
	for _, expression := range append(ofBoard(t), ofRules(t)...) {
		used := metricsOf(expression)
		if len(used) == 0 {
			t.Errorf("%s uses no metric", expression)
		}
		for _, name := range used {
			if !names[name] {
				t.Errorf("%s uses %s, which is not served", expression, name)
			}
		}
	}
	if got := metricsOf(`sum by (le) (rate(wrong_name{job="x"}[5m] offset 1h)) > 2e9 and on (job) other == 0`); !slices.Equal(got, []string{"wrong_name", "other"}) {
		t.Errorf("the names of an expression are read as %q", got)
	}
}

// TestEachExpressionOfTheBoardParses, as the expression of a recording rule.
func TestEachExpressionOfTheBoardParses(t *testing.T) {
	t.Parallel()
	text := "groups:\n- name: board\n  rules:\n"
	for i, expression := range ofBoard(t) {
		quoted, err := json.Marshal(strings.NewReplacer("$__rate_interval", "5m", "$job", "svc").Replace(expression))
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("  - record: board:panel%d\n    expr: %s\n", i, quoted)
	}
	path := filepath.Join(t.TempDir(), "board.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}

// ofBoard lists the expressions of the board, and holds it to name a metric in each panel.
func ofBoard(t *testing.T) (all []string) {
	t.Helper()
	var b struct {
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, board)), &b); err != nil {
		t.Fatal(err)
	}
	for _, p := range b.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", p.Title)
		}
	}
	return all
}

// ofRules lists the expressions of the rules, of one line or of several.
func ofRules(t *testing.T) (all []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^        expr: (?:\|\n((?:          .*\n)+)|(.*)$)`).FindAllStringSubmatch(read(t, rules), -1) {
		all = append(all, m[1]+m[2])
	}
	if n := len(alerts(t)); len(all) != n {
		t.Fatalf("%d expressions are found for %d alerts", len(all), n)
	}
	return all
}

// Parts of an expression that hold no metric: labels, ranges, texts, and lists of labels.
var (
	noMetric = regexp.MustCompile(`"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(by|on|without|ignoring) *\([^)]*\)|\boffset +\w+|\b[0-9][0-9.e]*\w*`)
	word     = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*( *\()?`)
)

// metricsOf lists the names of metrics in an expression: the words that are neither
// functions nor operators.
func metricsOf(expression string) (names []string) {
	for {
		shorter := noMetric.ReplaceAllString(expression, " ")
		if shorter == expression {
			break
		}
		expression = shorter
	}
	for _, w := range word.FindAllString(expression, -1) {
		if !strings.HasSuffix(w, "(") && !slices.Contains([]string{"and", "or", "unless", "bool"}, w) {
			names = append(names, w)
		}
	}
	return names
}
