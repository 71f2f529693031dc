package public

import (
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// codeBlocks renders fenced blocks. Blocks that show the same step in several languages stand
// one after the other and name theirs: ```sh tab=curl. A script shows one at a time.
type codeBlocks struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (codeBlocks) RegisterFuncs(to renderer.NodeRendererFuncRegisterer) {
	to.Register(ast.KindFencedCodeBlock, renderCode)
}

var (
	tabNamed = regexp.MustCompile(`(?:^| )tab=(\w+)`)
	// keyNamed finds a place of a key in code, as HTML.
	keyNamed = regexp.MustCompile(`svc_agent_(?:test_)?…`)
)

// keyPlace begins each place of a key in the pages.
const keyPlace = `<span data-key>`

func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.FencedCodeBlock) //nolint:forcetypeassert // it is registered for this kind alone
	code := keyNamed.ReplaceAllString(html.EscapeString(string(block.Lines().Value(source))), keyPlace+"$0</span>")
	tab := tabOf(block, source)
	var out strings.Builder
	if tab != "" && tabOf(block.PreviousSibling(), source) == "" {
		out.WriteString(`<div class="variants">` + "\n")
	}
	if tab != "" {
		out.WriteString(`<figure class="code" data-tab="` + tab + `"><figcaption>` + tab + `</figcaption>`)
	} else {
		out.WriteString(`<div class="code">`)
	}
	out.WriteString(`<pre><code>` + code + `</code></pre>`)
	if tab != "" {
		out.WriteString("</figure>\n")
	} else {
		out.WriteString("</div>\n")
	}
	if tab != "" && tabOf(block.NextSibling(), source) == "" {
		out.WriteString("</div>\n")
	}
	_, err := w.WriteString(out.String())
	return ast.WalkContinue, err
}

// tabOf is the language that a fenced block names as its tab; "" for any other node.
func tabOf(n ast.Node, source []byte) string {
	block, ok := n.(*ast.FencedCodeBlock)
	if !ok || block.Info == nil {
		return ""
	}
	if named := tabNamed.FindSubmatch(block.Info.Segment.Value(source)); named != nil {
		return string(named[1])
	}
	return ""
}
