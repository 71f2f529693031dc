package main

import (
	"strings"
	"testing"

	"svc.example/bench/rendering"
	"svc.example/bench/storage"
)

func TestRowsHaveDifferentNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, g := range groups(rendering.Processor, storage.AuditJobs, storage.FinishedJobs) {
		for _, r := range g.Rows {
			if seen[r.Name] || !strings.Contains(r.Name, "/") || r.Baseline == "" {
				t.Errorf("row %q is a duplicate, belongs to no group, or has no baseline", r.Name)
			}
			seen[r.Name] = true
		}
	}
}
