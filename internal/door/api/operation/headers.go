package operation

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/ground/links"
)

// IdempotencyKey is the header that makes repeating a request safe (spec 4.2).
const IdempotencyKey = "Idempotency-Key"

// Private is an answer that no cache may keep: it shows a secret or belongs to
// a person.
type Private[B any] struct {
	CacheControl string `header:"Cache-Control"`
	Body         B
}

// NoStore returns body as a private answer. It passes err on, so that a handler
// can end with one line.
func NoStore[B any](body B, err error) (*Private[B], error) {
	return &Private[B]{"no-store", body}, err
}

// Conditional is the input of an operation that answers 304 while the caller's
// copy is current.
type Conditional struct {
	IfNoneMatch string `header:"If-None-Match" doc:"An earlier answer's ETag: 304 when nothing has changed."`
}

// Matches reports whether If-None-Match contains the tag (RFC 9110, 13.1.2).
// Weak and strong tags match, as the RFC says for this header.
func (c *Conditional) Matches(tag string) bool {
	for one := range strings.SplitSeq(c.IfNoneMatch, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

// NotModified describes a 304.
func NotModified() *huma.Response {
	return &huma.Response{Description: "The answer that If-None-Match names is still good"}
}

// Part describes a 206 with bytes of one of these types.
func Part(types ...string) *huma.Response {
	content := map[string]*huma.MediaType{}
	for _, kind := range types {
		content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	return &huma.Response{
		Description: "The bytes that Range asks for", Content: content,
		Headers: map[string]*huma.Param{"Content-Range": {Description: "Which bytes of how many.", Schema: &huma.Schema{Type: huma.TypeString}}},
	}
}

// NextPage returns the Link header of the page after the item before. filters are the other
// parameters of the list; empty ones are left out.
func NextPage(at links.Links, path, before string, limit int, filters map[string]string) string {
	q := url.Values{"before": {before}, "limit": {strconv.Itoa(limit)}}
	for name, value := range filters {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "<" + at.Page(path, q) + `>; rel="next"`
}
