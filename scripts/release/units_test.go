package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestUnitsThatRenderNothingAreHardened holds the audit's unit and the drop-in of a service
// without a worker against each other; scripts/check-operate has systemd rate both.
func TestUnitsThatRenderNothingAreHardened(t *testing.T) {
	t.Parallel()
	settings := func(path string) (lines []string) {
		text, err := os.ReadFile("../../packaging/" + path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(text), "\n")
	}
	audit := settings("systemd/svc-audit.service")
	strict := 0
	for _, line := range settings("hardening/no-worker.conf") {
		if name, _, is := strings.Cut(line, "="); !is || strings.HasPrefix(line, "#") || name == "Delegate" {
			continue
		}
		strict++
		if !slices.Contains(audit, line) {
			t.Errorf("the audit's unit lacks %s", line)
		}
	}
	if strict < 25 {
		t.Errorf("a service without a worker has %d strict settings", strict)
	}
}
