package public

import (
	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// labelledCells tells each cell of a table the head of its column, which a phone shows above the
// cell where it has no room for columns.
type labelledCells struct{}

// Transform implements parser.ASTTransformer.
func (labelledCells) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if table, is := node.(*tables.Table); is && entering {
			label(table, reader.Source())
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
}

func label(table *tables.Table, source []byte) {
	head := table.FirstChild()
	for row := head.NextSibling(); row != nil; row = row.NextSibling() {
		of := head.FirstChild()
		for cell := row.FirstChild(); cell != nil && of != nil; cell, of = cell.NextSibling(), of.NextSibling() {
			cell.SetAttributeString("data-of", []byte(plainText(of, source)))
		}
	}
}
