package operators

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each alert fires on its own fact, and a service without trouble on none.
func TestEachAlertFiresOnItsOwnFactOnly(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	sound := func() facts {
		return facts{now: now, host: "a", ready: 5, able: 2, late: time.Minute, audited: now.Add(-time.Hour), keyEnd: now.Add(48 * time.Hour), free: 1e12}
	}
	for name, change := range map[string]func(f *facts){
		"":              func(*facts) {},
		"no_worker":     func(f *facts) { f.able = 0 },
		"worker_unable": func(f *facts) { f.unable = 1 },
		"job_stranded":  func(f *facts) { f.stranded = 2 },
		"files_down":    func(f *facts) { f.files = errors.New("away") },
		"disk_low":      func(f *facts) { f.free = lowDisk - 1 },
		"audit_breach":  func(f *facts) { f.breaches = 1 },
		"audit_old":     func(f *facts) { f.audited = now.Add(-oldAudit - time.Second) },
		"signing_key":   func(f *facts) { f.keyEnd = now.Add(keyNear - time.Second) },
		"dead_letters":  func(f *facts) { f.dead = 1 },
		"webhooks_late": func(f *facts) { f.late = lateHook + time.Second },
		"reuse_off":     func(f *facts) { f.reuseOff = 1 },
	} {
		f := sound()
		change(&f)
		var fired []string
		for _, a := range All() {
			if a.says(f) != "" {
				fired = append(fired, a.Name)
			}
		}
		if got := strings.Join(fired, " "); got != name {
			t.Errorf("%q fires %q", name, got)
		}
	}
	never := sound()
	never.audited, never.keyEnd = time.Time{}, time.Time{} // no audit yet, and a key without an end
	for _, a := range All() {
		if says := a.says(never); says != "" {
			t.Errorf("%s fires in a new service: %s", a.Name, says)
		}
	}
}

// Each alert has its line in the operator's page, in the order of the list, and its paragraph in the runbook.
func TestEachAlertIsDocumented(t *testing.T) {
	t.Parallel()
	read := func(page string) string {
		text, err := os.ReadFile("../../../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	observe := read("observe.md")
	var lines []int
	for _, a := range All() {
		lines = append(lines, strings.Index(observe, "| `"+a.Name+"` |"))
		page, paragraph, _ := strings.Cut(a.Runbook, "#")
		if !strings.Contains(strings.ToLower(read(page+".md")), "\n## "+paragraph+"\n") {
			t.Errorf("docs/%s.md has no paragraph %s", page, paragraph)
		}
	}
	if !slices.IsSorted(lines) || lines[0] < 0 {
		t.Errorf("docs/observe.md lacks alerts, or has another order: %v", lines)
	}
}
