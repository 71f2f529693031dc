package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// secondsFile remembers how long the tests of each package took.
const secondsFile = ".tools/test-seconds.json"

// seconds are how long the tests of packages took, by import path; a result from the
// cache of go test says nothing about it.
type seconds map[string]float64

// readSeconds reads what a file remembers: nothing where there is none that is whole.
func readSeconds(path string) seconds {
	known := seconds{}
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &known) != nil {
		return seconds{}
	}
	return known
}

// write adds what was measured to what was known, and writes both.
func (s seconds) write(path string, measured seconds) error {
	maps.Copy(s, measured)
	text, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// slowest names the n packages that took longest.
func (s seconds) slowest(n int) (lines []string) {
	names := slices.SortedFunc(maps.Keys(s), func(a, b string) int { return cmp.Or(cmp.Compare(s[b], s[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(n, len(names))] {
		lines = append(lines, fmt.Sprintf("%s %.1fs", name, s[name]))
	}
	return lines
}
