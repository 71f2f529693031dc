package job_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/job"
)

func TestTagsHaveOneForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, want []string }{
		{nil, []string{}},
		{[]string{" Hero ", "client   A", "hero"}, []string{"client a", "hero"}},
		{[]string{"e\u0301t\u00c9", "\u00e9t\u00e9"}, []string{"\u00e9t\u00e9"}},
		{[]string{"100%_\\", "<b>", "'; --"}, []string{"'; --", "100%_\\", "<b>"}},
		{[]string{strings.Repeat("ä", job.MaxTagCharacters)}, []string{strings.Repeat("ä", job.MaxTagCharacters)}},
	} {
		got, err := job.ReadTags(c.given)
		if err != nil || got == nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q: %v", c.given, got, c.want, err)
		}
	}
	many := []string{}
	for n := range job.MaxTags + 1 {
		many = append(many, fmt.Sprint("t", n))
	}
	for _, wrong := range [][]string{{""}, {" \t"}, {"a,b"}, {"a\x00b"}, {"a\u202eb"}, {"\xff"}, {strings.Repeat("a", job.MaxTagCharacters+1)}, many} {
		if got, err := job.ReadTags(wrong); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("%q is read as %q: %v", wrong, got, err)
		}
	}
	if got, err := job.SplitTags(" b, A,,"); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestASearchFindsWordsTagsAndDaysOfItsWorkspaceAlone(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		tag := func(workspaceID, jobID string, tags ...string) error {
			return w.DB.Write(t.Context(), func(tx *db.Tx) error {
				_, err := w.Jobs.SetTags(t.Context(), tx, workspaceID, jobID, tags)
				return err
			})
		}
		hero, odd, plain, foreign := w.Job(t, mine, 1), w.HeldJob(t, mine, 1), w.Job(t, mine, 1), w.Job(t, theirs, 1)
		for jobID, tags := range map[string][]string{hero: {"Hero", "Client A"}, odd: {"100%", `a_b\`}} {
			if err := tag(mine, jobID, tags...); err != nil {
				t.Fatal(err)
			}
		}
		if err := tag(theirs, foreign, "hero", "100%"); err != nil {
			t.Fatal(err)
		}
		if err := tag(mine, foreign, "taken"); !fault.Is(err, fault.RenderNotFound) {
			t.Errorf("a job of another workspace is tagged: %v", err)
		}
		now, name := "", ""
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			record, err := job.Read(ctx, tx, hero)
			now, name = db.Time(record.CreatedAt).Format("2006-01-02"), record.Filename
			return err
		})
		find := func(f job.Filter, status job.Status) (ids []string, err error) {
			before := ""
			for more := true; more; { // page by page
				page, follow, err := w.Jobs.List(t.Context(), job.ListRequest{WorkspaceID: mine, Status: status, Filter: f, Before: before, Limit: 1})
				if err != nil {
					return nil, err
				}
				for _, o := range page {
					ids, before = append(ids, o.JobID), o.JobID
				}
				more = follow
			}
			return ids, nil
		}
		all := []string{plain, odd, hero}
		for _, c := range []struct {
			f      job.Filter
			status job.Status
			want   []string
		}{
			{job.Filter{Text: "   "}, "", all},
			{job.Filter{Text: strings.ToUpper(name)}, "", all},
			{job.Filter{Text: "HER"}, "", []string{hero}},
			{job.Filter{Text: name + " a client"}, "", []string{hero}},
			{job.Filter{Text: name + " nowhere"}, "", nil},
			{job.Filter{Text: "%"}, "", []string{odd}},
			{job.Filter{Text: "_"}, "", []string{odd}},
			{job.Filter{Text: `\`}, "", []string{odd}},
			{job.Filter{Text: "' OR 1=1"}, "", nil},
			{job.Filter{Text: strings.ToLower(plain)}, "", []string{plain}},
			{job.Filter{Text: foreign}, "", nil},
			{job.Filter{Text: "JOB-"}, "", nil},
			{job.Filter{Text: "job-%"}, "", nil},
			{job.Filter{Tag: " HERO"}, "", []string{hero}},
			{job.Filter{Tag: "her"}, "", nil},
			{job.Filter{Tag: "client"}, "", nil},
			{job.Filter{Tag: "client  a"}, "", []string{hero}},
			{job.Filter{Tag: "100_"}, "", nil},
			{job.Filter{Tag: "%"}, "", nil},
			{job.Filter{Tag: "hero", Text: "client"}, job.Queued, []string{hero}},
			{job.Filter{Tag: "hero"}, job.AwaitingSubmit, nil},
			{job.Filter{From: now, To: now}, "", all},
			{job.Filter{From: "9999-12-31"}, "", nil},
			{job.Filter{To: "2001-01-01"}, "", nil},
		} {
			if got, err := find(c.f, c.status); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%+v %s: %v, want %v: %v", c.f, c.status, got, c.want, err)
			}
		}
		for _, f := range []job.Filter{
			{Text: strings.Repeat("a", job.MaxSearchBytes+1)}, {Text: "a b c d e"}, {Text: "a\x00"}, {Text: "\xff"}, {Tag: "a\x00"}, {Tag: strings.Repeat("a", job.MaxSearchBytes+1)},
			{From: "yesterday"}, {To: "2026-02-30"}, {From: "2026-11-27T00:00:00Z"},
		} {
			if got, err := find(f, ""); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("%q finds %v, %v", f, got, err)
			}
		}
	})
}
