// Package operate serves the operators' pages: what the service does now, and the acts of
// operators, each confirmed, done and recorded.
//
// What always holds: for anyone else these pages do not exist.
//
// Start reading at Site.Routes.
package operate

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/ratelimit"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/process"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/wallet"
)

//go:embed template
var files embed.FS

var pages = page.Templates(files, nil)

// Config holds what the operators' pages are made from. All fields are required. The package
// closes none of them.
type Config struct {
	Jobs   *job.Jobs
	Board  *leaderboard.Board
	Ledger *ratelimit.Ledger
}

// Site serves the operators' pages. It is safe for concurrent use.
type Site struct {
	*page.Base
	Config
}

// New makes the operators' pages.
func New(shared page.Shared, c Config) *Site {
	return &Site{Base: page.NewBase(shared, pages), Config: c}
}

// Paths of the operators' pages (decisions 24).
const (
	adminWorkersPath    = "/admin/workers"
	adminJobsPath       = "/admin/jobs"
	adminWorkspacesPath = "/admin/workspaces"
	adminLettersPath    = "/admin/dead-letters"
	adminResultsPath    = "/admin/results"
	adminKeysPath       = "/admin/keys"
	adminActsPath       = "/admin/acts"
	adminUsagePath      = "/admin/usage"
	adminInvoicesPath   = "/admin/invoices"
)

// Routes adds the operators' pages. For others they are not there.
func (s *Site) Routes(mux *http.ServeMux) {
	for path, build := range map[string]func(r *http.Request, who identity.Principal) (page.Page, error){
		page.AdminPath: s.adminOverview, adminWorkersPath: s.adminWorkers, adminWorkersPath + "/{worker_id}": s.adminWorker,
		adminJobsPath: s.adminJobs, adminJobsPath + "/{job_id}": s.adminJob,
		adminWorkspacesPath: s.adminWorkspaces, adminWorkspacesPath + "/{workspace_id}": s.adminWorkspace,
		adminLettersPath: s.adminDeadLetters, adminResultsPath: s.adminResults, adminKeysPath: s.adminKeys, adminActsPath: s.adminActs, adminUsagePath: s.adminUsage, adminInvoicesPath: s.adminInvoices,
	} {
		mux.Handle("GET "+path, s.Page(s.Admit(s.operates(build))))
	}
	mux.Handle("GET "+adminUsagePath+".csv", s.AdmitRaw(s.usageFile))
	mux.Handle("GET "+adminInvoicesPath+"/{number}", s.AdmitRaw(s.adminInvoice))
	mux.Handle("POST "+adminKeysPath, s.Page(s.Form(identity.Viewer, s.operates(s.createNodeKey))))
	mux.Handle("POST "+adminActsPath, s.Page(s.Form(identity.Viewer, s.operates(s.act))))
}

// operates admits operators. Others learn nothing: route_not_found.
func (s *Site) operates(build func(r *http.Request, who identity.Principal) (page.Page, error)) func(r *http.Request, who identity.Principal) (page.Page, error) {
	return func(r *http.Request, who identity.Principal) (page.Page, error) {
		if _, err := operator.Person(who); err != nil {
			return page.Page{}, err
		}
		p, err := build(r, who)
		p.Section = page.AdminSection
		return p, err
	}
}

// adminView is what every operators' page shows: which page it is, and what has just been
// done.
type adminView struct {
	Here string
	// Done says that an act has just been done.
	Done bool
}

// viewOf is the view of the operators' page at a path.
func viewOf(r *http.Request, path string) adminView {
	return adminView{Here: path, Done: r.URL.Query().Get("did") == "act"}
}

// Tabs lead from one operators' page to the others.
func (v adminView) Tabs() []page.Tab {
	all := []page.Tab{
		{Name: "Overview", Path: page.AdminPath}, {Name: "Jobs", Path: adminJobsPath}, {Name: "Workers", Path: adminWorkersPath},
		{Name: "Workspaces", Path: adminWorkspacesPath}, {Name: "Usage", Path: adminUsagePath}, {Name: "Invoices", Path: adminInvoicesPath}, {Name: "Dead letters", Path: adminLettersPath}, {Name: "Results", Path: adminResultsPath},
		{Name: "Keys", Path: adminKeysPath}, {Name: "Record", Path: adminActsPath},
	}
	for i := range all {
		all[i].Here = all[i].Path == v.Here
	}
	return all
}

// Bounds of the overview's lists.
const (
	shownParties = 10
	shownActs    = 5
)

// overviewView is the content of the operators' first page.
type overviewView struct {
	adminView
	// WaitingFrames wait for a worker, those of Parties the most; HeldFrames are in
	// workers' hands.
	WaitingFrames, HeldFrames int64
	Parties                   []dispatch.Waiting
	Workers                   []operator.WorkersIn
	Paused                    []dispatch.PausedKey
	// Reuse is what comparing reused frames has shown, by class of workers.
	Reuse       []reuse.ComparedClass
	DeadLetters int64
	// Day is the last 24 hours.
	Day dayView
	// Spenders cost this process the most in this hour.
	Spenders []ratelimit.Spent
	// Rendering are the jobs that workers render, the newest.
	Rendering jobsTable
	// Names are the names of all workspaces above.
	Names map[string]string
	// Processes are those that serve, and those that fell silent within an hour.
	Processes []process.Process
	// Audit is the last one; nil before the first.
	Audit *operator.AuditRun
	Acts  []recorded
}

// adminOverview builds the operators' first page.
func (s *Site) adminOverview(r *http.Request, _ identity.Principal) (page.Page, error) {
	ctx, v := r.Context(), overviewView{adminView: viewOf(r, page.AdminPath), Spenders: s.Ledger.Top(shownParties)}
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if v.Parties, v.WaitingFrames, err = dispatch.WaitingOf(ctx, tx, shownParties); err != nil {
			return err
		}
		workers, err := dispatch.ListWorkers(ctx, tx, workersWithin)
		if err != nil {
			return err
		}
		v.Workers, v.HeldFrames = operator.CountWorkers(workers)
		if v.Paused, err = dispatch.PausedKeys(ctx, tx); err != nil {
			return err
		}
		if v.Reuse, err = reuse.Standings(ctx, tx); err != nil {
			return err
		}
		if v.DeadLetters, err = tx.DeadLetterCount(ctx); err != nil {
			return err
		}
		hours, err := operator.LastDay(ctx, tx)
		if err != nil {
			return err
		}
		v.Day = dayOf(hours)
		rendering, err := job.ListAll(ctx, tx, job.ListRequest{Status: job.Rendering, Limit: shownParties})
		if err != nil {
			return err
		}
		if v.Rendering, err = jobsOf(ctx, tx, rendering); err != nil {
			return err
		}
		if v.Names, err = v.names(ctx, tx); err != nil {
			return err
		}
		if v.Processes, err = process.List(ctx, tx); err != nil {
			return err
		}
		if v.Audit, err = operator.LastAudit(ctx, tx); err != nil {
			return err
		}
		lately, err := operator.Acts(ctx, tx, "", shownActs)
		v.Acts, err = recordOf(ctx, tx, lately, err)
		return err
	})
	return page.Page{Template: "admin", Title: "Operate", Content: v, Reload: 30}, err
}

// names reads the names of the workspaces that wait and of those that keep the process busy.
func (v overviewView) names(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	var ids []string
	for _, w := range v.Parties {
		ids = append(ids, w.WorkspaceID)
	}
	for _, s := range v.Spenders {
		if id.Valid(id.Workspace, s.Who) { // others are addresses
			ids = append(ids, s.Who)
		}
	}
	return identity.Names(ctx, tx, ids)
}

// jobsTable is a table of jobs, with the names of their workspaces by id; nil where all jobs
// are of the workspace that the page is about.
type jobsTable struct {
	Jobs  []job.Summary
	Names map[string]string
}

// jobsOf makes the table of jobs of several workspaces.
func jobsOf(ctx context.Context, tx *db.Tx, jobs []job.Summary) (jobsTable, error) {
	names, err := namesOf(ctx, tx, jobs, func(j job.Summary) string { return j.WorkspaceID })
	return jobsTable{jobs, names}, err
}

// Mixed reports whether processes of more than one version are running.
func (v overviewView) Mixed() bool {
	versions := map[string]bool{}
	for _, p := range v.Processes {
		if p.Alive {
			versions[p.Version] = true
		}
	}
	return len(versions) > 1
}

// askView is the content of the page that asks before an act.
type askView struct {
	adminView
	What, Reason string
	// WorkspaceID is the workspace that owns the target, and Workspace its name; "" for none.
	WorkspaceID, Workspace string
	// Fields are sent with the yes; Back is where the act leads.
	Fields []field
	Back   string
	// Problem is why the act is refused; nil when it is not.
	Problem *fault.Wire
}

// field is a hidden field of a form.
type field struct{ Name, Value string }

// act asks before an act, and performs it after the yes. The asking page carries what was
// asked for; what the act then does is read and checked again.
func (s *Site) act(r *http.Request, who identity.Principal) (page.Page, error) {
	back := adminBack(r.PostForm.Get("back"))
	propose := acts[r.PostForm.Get("act")]
	if propose == nil {
		return page.Page{}, fault.Field("act", "is unknown")
	}
	by, err := operator.Person(who)
	if err != nil {
		return page.Page{}, err
	}
	var proposed operator.Act
	var names map[string]string
	if r.PostForm.Get("yes") == "" {
		if r.PostForm.Get("reference") == "" { // a yes that is sent twice moves money once
			r.PostForm.Set("reference", wallet.NewReference())
		}
		err = s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
			if proposed, err = propose(r.Context(), tx, s, r.PostForm); err == nil {
				names, err = identity.Names(r.Context(), tx, []string{proposed.WorkspaceID})
			}
			return err
		})
		return s.asking(r.PostForm, proposed, names[proposed.WorkspaceID], back, err)
	}
	err = s.DB.Write(r.Context(), func(tx *db.Tx) error {
		proposed, err := propose(r.Context(), tx, s, r.PostForm)
		if err == nil {
			err = proposed.Perform(r.Context(), tx, by)
		}
		return err
	})
	if err != nil {
		return s.asking(r.PostForm, proposed, "", back, err)
	}
	return page.Page{Location: back + "?did=act"}, nil
}

// asking is the page that asks, or says why it does not.
func (s *Site) asking(form url.Values, act operator.Act, workspace, back string, err error) (page.Page, error) {
	v := askView{What: act.What, Reason: act.Reason, WorkspaceID: act.WorkspaceID, Workspace: workspace, Back: back}
	p := page.Page{Template: "admin_ask", Title: "Are you sure?"}
	if err != nil {
		var e *fault.Error
		if !errors.As(err, &e) {
			return page.Page{}, err
		}
		status, problem := page.Refused(err)
		p.Status, v.Problem, p.Title = status, problem, "It cannot be done"
	}
	for _, name := range []string{"act", "subject", "reason", "amount", "reference", "back"} {
		if form.Get(name) != "" {
			v.Fields = append(v.Fields, field{name, form.Get(name)})
		}
	}
	p.Content = v
	return p, nil
}

// adminBack is the operators' page that a form names, and no other address.
func adminBack(path string) string {
	if strings.HasPrefix(path, page.AdminPath+"/") && !strings.ContainsAny(path, "?#\\\n") {
		return path
	}
	return page.AdminPath
}

// acts are the acts of operators by the name that forms give them. Each makes its act of
// the form's fields subject, reason, amount (in dollars, days or frames, tags, or a priority) and reference.
var acts = map[string]func(ctx context.Context, tx *db.Tx, s *Site, form url.Values) (operator.Act, error){
	"drain": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.DrainWorker(ctx, tx, form.Get("subject"), false)
	},
	"undrain": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.DrainWorker(ctx, tx, form.Get("subject"), true)
	},
	"forget": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.ForgetWorker(ctx, tx, form.Get("subject"))
	},
	"fail": func(ctx context.Context, tx *db.Tx, s *Site, form url.Values) (operator.Act, error) {
		return operator.FailJob(ctx, tx, s.Jobs, form.Get("subject"), form.Get("reason"))
	},
	"any-blender": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.AnyBlender(ctx, tx, form.Get("subject"), form.Get("reason"))
	},
	"pause": func(ctx context.Context, tx *db.Tx, s *Site, form url.Values) (operator.Act, error) {
		return operator.PauseJob(ctx, tx, s.Jobs, form.Get("subject"), form.Get("reason"))
	},
	"resume": func(ctx context.Context, tx *db.Tx, s *Site, form url.Values) (operator.Act, error) {
		return operator.ResumeJob(ctx, tx, s.Jobs, form.Get("subject"))
	},
	"priority": func(ctx context.Context, tx *db.Tx, s *Site, form url.Values) (operator.Act, error) {
		priority, err := page.Priority(form.Get("amount"))
		if err != nil {
			return operator.Act{}, err
		}
		return operator.PrioritizeJob(ctx, tx, s.Jobs, form.Get("subject"), priority)
	},
	"credit": moved(operator.Credit), "refund": moved(operator.Refund),
	"freeze": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.FreezeWorkspace(ctx, tx, form.Get("subject"), form.Get("reason"))
	},
	"limit": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		cents, err := page.Dollars("amount", strings.TrimSpace(form.Get("amount")), 0, wallet.MaxCents)
		if err != nil {
			return operator.Act{}, err
		}
		return operator.LimitSpending(ctx, tx, form.Get("subject"), *cmp.Or(cents, new(int64))) // an empty field is no limit
	},
	"tags": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.RequireTags(ctx, tx, form.Get("subject"), strings.Fields(form.Get("amount")))
	},
	"frames": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		n, err := strconv.ParseInt(strings.TrimSpace(form.Get("amount")), 10, 64)
		if err != nil {
			return operator.Act{}, fault.Field("frames_at_once", "must be a whole number")
		}
		return operator.LimitFrames(ctx, tx, form.Get("subject"), n)
	},
	"retention": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		days, err := strconv.Atoi(strings.TrimSpace(form.Get("amount")))
		if err != nil {
			return operator.Act{}, fault.Field("days", "must be a number of days")
		}
		return operator.KeepArtifacts(ctx, tx, form.Get("subject"), days)
	},
	"unfreeze": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.UnfreezeWorkspace(ctx, tx, form.Get("subject"))
	},
	"requeue": func(_ context.Context, _ *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.Requeue([]string{form.Get("subject")}), nil
	},
	"hide": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.HideResults(ctx, tx, []string{form.Get("subject")}, form.Get("reason"), nil)
	},
	"show": func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.ShowResults(ctx, tx, []string{form.Get("subject")}, nil)
	},
	"revoke": func(_ context.Context, _ *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.RevokeKey(form.Get("subject")), nil
	},
	"end-key": func(_ context.Context, _ *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		return operator.EndSigningKey(form.Get("subject"), 0, "now", cmp.Or(form.Get("reason"), receipt.Superseded)), nil
	},
}

// moved is an act that moves an amount of money.
func moved(move func(ctx context.Context, tx *db.Tx, subject, reference string, cents int64) (operator.Act, error)) func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
	return func(ctx context.Context, tx *db.Tx, _ *Site, form url.Values) (operator.Act, error) {
		cents, err := page.Dollars("amount", strings.TrimSpace(form.Get("amount")), 1, wallet.MaxCents)
		if err != nil {
			return operator.Act{}, err
		}
		if cents == nil {
			return operator.Act{}, fault.Field("amount", "is empty; enter an amount in US dollars")
		}
		return move(ctx, tx, form.Get("subject"), form.Get("reference"), *cents)
	}
}
