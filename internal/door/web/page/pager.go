package page

import (
	"maps"
	"net/url"
	"strings"
)

// Pager leads from a page of a list, which has the newest first, to the pages around it. Each
// address keeps what narrows the list.
type Pager struct {
	What string // the list has, such as "jobs"
	// Newest, Newer and Older are addresses; "" where there is no such page. Newest is "" on the
	// second page, too, where Newer leads to the same.
	Newest, Newer, Older string
}

// Around are the ends of a page: each is an id, and a page begins after the one before it.
type Around struct {
	Before string // this page begins after it; "" for the first page
	Newer  string // the page of newer ones begins after it; "" for the first page
	Last   string // of this page, where older ones follow; otherwise ""
}

// Ahead cuts a list that was read one further than a page has, and returns what is Around.Last of it.
func Ahead[T any](all []T, most int, id func(T) string) (shown []T, last string) {
	if len(all) <= most {
		return all, ""
	}
	return all[:most], id(all[most-1])
}

// PagerOf leads to the pages around one of the list at a path, narrowed by a filter.
func PagerOf(what, path string, filter url.Values, around Around) Pager {
	at := func(before string) string {
		q := maps.Clone(filter)
		if q == nil {
			q = url.Values{}
		}
		if before != "" {
			q.Set("before", before)
		}
		return strings.TrimSuffix(path+"?"+q.Encode(), "?")
	}
	p := Pager{What: what}
	if around.Last != "" {
		p.Older = at(around.Last)
	}
	if around.Before != "" {
		p.Newer = at(around.Newer)
	}
	if around.Before != "" && around.Newer != "" {
		p.Newest = at("")
	}
	return p
}
