// Metrics prints numbers about the structure of the code: the longest files and
// functions, the widest interfaces and types, the largest packages, the share of
// comments, the direct dependencies, and the functions that turn an error into a response
// or a path into an absolute URL.
//
//	go run ./scripts/metrics [ROOT]
//
// It only reads source, so it can measure any revision. It leaves out tests and generated
// files. Start reading at main.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// measure is a number and where it was found.
type measure struct {
	n     int
	where string
}

// metrics contains the measurements of one tree.
type metrics struct {
	root               string
	files, functions   []measure
	interfaces         []measure
	packages, methods  map[string]int
	renderers, builder []string // places: error to response, path to URL
	lines, comments    int
}

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	m := &metrics{root: root, packages: map[string]int{}, methods: map[string]int{}}
	if err := m.walk(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	direct, err := m.direct()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m.print(direct)
}

func (m *metrics) print(direct int) {
	show := func(title string, list []measure) {
		slices.SortFunc(list, func(a, b measure) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.where, b.where)) })
		for i, one := range list[:min(3, len(list))] {
			if i > 0 {
				title = ""
			}
			fmt.Printf("%-28s %6d  %s\n", title, one.n, one.where)
		}
	}
	places := func(title string, list []string) {
		slices.Sort(list)
		fmt.Printf("%-28s %6d  %s\n", title, len(list), strings.Join(list, ", "))
	}
	show("longest file (lines)", m.files)
	show("longest function (lines)", m.functions)
	show("widest interface (methods)", m.interfaces)
	show("most methods on one type", listed(m.methods))
	show("largest package (lines)", listed(m.packages))
	fmt.Printf("%-28s %6d\n", "packages", len(m.packages))
	fmt.Printf("%-28s %6d\n", "lines", m.lines)
	fmt.Printf("%-28s %5.1f%%\n", "comments", 100*float64(m.comments)/float64(max(1, m.lines)))
	fmt.Printf("%-28s %6d\n", "direct dependencies", direct)
	places("an error becomes a response", m.renderers)
	places("a public URL is built", m.builder)
}

func listed(numbers map[string]int) (list []measure) {
	for where, n := range numbers {
		list = append(list, measure{n, where})
	}
	return list
}

func (m *metrics) walk() error {
	return filepath.WalkDir(m.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != m.root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "tools" || name == "test" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		return m.file(path)
	})
}

func (m *metrics) file(path string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	place, err := filepath.Rel(m.root, path)
	if err != nil {
		return err
	}
	lines := set.File(file.Pos()).LineCount()
	span := func(n ast.Node) int { return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1 }
	for _, group := range file.Comments {
		m.comments += span(group)
	}
	m.lines += lines
	m.files = append(m.files, measure{lines, place})
	folder := filepath.Dir(place)
	m.packages[folder] += lines

	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := place + " " + fn.Name.Name
		m.functions = append(m.functions, measure{span(fn), name})
		if fn.Recv != nil {
			m.methods[folder+"."+receiver(fn)]++
		}
		if takes(fn.Type, "error") && takes(fn.Type, "ResponseWriter") {
			m.renderers = append(m.renderers, name)
		}
		if builds(fn) {
			m.builder = append(m.builder, name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if face, ok := spec.Type.(*ast.InterfaceType); ok {
			m.interfaces = append(m.interfaces, measure{face.Methods.NumFields(), folder + "." + spec.Name.Name})
		}
		return true
	})
	return nil
}

func receiver(fn *ast.FuncDecl) string {
	name := "?"
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "?" {
			name = id.Name
		}
		return true
	})
	return name
}

// takes reports whether a parameter has the type named kind.
func takes(fn *ast.FuncType, kind string) bool {
	return slices.ContainsFunc(fn.Params.List, func(p *ast.Field) bool {
		switch t := p.Type.(type) {
		case *ast.Ident:
			return t.Name == kind
		case *ast.SelectorExpr:
			return t.Sel.Name == kind
		}
		return false
	})
}

// builds reports whether a function appends to publicURL or formats text with it.
func builds(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			found = found || n.Op == token.ADD && (public(n.X) || public(n.Y))
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && strings.HasSuffix(f.Sel.Name, "printf") && slices.ContainsFunc(n.Args, public)
		}
		return !found
	})
	return found
}

func public(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.EqualFold(e.Name, "publicURL")
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "publicURL")
	}
	return false
}

// direct counts the direct requirements of go.mod.
func (m *metrics) direct() (n int, err error) {
	text, err := os.ReadFile(filepath.Join(m.root, "go.mod"))
	if err != nil {
		return 0, err
	}
	within := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "require (":
			within = true
		case line == ")":
			within = false
		case line == "" || strings.HasSuffix(line, "// indirect"):
		case within, strings.HasPrefix(line, "require "):
			n++
		}
	}
	return n, nil
}
