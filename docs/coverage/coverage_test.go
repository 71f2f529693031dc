package coverage_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/docs/coverage"
)

const root = "../.."

var (
	heading  = regexp.MustCompile(`^##+ ([0-9.]+) `)
	numbered = regexp.MustCompile(`^([0-9]+)\. `)
	item     = regexp.MustCompile(`^- ([^:]+):`)
	line     = regexp.MustCompile(`^\| ([^|]+) \|(?: ([^|]*) \|)?`)
)

// published are the places of sections 2 to 9 as the pages of the interface write them: a
// section's number, "4.1 rule 3", "4.1 GET /health".
func published(t *testing.T) (sections, places []string) {
	t.Helper()
	var text strings.Builder
	for _, page := range []string{"interface", "interface-basics", "interface-routes", "interface-shapes"} {
		part, err := os.ReadFile(filepath.Join(root, "docs", page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		text.Write(part)
	}
	section, header := "", ""
	for l := range strings.Lines(text.String()) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasPrefix(l, "# ") || strings.HasPrefix(l, "## ") {
			section = "" // what the specification leaves open has no rows
		}
		if h := heading.FindStringSubmatch(l); h != nil {
			section = h[1]
			if section >= "2" {
				sections = append(sections, section)
			}
		}
		if strings.HasPrefix(l, "|-") {
			continue
		}
		cells := line.FindStringSubmatch(l)
		switch {
		case cells == nil:
			header = ""
			if n := numbered.FindStringSubmatch(l); n != nil {
				places = append(places, section+" rule "+n[1])
			} else if i := item.FindStringSubmatch(l); i != nil {
				places = append(places, section+" "+i[1])
			}
		case header == "":
			header = cells[1]
		case header == "method":
			places = append(places, section+" "+cells[1]+" "+cells[2])
		default:
			places = append(places, section+" "+cells[1])
		}
	}
	for i := range places {
		places[i] = strings.ReplaceAll(places[i], "`", "")
	}
	places = slices.DeleteFunc(places, func(p string) bool { return p < "2" })
	if len(sections) < 25 || len(places) < 120 {
		t.Fatalf("the pages of the interface are read as %d sections and %d places", len(sections), len(places))
	}
	return sections, places
}

func TestEveryRuleHasARow(t *testing.T) {
	t.Parallel()
	sections, places := published(t)
	rows := map[string]bool{}
	for _, r := range coverage.Rules() {
		section, _, _ := strings.Cut(r.Number, " ")
		if !slices.Contains(sections, section) {
			t.Errorf("%s: there is no such section", r.Number)
		}
		rows[section] = true
		named := []string{r.Number}
		for _, l := range r.Lines {
			named = append(named, r.Number+" "+l)
		}
		for _, n := range named {
			if n != section && !slices.Contains(places, n) {
				t.Errorf("%s: the interface has no such line", n)
			}
			rows[n] = true
		}
	}
	// A section that only holds others has no rows of its own.
	holds := func(section string) bool {
		return slices.ContainsFunc(sections, func(s string) bool { return strings.HasPrefix(s, section+".") })
	}
	for _, want := range slices.Concat(slices.DeleteFunc(sections, holds), places) {
		if !rows[want] {
			t.Errorf("%s has no row", want)
		}
	}
}

func TestARowWithoutATestIsNotBuilt(t *testing.T) {
	t.Parallel()
	for _, r := range coverage.Rules() {
		if r.Text == "" || strings.Contains(r.Text, "\n") {
			t.Errorf("%s: the text is %q", r.Number, r.Text)
		}
		if (r.State == coverage.Shown) != (len(r.Tests) > 0) {
			t.Errorf("%s (%s) is %s with %d tests", r.Number, r.Text, r.State, len(r.Tests))
		}
	}
}

func TestEveryTestOfARowExists(t *testing.T) {
	t.Parallel()
	there := tests(t)
	for _, r := range coverage.Rules() {
		for _, name := range r.Tests {
			if !there[name] {
				t.Errorf("%s: there is no test %s", r.Number, name)
			}
		}
	}
}

// pageAndTests reads a page of docs/internal, and the names of all test functions of the tree
// without their packages, for a page whose rows name tests.
func pageAndTests(t *testing.T, page string) (text string, there map[string]bool) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs", "internal", page))
	if err != nil {
		t.Fatal(err)
	}
	there = map[string]bool{}
	for name := range tests(t) {
		_, name, _ = strings.Cut(name, ".")
		there[name] = true
	}
	return string(content), there
}

// tests are all test functions of the tree, as rows name them.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				found[filepath.Base(filepath.Dir(path))+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil || len(found) < 100 {
		t.Fatalf("%d tests are found, %v", len(found), err)
	}
	return found
}

func TestThePrintedPageIsFresh(t *testing.T) {
	t.Parallel()
	printed, err := os.ReadFile(filepath.Join(root, "docs", "internal", "interface-coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(printed) != coverage.Markdown() {
		t.Error("docs/internal/interface-coverage.md is not what the rows say; run make generate")
	}
}
