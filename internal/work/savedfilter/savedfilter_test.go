package savedfilter_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/jobtest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/savedfilter"
)

// world is a store whose filters are audited at its end.
type world struct{ *jobtest.World }

func each(t *testing.T, test func(t *testing.T, w world)) {
	jobtest.Each(t, func(t *testing.T, j *jobtest.World) {
		w := world{j}
		test(t, w)
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			return savedfilter.Audit(ctx, tx, func(rule, subject, _ string, _ ...any) { t.Errorf("breach: %s: %s", rule, subject) })
		})
	})
}

// member brings a person into a workspace.
func (w world) member(workspaceID, email string) identity.Principal {
	w.T.Helper()
	apptest.Join(w.T, w.DB, workspaceID, email, identity.Viewer)
	who := identity.Principal{WorkspaceID: workspaceID}
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		all, err := identity.Members(ctx, tx, workspaceID)
		for _, m := range all {
			if m.Email == email {
				who.Credential.PersonID = m.PersonID
			}
		}
		return err
	})
	return who
}

func (w world) save(who identity.Principal, f savedfilter.Filter) (kept savedfilter.Filter, err error) {
	err = w.DB.Write(w.T.Context(), func(tx *db.Tx) (err error) {
		kept, err = savedfilter.Save(w.T.Context(), tx, who, f)
		return err
	})
	return kept, err
}

func (w world) change(do func(ctx context.Context, tx *db.Tx) error) error {
	return w.DB.Write(w.T.Context(), func(tx *db.Tx) error { return do(w.T.Context(), tx) })
}

// names lists the filters of a person.
func (w world) names(who identity.Principal) (names string) {
	w.T.Helper()
	w.Read(w.T, func(ctx context.Context, tx *db.Tx) error {
		all, err := savedfilter.List(ctx, tx, who)
		names = ""
		for _, f := range all {
			names += f.Name + "|"
		}
		return err
	})
	return names
}

func TestAFilterIsKeptAsItWasSavedForItsPersonAlone(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		ada, ben := w.member(workspace, "ada@example.com"), w.member(workspace, "ben@example.com")
		elsewhere := w.member(w.Workspace(t), "ada@example.com") // the same person
		wish := savedfilter.Filter{Name: "  Client  A ", Status: job.Failed, Search: job.Filter{Text: "hero", Tag: "client a", From: "2026-11-01", To: "2026-11-30", Person: "ben", Frames: "1-20"}}
		kept, err := w.save(ada, wish)
		if err != nil {
			t.Fatal(err)
		}
		var read savedfilter.Filter
		w.Read(t, func(ctx context.Context, tx *db.Tx) (err error) {
			read, err = savedfilter.Get(ctx, tx, ada, kept.ID)
			return err
		})
		if read.Name != "Client A" || read.Status != wish.Status || read.Search != wish.Search || !read.CreatedAt.Equal(kept.CreatedAt) {
			t.Errorf("%+v is kept as %+v", wish, read)
		}
		for name, who := range map[string]identity.Principal{"a colleague": ben, "the person in another workspace": elsewhere} {
			if got := w.names(who); got != "" {
				t.Errorf("%s sees %s", name, got)
			}
			stolen := kept
			stolen.Name = "mine"
			for act, do := range map[string]func(ctx context.Context, tx *db.Tx) error{
				"reads": func(ctx context.Context, tx *db.Tx) error {
					_, err := savedfilter.Get(ctx, tx, who, kept.ID)
					return err
				},
				"renames": func(ctx context.Context, tx *db.Tx) error { return savedfilter.Rename(ctx, tx, who, kept.ID, "mine") },
				"changes": func(ctx context.Context, tx *db.Tx) error {
					_, err := savedfilter.Change(ctx, tx, who, stolen)
					return err
				},
				"deletes": func(ctx context.Context, tx *db.Tx) error { return savedfilter.Delete(ctx, tx, who, kept.ID) },
			} {
				if err := w.change(do); !fault.Is(err, fault.FilterNotFound) {
					t.Errorf("%s %s it: %v", name, act, err)
				}
			}
			if _, err := w.save(who, wish); err != nil {
				t.Errorf("%s saves one of the same name: %v", name, err)
			}
		}
		if _, err := w.save(ada, savedfilter.Filter{Name: "another", Status: job.Queued}); err != nil {
			t.Fatal(err)
		}
		rename := func(name string) error {
			return w.change(func(ctx context.Context, tx *db.Tx) error { return savedfilter.Rename(ctx, tx, ada, kept.ID, name) })
		}
		if err := rename("another"); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("two filters have one name: %v", err)
		}
		if err := rename("zeta"); err != nil || w.names(ada) != "another|zeta|" {
			t.Errorf("after the new name there are %s, %v", w.names(ada), err)
		}
		kept.Name, kept.Search = "zeta", job.Filter{Tag: "night"}
		err = w.change(func(ctx context.Context, tx *db.Tx) error {
			if _, err := savedfilter.Change(ctx, tx, ada, kept); err != nil {
				return err
			}
			read, err = savedfilter.Get(ctx, tx, ada, kept.ID)
			return err
		})
		if err != nil || read.Search != kept.Search {
			t.Errorf("after the change it is %+v, %v", read, err)
		}
		if err := w.change(func(ctx context.Context, tx *db.Tx) error { return savedfilter.Delete(ctx, tx, ada, kept.ID) }); err != nil || w.names(ada) != "another|" {
			t.Errorf("after the end of one there are %s, %v", w.names(ada), err)
		}
	})
}

func TestWhatNoListCanBeNarrowedByIsNotSaved(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		who := w.member(w.Workspace(t), "ada@example.com")
		failed := savedfilter.Filter{Name: "failed", Status: job.Failed}
		for name, wrong := range map[string]func(f *savedfilter.Filter){
			"no name":             func(f *savedfilter.Filter) { f.Name = " " },
			"a long name":         func(f *savedfilter.Filter) { f.Name = strings.Repeat("é", savedfilter.MaxNameCharacters+1) },
			"a hidden name":       func(f *savedfilter.Filter) { f.Name = "a\u202eb" },
			"no UTF-8":            func(f *savedfilter.Filter) { f.Name = "a\xff" },
			"nothing":             func(f *savedfilter.Filter) { f.Status = "" },
			"an unknown state":    func(f *savedfilter.Filter) { f.Status = "gone" },
			"five words":          func(f *savedfilter.Filter) { f.Search.Text = "a b c d e" },
			"no day":              func(f *savedfilter.Filter) { f.Search.From = "yesterday" },
			"another day's form":  func(f *savedfilter.Filter) { f.Search.To = "1.11.2026" },
			"no frames":           func(f *savedfilter.Filter) { f.Search.Frames = "many" },
			"a long person":       func(f *savedfilter.Filter) { f.Search.Person = strings.Repeat("a", job.MaxSearchBytes+1) },
			"a tag with controls": func(f *savedfilter.Filter) { f.Search.Tag = "a\x00" },
		} {
			f := failed
			wrong(&f)
			if _, err := w.save(who, f); !fault.Is(err, fault.InvalidRequest) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := w.save(identity.Principal{WorkspaceID: who.WorkspaceID}, failed); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("a key of nobody: %v", err)
		}
		stranger := w.member(w.Workspace(t), "stranger@example.com")
		stranger.WorkspaceID = who.WorkspaceID
		if _, err := w.save(stranger, failed); !fault.Is(err, fault.InvalidRequest) {
			t.Errorf("a person of another workspace: %v", err)
		}
		if got := w.names(who); got != "" {
			t.Errorf("there are %s", got)
		}
	})
}

func TestAPersonHasAsManyFiltersAsTheBound(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		ada := w.member(workspace, "ada@example.com")
		var last savedfilter.Filter
		for n := range savedfilter.Most {
			var err error
			if last, err = w.save(ada, savedfilter.Filter{Name: fmt.Sprint(n), Status: job.Failed}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.save(ada, savedfilter.Filter{Name: "more", Status: job.Failed}); !fault.Is(err, fault.FilterLimitReached) {
			t.Errorf("one more: %v", err)
		}
		if err := w.change(func(ctx context.Context, tx *db.Tx) error { return savedfilter.Rename(ctx, tx, ada, last.ID, "more") }); err != nil {
			t.Errorf("at the bound a filter gets no other name: %v", err)
		}
		if _, err := w.save(w.member(workspace, "ben@example.com"), savedfilter.Filter{Name: "one", Status: job.Failed}); err != nil {
			t.Errorf("a colleague's first: %v", err)
		}
	})
}

// TestFiltersEndWithTheMembership: a person who comes back has none, and an erased workspace has
// none of anybody.
func TestFiltersEndWithTheMembership(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		workspace := w.Workspace(t)
		owner, ada := identity.Principal{WorkspaceID: workspace}, w.member(workspace, "ada@example.com")
		w.Read(t, func(ctx context.Context, tx *db.Tx) error {
			all, err := identity.Members(ctx, tx, workspace)
			owner.Credential.PersonID = all[0].PersonID
			return err
		})
		failed := savedfilter.Filter{Name: "failed", Status: job.Failed}
		for _, who := range []identity.Principal{owner, ada} {
			if _, err := w.save(who, failed); err != nil {
				t.Fatal(err)
			}
		}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error {
			return identity.Remove(ctx, tx, owner, ada.Credential.PersonID)
		})
		if back := w.member(workspace, "ada@example.com"); back.Credential != ada.Credential || w.names(back) != "" || w.names(owner) != "failed|" {
			t.Errorf("after a removal the person has %q and the owner %q", w.names(back), w.names(owner))
		}
		w.Write(t, func(ctx context.Context, tx *db.Tx) error { return identity.Erase(ctx, tx, workspace) })
		if got := w.names(owner); got != "" {
			t.Errorf("an erased workspace has %s", got)
		}
	})
}
