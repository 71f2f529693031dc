package public

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/fault"
)

// searchPath is where the guide is searched without a script; below it is the index for those
// with one.
const searchPath = page.GuidePath + "/search"

// guideHit is a page of the guide that a search has found.
type guideHit struct {
	Path, Title, Door string
	// Heading is the section that fits best; "" for the page as a whole.
	Heading, Excerpt string
}

// mostHits bounds the list of hits.
const mostHits = 20

// What a word of a search is worth where it is found. A script ranks by the same numbers
// (guide.js), and a test compares both.
const (
	inTitle, startsTitle     = 1000, 600
	inHeading, startsHeading = 100, 60
	inText, startsText       = 10, 6
	isCommon                 = 1
)

// search finds the pages that have every word of a query, or a word that begins with it. A
// word in the title counts more than one in a heading, and that more than one in the text.
func (x *guideIndex) search(query string) []guideHit {
	words := wordsOf(query)
	if len(words) == 0 {
		return nil
	}
	common := strings.Fields(x.Common)
	texts := make([]map[int]int, len(words))
	for i, word := range words {
		texts[i] = x.pagesWith(word)
	}
	type ranked struct {
		guideHit
		rank int
	}
	var found []ranked
	for number, p := range x.Pages {
		rank, complete := 0, true
		for i, word := range words {
			best := max(worth(p.words, word, inTitle, startsTitle), texts[i][number])
			for _, s := range p.Sections {
				best = max(best, worth(s.words, word, inHeading, startsHeading))
			}
			if best == 0 && slices.Contains(common, word) {
				best = isCommon
			}
			rank, complete = rank+best, complete && best > 0
		}
		if complete {
			found = append(found, ranked{p.hit(words), rank})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return cmp.Compare(b.rank, a.rank) })
	hits := make([]guideHit, min(len(found), mostHits))
	for i := range hits {
		hits[i] = found[i].guideHit
	}
	return hits
}

// hit shows a page that a search has found: the section whose heading has the most of the
// words, unless the title has as many.
func (p indexedPage) hit(words []string) guideHit {
	h := guideHit{Path: page.GuidePath + "/" + p.Name, Title: p.Title, Door: p.Door, Excerpt: p.Lead}
	count := func(of []string) (n int) {
		for _, word := range words {
			n += worth(of, word, 2, 1)
		}
		return n
	}
	most := count(p.words)
	for _, s := range p.Sections {
		if n := count(s.words); n > most {
			most = n
			h.Path, h.Heading, h.Excerpt = page.GuidePath+"/"+p.Name+"#"+s.ID, s.Heading, cmp.Or(s.Excerpt, p.Lead)
		}
	}
	return h
}

// worth is what a word counts in a title or a heading with these words.
func worth(words []string, word string, whole, start int) (best int) {
	for _, w := range words {
		switch {
		case w == word:
			return whole
		case strings.HasPrefix(w, word):
			best = start
		}
	}
	return best
}

// pagesWith are the pages whose text has a word, by number, with what it counts.
func (x *guideIndex) pagesWith(word string) map[int]int {
	pages := map[int]int{}
	for w, numbers := range x.words {
		if !strings.HasPrefix(w, word) {
			continue
		}
		for _, number := range numbers {
			if w == word {
				pages[number] = inText
			} else {
				pages[number] = max(pages[number], startsText)
			}
		}
	}
	return pages
}

// guideResults is the content of the list of hits.
type guideResults struct {
	Query string
	Hits  []guideHit
}

// searchGuide builds the list of what a search of the guide has found.
func (s *Site) searchGuide(r *http.Request) (page.Page, error) {
	query := page.CutQuery(r.URL.Query().Get("q"))
	all, _ := indexed()
	p := guidePage("guide-search", "Search the guide", guideResults{query, all.search(query)})
	p.Search, p.Unlisted = query, true
	s.Greet(r, &p)
	return p, nil
}

// serveIndex serves the index of the guide by its hashed name. Error: route_not_found.
func serveIndex(w http.ResponseWriter, r *http.Request) error {
	_, file := indexed()
	if file.Name() != r.PathValue("file") {
		return fault.New(fault.RouteNotFound, "There is no file %s.", r.URL.Path)
	}
	file.Serve(w, r)
	return nil
}

// indexPath is where a browser loads the index.
func indexPath() string {
	_, file := indexed()
	return searchPath + "/" + file.Name()
}

// guidePage is a page of the guide. Its scripts load the index, so it may call this origin.
func guidePage(template, title string, content any) page.Page {
	return page.Page{Template: template, Title: title, Section: page.GuideSection, Forms: true, Scripts: []string{"guide.js"}, SearchIndex: indexPath(), Content: content}
}
