// Package savedfilter keeps searches of jobs that people have saved under a name.
//
// What always holds: a person sees and changes only their own filters, in the workspace in which
// they saved them, and has at most Most there. A filter goes with the membership of its person.
// A search that is stored can be read, so that opening it later is no mistake of the caller.
//
// Package job reads a search and lists the jobs. Start reading at Save.
package savedfilter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/plaintext"
	"svc.example/internal/ground/rowsum"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
)

// Bounds of saved filters.
const (
	Most              = 50 // of a person in a workspace
	MaxNameCharacters = 60
)

// Filter is a search with a name.
type Filter struct {
	ID        string // "" until it is saved
	Name      string
	Status    job.Status // "" for any
	Search    job.Filter
	CreatedAt time.Time
}

// Save saves a filter for the person of a principal, and returns it as it is kept. Errors:
// invalid_request, filter_limit_reached.
func Save(ctx context.Context, tx *db.Tx, who identity.Principal, f Filter) (Filter, error) {
	f.ID, f.CreatedAt = id.New(id.Filter), tx.Time()
	return put(ctx, tx, who, f)
}

// Change replaces a filter of the person, all of it. Errors: filter_not_found, invalid_request.
func Change(ctx context.Context, tx *db.Tx, who identity.Principal, f Filter) (Filter, error) {
	before, err := Get(ctx, tx, who, f.ID)
	if err != nil {
		return f, err
	}
	f.CreatedAt = before.CreatedAt
	return put(ctx, tx, who, f)
}

// Rename gives a filter of the person another name. Errors: filter_not_found, invalid_request.
func Rename(ctx context.Context, tx *db.Tx, who identity.Principal, filterID, name string) error {
	f, err := Get(ctx, tx, who, filterID)
	if err != nil {
		return err
	}
	f.Name = name
	_, err = put(ctx, tx, who, f)
	return err
}

// put writes a filter. It locks the workspace, so that two requests at once neither save more
// than Most nor a name twice.
func put(ctx context.Context, tx *db.Tx, who identity.Principal, f Filter) (Filter, error) {
	f.Name = strings.Join(strings.Fields(norm.NFC.String(f.Name)), " ")
	if err := check(f); err != nil {
		return f, err
	}
	person := who.Credential.Person()
	if err := identity.LockWorkspace(ctx, tx, who.WorkspaceID); err != nil {
		return f, err
	}
	in, err := identity.Memberships(ctx, tx, person)
	if err != nil {
		return f, err
	}
	if !slices.ContainsFunc(in, func(m identity.Membership) bool { return m.WorkspaceID == who.WorkspaceID }) {
		return f, fault.New(fault.InvalidRequest, "This key belongs to no person, so it has no saved filters.").WithAction("Sign in to the console, or use a key that a person has made there.")
	}
	others, err := tx.SavedFilterCount(ctx, query.SavedFilterCountParams{WorkspaceID: who.WorkspaceID, PersonID: person, Name: f.Name, But: f.ID})
	switch {
	case err != nil:
		return f, fmt.Errorf("count saved filters: %w", err)
	case others.Named > 0:
		return f, fault.Field("body.name", "belongs to another filter of yours; choose another name")
	case others.Filters >= Most:
		return f, fault.New(fault.FilterLimitReached, "You have %d saved filters in this workspace, which is the maximum.", others.Filters)
	}
	row := query.SavedFilter{
		FilterID: f.ID, WorkspaceID: who.WorkspaceID, PersonID: person, Name: f.Name, Status: string(f.Status), Words: f.Search.Text, Tag: f.Search.Tag,
		FromDay: f.Search.From, ToDay: f.Search.To, Person: f.Search.Person, Frames: f.Search.Frames, CreatedAt: db.Micros(f.CreatedAt),
	}
	row.RowSum = rows.Of(row)
	if err := tx.SavedFilterPut(ctx, query.SavedFilterPutParams(row)); err != nil {
		return f, fmt.Errorf("save a filter: %w", err)
	}
	return f, nil
}

// check refuses what no list can be narrowed by, and a name that cannot be shown.
func check(f Filter) error {
	hidden := func(r rune) bool { return plaintext.Hidden(r) || r == utf8.RuneError }
	switch {
	case f.Name == "":
		return fault.Field("body.name", "must not be empty")
	case utf8.RuneCountInString(f.Name) > MaxNameCharacters:
		return fault.Field("body.name", "must have at most %d characters", MaxNameCharacters)
	case strings.ContainsFunc(f.Name, hidden):
		return fault.Field("body.name", "must not have invisible or invalid characters")
	case f.Status != "" && !f.Status.Known():
		return fault.Field("body.status", "must be a state of jobs")
	case f.Status == "" && f.Search == job.Filter{}:
		return fault.New(fault.InvalidRequest, "The filter is empty. Search for something or choose a state first.")
	}
	return f.Search.Check("body")
}

// Get reads a filter of the person. Error: filter_not_found.
func Get(ctx context.Context, tx *db.Tx, who identity.Principal, filterID string) (Filter, error) {
	row, err := tx.SavedFilterGet(ctx, query.SavedFilterGetParams{FilterID: filterID, WorkspaceID: who.WorkspaceID, PersonID: who.Credential.Person()})
	if db.IsNotFound(err) {
		return Filter{}, notFound()
	}
	if err != nil {
		return Filter{}, fmt.Errorf("read a saved filter: %w", err)
	}
	return of(row), nil
}

// List reads the filters of the person in the workspace, by name.
func List(ctx context.Context, tx *db.Tx, who identity.Principal) ([]Filter, error) {
	found, err := tx.SavedFiltersOf(ctx, query.SavedFiltersOfParams{WorkspaceID: who.WorkspaceID, PersonID: who.Credential.Person()})
	if err != nil {
		return nil, fmt.Errorf("list saved filters: %w", err)
	}
	all := make([]Filter, len(found))
	for i, row := range found {
		all[i] = of(row)
	}
	slices.SortFunc(all, func(a, b Filter) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Delete deletes a filter of the person. Error: filter_not_found.
func Delete(ctx context.Context, tx *db.Tx, who identity.Principal, filterID string) error {
	n, err := tx.SavedFilterDelete(ctx, query.SavedFilterDeleteParams{FilterID: filterID, WorkspaceID: who.WorkspaceID, PersonID: who.Credential.Person()})
	if err != nil {
		return fmt.Errorf("delete a saved filter: %w", err)
	}
	if n == 0 {
		return notFound()
	}
	return nil
}

func notFound() error { return fault.New(fault.FilterNotFound, "You have no such saved filter.") }

func of(r query.SavedFilter) Filter {
	return Filter{
		ID: r.FilterID, Name: r.Name, Status: job.Status(r.Status), CreatedAt: db.Time(r.CreatedAt),
		Search: job.Filter{Text: r.Words, Tag: r.Tag, From: r.FromDay, To: r.ToDay, Person: r.Person, Frames: r.Frames},
	}
}

// rows carry checksums: what people save cannot be derived from anything else.
var rows = rowsum.Table[query.SavedFilter]{Name: "saved_filter", Key: 1}

// Sums lists the tables of this package whose rows carry checksums.
var Sums = rowsum.Tables{rows}

// Audit reports filters that are not as they were written, and those that cannot be read. An
// error means that the audit did not finish.
func Audit(ctx context.Context, tx *db.Tx, breach func(rule, subject, format string, args ...any)) error {
	return rows.Audit(ctx, tx, breach, func(row query.SavedFilter) error {
		if err := check(of(row)); err != nil {
			breach("a saved filter can be read", row.FilterID, "%v", err)
		}
		return nil
	})
}
