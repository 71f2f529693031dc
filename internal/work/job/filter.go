package job

import (
	"cmp"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/render/framelist"
)

// Bounds of a search.
const (
	MaxSearchBytes = 200
	MaxSearchWords = 4
)

// Filter narrows a list of jobs as a person does. What is "" narrows nothing.
type Filter struct {
	// Text is words with blanks between them, in any case. Each is a part of the file's name
	// or of a tag. A single word may also begin the job's id, with its JOB-.
	Text string
	Tag  string // one whole tag, in any form that ReadTags reads
	// From and To are the first and the last day on which a job was created, in UTC, such as
	// 2026-11-27.
	From, To string
	// Person started the job, or made the key that did: an id or a name that
	// identity.PeopleNamed reads.
	Person string
	// Frames is frames that the job has, all of them, in the grammar of framelist.
	Frames string
}

// search is a filter as the statements of lists compare it.
type search struct {
	query.JobPageFoundParams
	filter Filter
	frames framelist.List // nil for any
}

// Check reports whether a list can be narrowed by the filter. in is what its members belong to,
// such as "body". Error: invalid_request.
func (f Filter) Check(in string) error {
	_, err := ListRequest{Filter: f}.searchIn(in)
	return err
}

// search reads the filter. Error: invalid_request.
func (r ListRequest) search() (search, error) { return r.searchIn("query") }

func (r ListRequest) searchIn(in string) (search, error) {
	s := search{filter: r.Filter, JobPageFoundParams: query.JobPageFoundParams{
		WorkspaceID: r.WorkspaceID, Status: string(r.Status), Before: cmp.Or(r.Before, id.Behind(id.Job)), Max: int64(r.Limit) + 1,
		Until: math.MaxInt64, FirstFrame: math.MaxInt64, Tag: "%", Word1: "%", Word2: "%", Word3: "%", Word4: "%",
	}}
	p := &s.JobPageFoundParams
	if tag := tagForm(r.Filter.Tag); tag != "" {
		p.Tag = part("," + tag + ",")
	}
	if from, err := day(in, "from", r.Filter.From); err != nil {
		return s, err
	} else if !from.IsZero() {
		p.Since = db.Micros(from)
	}
	if to, err := day(in, "to", r.Filter.To); err != nil {
		return s, err
	} else if !to.IsZero() {
		p.Until = db.Micros(to.AddDate(0, 0, 1))
	}
	if r.Filter.Frames != "" {
		list, err := framelist.Parse(r.Filter.Frames, contract.MaxFrames)
		if err != nil {
			return s, fault.Field(in+".frames", "cannot be read: %v", err)
		}
		s.frames, p.FirstFrame, p.LastFrame = list, int64(list[0]), int64(list[len(list)-1])
	}
	return s, r.Filter.words(p, in)
}

// words puts the words of a search into the statement.
func (f Filter) words(p *query.JobPageFoundParams, in string) error {
	for name, text := range map[string]string{"q": f.Text, "tag": f.Tag, "person": f.Person, "frames": f.Frames} {
		if len(text) > MaxSearchBytes || !utf8.ValidString(text) || strings.ContainsFunc(text, plaintext.Hidden) {
			return fault.Field(in+"."+name, "must be text without invisible characters, at most %d bytes", MaxSearchBytes)
		}
	}
	words := strings.Fields(norm.NFC.String(strings.ToLower(f.Text)))
	if len(words) > MaxSearchWords {
		return fault.Field(in+".q", "must have at most %d words", MaxSearchWords)
	}
	for i, to := range []*string{&p.Word1, &p.Word2, &p.Word3, &p.Word4}[:len(words)] {
		*to = part(words[i])
	}
	if len(words) == 1 {
		if hex, is := strings.CutPrefix(words[0], strings.ToLower(id.Job)); is && hex != "" {
			p.Named = literal(id.Job+hex) + "%"
		}
	}
	return nil
}

// day reads a day; the zero time for "". Error: invalid_request.
func day(in, name, text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.Parse(time.DateOnly, text); err != nil {
		return at, fault.Field(in+"."+name, "must be a day, such as 2026-11-27")
	}
	return at, nil
}

// part is the pattern of texts that contain a text.
func part(text string) string { return "%" + literal(text) + "%" }

// literal is the pattern of a text itself.
func literal(text string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(text)
}
