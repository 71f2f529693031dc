package db_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A page begins after a key. Where it joins another table by that key, PostgreSQL may merge
// the two, and reads the other one from its first row on unless the join begins there too: a
// million rows in pages of fifty were read ten thousand times each.
func TestPagesBoundTheirJoins(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("queries/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	page := regexp.MustCompile(`WHERE \(?(\w+)\.(\w+)\b[^\n]* > [^\n]*?@(\w+)[^\n]*ORDER BY`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range strings.Split(string(text), "-- name: ")[1:] {
			name, _, _ := strings.Cut(q, " ")
			p := page.FindStringSubmatch(q)
			if p == nil {
				continue
			}
			join := regexp.MustCompile(`JOIN \w+ (\w+) ON (\w+)\.(\w+) = ` + p[1] + `\.` + p[2] + `\b([^\n]*)`)
			for _, j := range join.FindAllStringSubmatch(q, -1) {
				found++
				if bound := regexp.MustCompile(j[2] + `\.` + j[3] + ` >=? (CAST\()?@` + p[3]); !bound.MatchString(j[4]) {
					t.Errorf("%s, %s: the join of %s has no bound on %s.%s", file, name, j[1], j[2], j[3])
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("%d joins were checked: the pages are written differently now", found)
	}
}
