package main

import (
	"strings"
	"testing"
)

func TestRowsHaveDifferentNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, g := range groups() {
		for _, r := range g.Rows {
			if seen[r.Name] || !strings.Contains(r.Name, "/") || r.Baseline == "" {
				t.Errorf("row %q is a duplicate, belongs to no group, or has no baseline", r.Name)
			}
			seen[r.Name] = true
		}
	}
}
