package job

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/work/quote"
)

// Bounds of tags.
const (
	MaxTags          = 10 // of a job
	MaxTagCharacters = 32
	// MaxTagBytes is for all tags of a job together. PostgreSQL's indexes take rows of about 2,700
	// bytes, and that of searches has the tags twice, and the file's name.
	MaxTagBytes = 1000
)

// tagsField is what mistakes of tags are told about.
const tagsField = "body.tags"

// ReadTags returns tags in the one form in which they are kept: lower case, composed (NFC),
// single blanks, in order, each once. It is never nil. Error: invalid_request.
func ReadTags(texts []string) ([]string, error) {
	tags := []string{}
	for _, text := range texts {
		tag, err := readTag(text)
		if err != nil {
			return nil, err
		}
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	if tags = slices.Compact(tags); len(tags) > MaxTags {
		return nil, fault.Field(tagsField, "must not be more than %d", MaxTags)
	}
	if n := len(strings.Join(tags, ",")); n > MaxTagBytes {
		return nil, fault.Field(tagsField, "must have at most %d bytes together; they have %d", MaxTagBytes, n)
	}
	return tags, nil
}

// SplitTags reads the text of a field: tags with commas between them. Error: as ReadTags.
func SplitTags(text string) ([]string, error) {
	parts := strings.Split(text, ",")
	return ReadTags(slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" }))
}

// readTag returns one tag as it is kept.
func readTag(text string) (string, error) {
	tag := tagForm(text)
	hidden := func(r rune) bool { return plaintext.Hidden(r) || r == unicode.ReplacementChar }
	switch {
	case tag == "":
		return "", fault.Field(tagsField, "must not have an empty tag")
	case !utf8.ValidString(text) || strings.ContainsFunc(tag, hidden):
		return "", fault.Field(tagsField, "must not have invisible or invalid characters")
	case strings.Contains(tag, ","):
		return "", fault.Field(tagsField, "must not contain commas")
	case utf8.RuneCountInString(tag) > MaxTagCharacters:
		return "", fault.Field(tagsField, "must have at most %d characters each", MaxTagCharacters)
	}
	return tag, nil
}

// tagForm is a tag in lower case, composed, and with single blanks.
func tagForm(text string) string {
	return strings.Join(strings.Fields(norm.NFC.String(strings.ToLower(text))), " ")
}

// tagsOf are the tags of a job; never nil.
func tagsOf(job Record) []string {
	if job.Tags == "" {
		return []string{}
	}
	return strings.Split(job.Tags, ",")
}

// searchText is what a search looks through: the file's name and the tags, as its row has them.
func searchText(filename, tags string) string {
	return strings.TrimRight(strings.ToLower(norm.NFC.String(filename))+" "+tags, " ")
}

// tagsAtStart are the tags of a new job as its row has them: those of the request, or else
// those of the job whose frames it renders again.
func tagsAtStart(ctx context.Context, tx *db.Tx, r StartRequest, q quote.Quote) (string, error) {
	if r.Tags != nil || q.RerenderOf == nil {
		return strings.Join(r.Tags, ","), nil
	}
	tags, err := TagsOf(ctx, tx, r.Principal.WorkspaceID, *q.RerenderOf)
	return strings.Join(tags, ","), err
}

// TagsOf reads the tags of a job of a workspace. Error: render_not_found.
func TagsOf(ctx context.Context, tx *db.Tx, workspaceID, jobID string) ([]string, error) {
	found, err := Find(ctx, tx, workspaceID, jobID)
	return tagsOf(found), err
}

// SetTags gives a job tags in place of those that it has, in the caller's transaction and in
// whatever state the job is. Errors: render_not_found, those of ReadTags.
func (j *Jobs) SetTags(ctx context.Context, tx *db.Tx, workspaceID, jobID string, texts []string) (Object, error) {
	return j.retag(ctx, tx, workspaceID, jobID, func([]string) []string { return texts })
}

// AddTags gives a job more tags. Errors: render_not_found, those of ReadTags.
func (j *Jobs) AddTags(ctx context.Context, tx *db.Tx, workspaceID, jobID string, texts []string) (Object, error) {
	return j.retag(ctx, tx, workspaceID, jobID, func(has []string) []string { return append(has, texts...) })
}

// retag changes the tags of a job, whose row is locked, and tells its watchers.
func (j *Jobs) retag(ctx context.Context, tx *db.Tx, workspaceID, jobID string, change func(has []string) []string) (Object, error) {
	job, err := lockOf(ctx, tx, workspaceID, jobID)
	if err != nil {
		return Object{}, err
	}
	tags, err := ReadTags(change(tagsOf(job)))
	if err != nil {
		return Object{}, err
	}
	joined := strings.Join(tags, ",")
	if err := tx.JobTag(ctx, query.JobTagParams{Tags: joined, Search: searchText(job.Filename, joined), JobID: jobID}); err != nil {
		return Object{}, fmt.Errorf("tag job %s: %w", jobID, err)
	}
	tx.Announce(Topic(jobID))
	j.tell(tx, slog.LevelInfo, "job tagged", jobID, workspaceID, "tags", len(tags))
	return j.Object(ctx, tx, jobID)
}

// auditTags checks that a job's tags are in their form, that an erased job has none, and that
// a search finds what the row has. Rows from before tags have names in lower case as the
// database writes it.
func auditTags(f facts, breach func(rule, subject, format string, args ...any)) {
	j := f.job
	tags, err := ReadTags(tagsOf(j))
	if err != nil || strings.Join(tags, ",") != j.Tags || (f.erased && j.Tags != "") {
		breach("a job's tags are in their form", j.JobID, "they are %.200q", j.Tags)
	}
	if norm.NFC.String(strings.ToLower(j.Search)) != searchText(j.Filename, j.Tags) {
		breach("a search finds what a job has", j.JobID, "it looks through %.200q for %.200q", j.Search, j.Filename)
	}
}
