package public

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"svc.example/internal/door/web/page"
)

// guideIndex is what a search of the guide reads: titles, headings and first words of all
// pages, and which page has which word. A browser loads it once, as JSON.
type guideIndex struct {
	Pages []indexedPage `json:"pages"`
	// Words has each word and then the numbers of its pages as capital letters: the first
	// number plus one, then each distance to the next. A to Y are 1 to 25; Z adds 25 to
	// what follows.
	Words string `json:"words"`
	// Common are words of so many pages that they tell nothing apart.
	Common string `json:"common"`

	words map[string][]int
}

// indexedPage is a page of the guide in its index.
type indexedPage struct {
	Name     string           `json:"n"`
	Title    string           `json:"t"`
	Door     string           `json:"d"`
	Lead     string           `json:"e"`
	Sections []indexedSection `json:"s"`

	words []string // of the title
}

type indexedSection struct {
	ID      string `json:"i"`
	Heading string `json:"h"`
	Excerpt string `json:"e,omitempty"`

	words []string // of the heading
}

const (
	leadLength, excerptLength = 150, 80
	// commonShare is the share of pages from which a word is common.
	commonShare = 0.4
)

// printedLong are references that are so long that their headings alone are in the index.
var printedLong = map[string]bool{"cli": true, "cli-operators": true, "sdk-python": true, "sdk-typescript": true}

// indexed is the index, and the file that browsers load.
var indexed = sync.OnceValues(func() (*guideIndex, page.File) {
	doors, _ := guides()
	all := &guideIndex{words: map[string][]int{}}
	for _, d := range doors {
		for _, g := range slices.Concat([]guide{d.Quickstart}, d.Guides, d.Reference) {
			all.add(g)
		}
	}
	var common []string
	for word, pages := range all.words {
		if len(pages) >= int(commonShare*float64(len(all.Pages))) {
			common = append(common, word)
			delete(all.words, word)
		}
	}
	slices.Sort(common)
	all.Common = strings.Join(common, " ")
	var words strings.Builder
	for _, word := range slices.Sorted(maps.Keys(all.words)) {
		words.WriteString(word)
		last := -1
		for _, number := range all.words[word] {
			for distance := number - last; ; distance -= 25 {
				if distance <= 25 {
					words.WriteByte(byte('A' + distance - 1))
					break
				}
				words.WriteByte('Z')
			}
			last = number
		}
	}
	all.Words = words.String()
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // a programming error
	}
	return all, page.NewFile("guide.json", text)
})

// add puts a page into the index.
func (x *guideIndex) add(g guide) {
	number := len(x.Pages)
	p := indexedPage{Name: g.Name, Title: g.Title, Door: g.Door, Sections: []indexedSection{}, words: wordsOf(g.Title)}
	root := markdown().Parser().Parse(text.NewReader(g.source))
	words := map[string]bool{}
	read := func(text string) {
		for _, word := range wordsOf(text) {
			words[word] = true
			for _, part := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("_.-", r) }) {
				words[part] = true
			}
		}
	}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		plain := plainText(n, g.source)
		if n.Kind() == ast.KindHeading {
			id, _ := n.AttributeString("id")
			name, _ := id.([]byte)
			p.Sections = append(p.Sections, indexedSection{ID: string(name), Heading: plain, words: wordsOf(plain)})
			continue
		}
		if !printedLong[g.Name] {
			read(plain)
		}
		if n.Kind() != ast.KindParagraph && n.Kind() != ast.KindList {
			continue
		}
		if last := len(p.Sections) - 1; last < 0 {
			p.Lead = cmp.Or(p.Lead, shortened(plain, leadLength))
		} else if !printedLong[g.Name] {
			p.Sections[last].Excerpt = cmp.Or(p.Sections[last].Excerpt, shortened(plain, excerptLength))
		}
	}
	for word := range words {
		x.words[word] = append(x.words[word], number)
	}
	x.Pages = append(x.Pages, p)
}

// plainText is the text of a block: its words and its code.
func plainText(block ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					out.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				out.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(out.String()), " ")
}

// shortened cuts a text at the end of a word.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = strings.ToValidUTF8(text[:most], "")
	return strings.TrimRight(text[:strings.LastIndexByte(text, ' ')+1], " ,:;(") + " …"
}

var indexedWord = regexp.MustCompile(`[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?`)

// longestWord bounds words of the index: what is longer is an id or a checksum.
const longestWord = 32

// wordsOf are the words of a text as the index has them: without the s at the end of a plural.
// A script reads queries in the same way (guide.js).
func wordsOf(text string) (words []string) {
	for _, word := range indexedWord.FindAllString(strings.ToLower(text), -1) {
		if len(word) > 3 && !strings.HasSuffix(word, "ss") {
			word = strings.TrimSuffix(word, "s")
		}
		if len(word) >= 2 && len(word) <= longestWord {
			words = append(words, word)
		}
	}
	return words
}
