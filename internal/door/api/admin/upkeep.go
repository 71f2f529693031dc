package admin

import (
	"context"
	"net/http"
	"time"

	"svc.example/internal/door/api/sample"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/reuse"
)

// Inputs of acts that keep the service in order.
type (
	requeueInput struct {
		Acting
		Body requeueRequest
	}
	requeueRequest struct {
		IDs   []string `json:"ids,omitempty" maxItems:"1000" doc:"Ids of dead letters: all are put back, or none if one is unknown."`
		Queue string   `json:"queue,omitempty" maxLength:"100" doc:"All dead letters of this queue instead, 10,000 at most."`
	}
	resultsInput struct {
		Acting
		Body resultsRequest
	}
	// NamedResults names benchmark results. It is exported, because huma reads only such
	// embedded types.
	NamedResults struct {
		Results []string `json:"results,omitempty" maxItems:"1000" doc:"Result ids."`
		Node    string   `json:"node,omitempty" maxLength:"100" doc:"All results of the node key with this id instead."`
	}
	resultsRequest     struct{ NamedResults }
	hideResultsRequest struct {
		NamedResults
		Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"Shown on the results' own pages."`
	}
	hideResultsInput struct {
		Acting
		Body hideResultsRequest
	}
	personInput struct {
		Acting
		Body personRequest
	}
	personRequest struct {
		Email string `json:"email" minLength:"3" maxLength:"254" doc:"E-mail address of the person."`
	}
	domainsInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many to list."`
		Before    string `query:"before" maxLength:"254" doc:"Continue after this domain, the last one of the previous page."`
		Workspace string `query:"workspace" maxLength:"100" doc:"Only the domains of this workspace."`
	}
	domainInput struct {
		Acting
		Domain string `path:"domain" maxLength:"254"`
	}
	classInput struct {
		Acting
		Class string `path:"class_id" maxLength:"100"`
	}
)

// only is the answer to an act that has nothing to show.
func only[I any](context.Context, *db.Tx, *I) (operator.Acted, error) { return operator.Acted{}, nil }

// upkeep are the routes of dead letters, alerts, results, people, domains, reuse and test worlds.
func (s *Server) upkeep() []route {
	e := exampleUpkeep()
	post := func(id, path, summary string, codes ...fault.Code) route {
		return route{id: id, method: http.MethodPost, path: "/admin/v1" + path, summary: summary, codes: codes}
	}
	return []route{
		acts(s, post("testAlerts", "/alerts/test", "Send a test message to the receivers of alerts"), operator.Acted{},
			func(context.Context, *db.Tx, *Acting) (operator.Act, error) { return operator.TestAlerts(), nil }, only[Acting]),
		s.requeue(post("requeueDeadLetters", "/dead-letters/requeue", "Do internal tasks again that failed too often", bodyCodes(fault.DeadLetterNotFound)...)),
		s.results(post("hideResults", "/results/hide", "Hide benchmark results from all pages", bodyCodes(fault.ResultNotFound)...)),
		s.shown(post("showResults", "/results/show", "Show hidden benchmark results again", bodyCodes(fault.ResultNotFound)...)),
		reads(s, route{id: "listOperators", path: "/admin/v1/operators", summary: "List the people who operate the service in the browser"}, e.people,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.PersonList, error) {
				all, err := identity.Operators(ctx, tx)
				return operator.PersonList{OK: true, Operators: all}, err
			}),
		acts(s, post("removeOperator", "/operators/remove", "Take a person's access to the operators' pages away", bodyCodes(fault.PersonNotFound)...).with(personRequest{"you@example.com"}), operator.Acted{},
			func(ctx context.Context, tx *db.Tx, in *personInput) (operator.Act, error) {
				return operator.SetOperator(ctx, tx, in.Body.Email, false)
			}, only[personInput]),
		reads(s, route{id: "listDomains", path: "/admin/v1/domains", summary: "List the domains of addresses whose people join a workspace when they sign in"}, e.domains,
			func(ctx context.Context, tx *db.Tx, in *domainsInput) (operator.DomainList, error) {
				return operator.Domains(ctx, tx, in.Workspace, in.Before, in.Limit)
			}),
		acts(s, route{id: "releaseDomain", method: http.MethodDelete, path: "/admin/v1/domains/{domain}", summary: "Have nobody join a workspace by a domain any more", codes: []fault.Code{fault.DomainNotFound}}, operator.Acted{},
			func(ctx context.Context, tx *db.Tx, in *domainInput) (operator.Act, error) {
				return operator.ReleaseDomain(ctx, tx, in.Domain)
			}, only[domainInput]),
		reads(s, route{id: "listReuse", path: "/admin/v1/reuse", summary: "List the kinds of workers whose reused frames were rendered again"}, e.reuse,
			func(ctx context.Context, tx *db.Tx, _ *none) (operator.ReuseList, error) {
				all, err := reuse.Standings(ctx, tx)
				return operator.ReuseList{OK: true, Classes: append([]reuse.ComparedClass{}, all...)}, err
			}),
		acts(s, post("resetReuse", "/reuse/{class_id}/reset", "Let frames of a kind of workers be reused again", fault.ReuseClassNotFound), operator.Acted{},
			func(ctx context.Context, tx *db.Tx, in *classInput) (operator.Act, error) {
				return operator.ResetReuse(ctx, tx, in.Class)
			}, only[classInput]),
		acts(s, route{id: "removeTestWorld", method: http.MethodDelete, path: "/admin/v1/workspaces/{workspace_id}/test-world", summary: "Remove the test world of a workspace with everything in it", codes: []fault.Code{fault.WorkspaceNotFound}}, operator.Acted{},
			func(ctx context.Context, tx *db.Tx, in *WorkspaceAct) (operator.Act, error) {
				return operator.RemoveTestWorld(ctx, tx, in.Workspace)
			}, only[WorkspaceAct]),
	}
}

// requeue is the route that puts dead letters back.
func (s *Server) requeue(r route) route {
	letters := []string{"webhook_notice:" + sample.JobID + ":0"}
	return plans[requeueInput](s, r.with(requeueRequest{IDs: letters}), operator.Requeued{Requeued: letters}, func(ctx context.Context, tx *db.Tx, in *requeueInput) (p plan[operator.Requeued], err error) {
		ids := in.Body.IDs
		if (len(ids) == 0) == (in.Body.Queue == "") {
			return p, fault.Field("body", "must have either ids or queue")
		}
		if in.Body.Queue != "" {
			ids, err = operator.DeadLettersOf(ctx, tx, in.Body.Queue)
		}
		return plan[operator.Requeued]{act: operator.Requeue(ids), show: func(context.Context, *db.Tx) (operator.Requeued, error) {
			return operator.Requeued{Requeued: ids}, nil
		}}, err
	})
}

// find finds the results that a request names. Error: invalid_request.
func (n NamedResults) find(ctx context.Context, tx *db.Tx) ([]string, error) {
	if (len(n.Results) == 0) == (n.Node == "") {
		return nil, fault.Field("body", "must have either results or node")
	}
	if n.Node != "" {
		return leaderboard.ResultsOf(ctx, tx, n.Node)
	}
	return n.Results, nil
}

// exampleResults are results of an example.
var exampleResults = NamedResults{Results: []string{"BMR-0198c0de00007000800000000000000d"}}

// results is the route that hides results.
func (s *Server) results(r route) route {
	return plans[hideResultsInput](s, r.with(hideResultsRequest{exampleResults, "the device was overclocked"}), operator.ResultsChanged{Results: 1, Changed: 1},
		func(ctx context.Context, tx *db.Tx, in *hideResultsInput) (plan[operator.ResultsChanged], error) {
			return changed(ctx, tx, in.Body.NamedResults, func(ids []string, n *int64) (operator.Act, error) {
				return operator.HideResults(ctx, tx, ids, in.Body.Reason, n)
			})
		})
}

// shown is the route that shows results again.
func (s *Server) shown(r route) route {
	return plans[resultsInput](s, r.with(resultsRequest{exampleResults}), operator.ResultsChanged{Results: 1, Changed: 1},
		func(ctx context.Context, tx *db.Tx, in *resultsInput) (plan[operator.ResultsChanged], error) {
			return changed(ctx, tx, in.Body.NamedResults, func(ids []string, n *int64) (operator.Act, error) {
				return operator.ShowResults(ctx, tx, ids, n)
			})
		})
}

// changed is the plan of an act on results, which counts those that it changes.
func changed(ctx context.Context, tx *db.Tx, named NamedResults, propose func(ids []string, n *int64) (operator.Act, error)) (p plan[operator.ResultsChanged], err error) {
	ids, err := named.find(ctx, tx)
	if err != nil {
		return p, err
	}
	var n int64
	p.act, err = propose(ids, &n)
	p.show = func(context.Context, *db.Tx) (operator.ResultsChanged, error) {
		return operator.ResultsChanged{Results: len(ids), Changed: n}, nil
	}
	return p, err
}

// Erasure is how a workspace is erased. The package that erases imports nearly all others, so the
// application makes it.
type Erasure struct {
	Act         operator.Act
	After       operator.Erased
	RemoveFiles func(ctx context.Context) error // after the commit
}

// erasure is the route that erases a workspace. Repeating it erases remains, and says when the
// workspace was erased.
func (s *Server) erasure() []route {
	r := route{
		id: "eraseWorkspace", method: http.MethodDelete, path: "/admin/v1/workspaces/{workspace_id}", summary: "Erase the people, names and files of a workspace permanently",
		codes: []fault.Code{fault.WorkspaceNotFound, fault.JobsNotEnded, fault.MoneyReserved},
	}
	return []route{plans[WorkspaceAct](s, r, operator.Erased{WorkspaceID: sample.WorkspaceID, ErasedAt: sample.Time(time.Minute)}, func(ctx context.Context, tx *db.Tx, in *WorkspaceAct) (plan[operator.Erased], error) {
		e, err := s.Erase(ctx, tx, in.Workspace)
		return plan[operator.Erased]{
			act:   e.Act,
			show:  func(context.Context, *db.Tx) (operator.Erased, error) { return e.After, nil },
			after: e.RemoveFiles,
		}, err
	})}
}
