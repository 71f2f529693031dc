package account

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"svc.example/internal/door/api/operation"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/savedfilter"
)

// filtersPath is where the saved filters of a person are.
const filtersPath = "/v1/workspace/filters"

// filterWish is a filter as a person wants it saved. Its members are those of the list of renders.
type filterWish struct {
	Name   string     `json:"name" minLength:"1" maxLength:"240" doc:"At most 60 characters, and no other filter of the person has it."`
	Status job.Status `json:"status,omitempty" enum:",awaiting_submit,queued,rendering,packaging,completed,failed,cancelled" doc:"As in the list of renders, as all members that follow; absent or empty for any. One of them must be there."`
	Query  string     `json:"q,omitempty" maxLength:"200"`
	Tag    string     `json:"tag,omitempty" maxLength:"200"`
	From   string     `json:"from,omitempty" maxLength:"10" doc:"A day, such as 2026-11-27."`
	To     string     `json:"to,omitempty" maxLength:"10"`
	Person string     `json:"person,omitempty" maxLength:"200"`
	Frames string     `json:"frames,omitempty" maxLength:"200"`
}

// filter is the wish as package savedfilter has it.
func (w filterWish) filter(filterID string) savedfilter.Filter {
	return savedfilter.Filter{
		ID: filterID, Name: w.Name, Status: w.Status,
		Search: job.Filter{Text: w.Query, Tag: w.Tag, From: w.From, To: w.To, Person: w.Person, Frames: w.Frames},
	}
}

// SavedFilter is a search that a person has saved.
type SavedFilter struct {
	FilterID  string     `json:"filter_id" doc:"Begins with FLT-."`
	Name      string     `json:"name"`
	Status    job.Status `json:"status" doc:"Empty for any, as all members that follow."`
	Query     string     `json:"q"`
	Tag       string     `json:"tag"`
	From      string     `json:"from"`
	To        string     `json:"to"`
	Person    string     `json:"person"`
	Frames    string     `json:"frames"`
	CreatedAt time.Time  `json:"created_at"`
}

func shownFilter(f savedfilter.Filter) SavedFilter {
	return SavedFilter{f.ID, f.Name, f.Status, f.Search.Text, f.Search.Tag, f.Search.From, f.Search.To, f.Search.Person, f.Search.Frames, f.CreatedAt}
}

type filterInput struct{ Body filterWish }

type filterChangeInput struct {
	FilterID string `path:"filter_id" doc:"Begins with FLT-."`
	Body     filterWish
}

type filterPath struct {
	FilterID string `path:"filter_id" doc:"Begins with FLT-."`
}

type filterOutput struct {
	Body struct {
		OK bool `json:"ok" const:"true"`
		SavedFilter
	}
}

type filtersOutput struct {
	Body struct {
		OK      bool          `json:"ok" const:"true"`
		Filters []SavedFilter `json:"filters" nullable:"false" maxItems:"50" doc:"By name."`
	}
}

type filterDeletedOutput struct {
	Body struct {
		OK       bool   `json:"ok" const:"true"`
		FilterID string `json:"filter_id"`
		Deleted  bool   `json:"deleted" const:"true"`
	}
}

// filters registers the routes of a person's saved filters.
func (s *Server) filters(api huma.API) {
	op := func(id, method, path, summary string) huma.Operation {
		o := huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"Workspace"}, Summary: summary,
			Security:    []map[string][]string{{operation.AccountScheme: {}}, {operation.SessionScheme: {}}},
			Middlewares: huma.Middlewares{operation.KeepRequestID, s.Guard.AccountKeyOrSession()},
		}
		if method == http.MethodPost || method == http.MethodPut {
			o.MaxBodyBytes = contract.MaxJSONBodyBytes
		}
		return o
	}
	list := op("listFilters", http.MethodGet, filtersPath, "The searches that the person has saved")
	list.Description = "They are those of the person of the session, or of the maker of the key, in this workspace. To use one, ask for the list of renders with its members."
	list.Security = append(list.Security, map[string][]string{operation.AgentScheme: {}})
	list.Middlewares = huma.Middlewares{operation.KeepRequestID, s.Guard.AnyCredential()}
	huma.Register(api, list, func(ctx context.Context, _ *struct{}) (*filtersOutput, error) {
		out := &filtersOutput{}
		return out, s.DB.Read(ctx, func(tx *db.Tx) error {
			all, err := savedfilter.List(ctx, tx, operation.Caller(ctx))
			out.Body.OK, out.Body.Filters = true, make([]SavedFilter, len(all))
			for i, f := range all {
				out.Body.Filters[i] = shownFilter(f)
			}
			return err
		})
	})
	huma.Register(api, op("saveFilter", http.MethodPost, filtersPath, "Save a search under a name"), func(ctx context.Context, in *filterInput) (*filterOutput, error) {
		return s.putFilter(ctx, savedfilter.Save, in.Body.filter(""))
	})
	huma.Register(api, op("changeFilter", http.MethodPut, filtersPath+"/{filter_id}", "Replace a saved search and its name"), func(ctx context.Context, in *filterChangeInput) (*filterOutput, error) {
		return s.putFilter(ctx, savedfilter.Change, in.Body.filter(in.FilterID))
	})
	huma.Register(api, op("deleteFilter", http.MethodDelete, filtersPath+"/{filter_id}", "Delete a saved search"), func(ctx context.Context, in *filterPath) (*filterDeletedOutput, error) {
		out := &filterDeletedOutput{}
		out.Body.OK, out.Body.FilterID, out.Body.Deleted = true, in.FilterID, true
		return out, s.DB.Write(ctx, func(tx *db.Tx) error { return savedfilter.Delete(ctx, tx, operation.Caller(ctx), in.FilterID) })
	})
}

// putFilter saves or changes a filter.
func (s *Server) putFilter(ctx context.Context, put func(context.Context, *db.Tx, identity.Principal, savedfilter.Filter) (savedfilter.Filter, error), f savedfilter.Filter) (*filterOutput, error) {
	out := &filterOutput{}
	return out, s.DB.Write(ctx, func(tx *db.Tx) error {
		kept, err := put(ctx, tx, operation.Caller(ctx), f)
		out.Body.OK, out.Body.SavedFilter = true, shownFilter(kept)
		return err
	})
}
