package console

import (
	"context"
	"net/http"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/savedfilter"
)

// filtersPath is the page of the person's saved filters.
const filtersPath = "/console/filters"

// savedFilter is a saved filter as pages show it.
type savedFilter struct {
	savedfilter.Filter
	// Here says that the list shows it.
	Here bool
}

// filtersRoutes adds the page of saved searches.
func (s *Site) filtersRoutes(mux *http.ServeMux) {
	mux.Handle("GET "+filtersPath, s.Page(s.Admit(s.filters)))
	mux.Handle("POST "+filtersPath, s.Page(s.Form(identity.Viewer, s.saveFilter)))
	s.FormAt(mux, filtersPath+"/{filter_id}", filtersPath, identity.Viewer, s.changeFilter)
}

// Path is the list of the jobs that it finds.
func (f savedFilter) Path() string {
	return jobsFilter{string(f.Status), f.Search.Text, f.Search.Tag, f.Search.From, f.Search.To, f.Search.Person, f.Search.Frames}.path()
}

// Says is what it searches for.
func (f savedFilter) Says() string {
	var all []string
	add := func(before, text, after string) {
		if text != "" {
			all = append(all, before+text+after)
		}
	}
	add("“", f.Search.Text, "”")
	add("", page.StateText(f.Status), "")
	add("tag ", f.Search.Tag, "")
	add("from ", f.Search.From, "")
	add("to ", f.Search.To, "")
	add("started by ", f.Search.Person, "")
	add("frames ", f.Search.Frames, "")
	return strings.Join(all, ", ")
}

// ToSave is the query of the form that saves the filter of a list, with its question mark:
// templates escape what follows one.
func (f jobsFilter) ToSave() string { return "?" + f.values().Encode() }

// saved is the filter of a list, to be saved.
func (f jobsFilter) saved(name string) savedfilter.Filter {
	return savedfilter.Filter{Name: name, Status: job.Status(f.Status), Search: f.request("", "").Filter}
}

// filtersView is the content of the page of saved filters.
type filtersView struct {
	Saved []savedFilter
	// Problem is why the last form was refused; nil when none was.
	Problem *fault.Wire
}

// savedFilters reads the filters of a person.
func (s *Site) savedFilters(r *http.Request, who identity.Principal) (all []savedFilter, err error) {
	return all, s.DB.ReadStatement(r.Context(), func(ctx context.Context, tx *db.Tx) error {
		found, err := savedfilter.List(ctx, tx, who)
		all = nil
		for _, f := range found {
			all = append(all, savedFilter{Filter: f})
		}
		return err
	})
}

// markSaved puts into the list the filters of the person, and whether its own is one of them.
func (s *Site) markSaved(r *http.Request, who identity.Principal, v *jobsView) (err error) {
	v.Saved, err = s.savedFilters(r, who)
	v.CanSave = v.Problem == nil && v.jobsFilter != jobsFilter{}
	for i, f := range v.Saved {
		if f.Path() == v.path() {
			v.Saved[i].Here, v.CanSave = true, false
		}
	}
	return err
}

// filters builds the page of saved filters.
func (s *Site) filters(r *http.Request, who identity.Principal) (page.Page, error) {
	return s.filtersPage(r, who, nil)
}

// filtersPage shows the filters, or why a form was refused.
func (s *Site) filtersPage(r *http.Request, who identity.Principal, refused error) (page.Page, error) {
	p := page.Page{Template: "filters", Title: "Saved filters", Section: page.JobsSection}
	v := filtersView{}
	if refused != nil {
		if p.Status, v.Problem = page.Refused(refused); p.Status >= http.StatusInternalServerError {
			return p, refused
		}
	}
	var err error
	v.Saved, err = s.savedFilters(r, who)
	p.Content = v
	return p, err
}

// saveFilter saves the filter of the list from which the form comes.
func (s *Site) saveFilter(r *http.Request, who identity.Principal) (page.Page, error) {
	f := readFilter(r.URL.Query())
	err := s.DB.Write(r.Context(), func(tx *db.Tx) error {
		_, err := savedfilter.Save(r.Context(), tx, who, f.saved(r.PostForm.Get("name")))
		return err
	})
	if err != nil {
		return s.filtersPage(r, who, err)
	}
	return page.Page{Location: f.path()}, nil
}

// changeFilter renames or deletes a filter. Deleting it twice is no mistake.
func (s *Site) changeFilter(r *http.Request, who identity.Principal) (page.Page, error) {
	ctx, filterID := r.Context(), r.PathValue("filter_id")
	err := s.DB.Write(ctx, func(tx *db.Tx) error {
		if r.PostForm.Get("do") == "delete" {
			return savedfilter.Delete(ctx, tx, who, filterID)
		}
		return savedfilter.Rename(ctx, tx, who, filterID, r.PostForm.Get("name"))
	})
	if deleted := r.PostForm.Get("do") == "delete" && fault.Is(err, fault.FilterNotFound); err != nil && !deleted {
		return s.filtersPage(r, who, err)
	}
	return page.Page{Location: filtersPath}, nil
}
