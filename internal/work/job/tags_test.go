package job_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/identity"
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

// TestASearchFindsWhoStartedAJobAndWhichFramesItHas by an id, an address or a member's name, and by
// all frames of a list, in pages forwards and back.
func TestASearchFindsWhoStartedAJobAndWhichFramesItHas(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		mine, theirs := w.Workspace(t), w.Workspace(t)
		people := map[string]string{}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			for name, address := range map[string]string{"anna": "anna@example.com", "bo": "bo@example.com", "stranger": "stranger@example.com"} {
				p, err := identity.CreateWorkspace(ctx, tx, address)
				if people[name] = p.PersonID; err != nil {
					return err
				}
			}
			for _, name := range []string{"anna", "bo"} {
				if _, err := tx.MemberCreate(ctx, query.MemberCreateParams{WorkspaceID: mine, PersonID: people[name], Role: "owner"}); err != nil {
					return err
				}
			}
			return nil
		})
		by := func(person string) identity.Credential {
			return identity.Credential{Kind: identity.SessionCredential, PersonID: people[person]}
		}
		whole := w.JobOf(t, mine, jobtest.Order{Frames: "1-20", Credential: by("anna")})
		late := w.JobOf(t, mine, jobtest.Order{Frames: "11-30"})
		odd := w.JobOf(t, mine, jobtest.Order{Frames: "1-19x2", Credential: by("anna")})
		gaps := w.JobOf(t, mine, jobtest.Order{Frames: "2,5,11-13", Credential: by("bo")})
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			return tx.MemberDelete(ctx, query.MemberDeleteParams{WorkspaceID: mine, PersonID: people["bo"]})
		})
		w.JobOf(t, theirs, jobtest.Order{Frames: "1-20"})
		find := func(f job.Filter) (all []string) {
			t.Helper()
			before := ""
			for more := true; more; {
				r := job.ListRequest{WorkspaceID: mine, Filter: f, Before: before, Limit: 1}
				page, follow, err := w.Jobs.List(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range page {
					newer, err := w.Jobs.Newer(t.Context(), r)
					if want := ""; err != nil || len(all) > 1 && newer != all[len(all)-2] || len(all) < 2 && newer != want {
						t.Errorf("%+v: the page before %s begins after %q: %v", f, o.JobID, newer, err)
					}
					all, before = append(all, o.JobID), o.JobID
				}
				more = follow
			}
			return all
		}
		for _, c := range []struct {
			f    job.Filter
			want []string
		}{
			{job.Filter{Person: people["anna"]}, []string{odd, whole}},
			{job.Filter{Person: " ANNA@Example.com "}, []string{odd, whole}},
			{job.Filter{Person: "Anna"}, []string{odd, whole}},
			{job.Filter{Person: "bo@example.com"}, []string{gaps}},
			{job.Filter{Person: "bo"}, nil},
			{job.Filter{Person: "ann"}, nil},
			{job.Filter{Person: "stranger@example.com"}, nil},
			{job.Filter{Person: "%"}, nil},
			{job.Filter{Person: people["anna"][:35] + "_"}, nil},
			{job.Filter{Frames: "11"}, []string{gaps, odd, late, whole}},
			{job.Filter{Frames: "12"}, []string{gaps, late, whole}},
			{job.Filter{Frames: "11,13"}, []string{gaps, odd, late, whole}},
			{job.Filter{Frames: "11-14"}, []string{late, whole}},
			{job.Filter{Frames: " 1 – 19 x 2,"}, []string{odd, whole}},
			{job.Filter{Frames: "2,5,12"}, []string{gaps, whole}},
			{job.Filter{Frames: "3,5"}, []string{odd, whole}},
			{job.Filter{Frames: "1-21"}, nil},
			{job.Filter{Frames: "30"}, []string{late}},
			{job.Filter{Frames: "31"}, nil},
			{job.Filter{Frames: "1000000000"}, nil},
			{job.Filter{Frames: "11", Person: "anna"}, []string{odd, whole}},
			{job.Filter{Frames: "12", Person: "anna", Text: "nowhere"}, nil},
		} {
			if got := find(c.f); !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, want %v", c.f, got, c.want)
			}
		}
		for _, f := range []job.Filter{
			{Frames: "0"}, {Frames: "5-1"}, {Frames: "a"}, {Frames: "1-10001"}, {Frames: " "}, {Frames: "1-1000000000x1"}, {Frames: strings.Repeat("1,", job.MaxSearchBytes)},
			{Person: "a\x00"}, {Person: strings.Repeat("a", job.MaxSearchBytes+1)},
		} {
			if _, _, err := w.Jobs.List(t.Context(), job.ListRequest{WorkspaceID: mine, Filter: f, Limit: 1}); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("%q: %v", f, err)
			}
		}
	})
}

// TestTheLargestTagsFitTheIndexOfSearches together with the longest name of a file: an index of
// PostgreSQL refuses rows of more than 2,704 bytes.
func TestTheLargestTagsFitTheIndexOfSearches(t *testing.T) {
	jobtest.Each(t, func(t *testing.T, w *jobtest.World) {
		workspaceID := w.Workspace(t)
		random := rand.New(rand.NewPCG(1, 2))
		rare := func(bytes int) (text string) { // four bytes each, which no compression shortens
			for len(text)+4 <= bytes {
				text += string(rune(0x20000 + random.IntN(0xa000)))
			}
			return text
		}
		id := w.JobOf(t, workspaceID, jobtest.Order{Filename: rare(249) + ".blend"})
		set := func(bytes int) error {
			tags := []string{}
			for range job.MaxTags {
				tags = append(tags, rare(bytes))
			}
			return w.DB.Write(t.Context(), func(tx *db.Tx) error {
				_, err := w.Jobs.SetTags(t.Context(), tx, workspaceID, id, tags)
				return err
			})
		}
		if err := set(job.MaxTagBytes/job.MaxTags - 1); err != nil {
			t.Error(err)
		}
		if err := set(4 * job.MaxTagCharacters); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("more is not refused: %v", err)
		}
	})
}
