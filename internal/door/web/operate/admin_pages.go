package operate

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/internal/door/web/page"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/work/benchmark/leaderboard"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/freeze"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/job"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/receipt/signing"
	"svc.example/internal/work/wallet"
)

// Bounds of the operators' lists.
const (
	workersWithin = 24 * time.Hour
	adminRows     = 50
	shownFailures = 20
	shownLog      = 500
)

// workersView is the content of the list of workers.
type workersView struct {
	adminView
	Workers []dispatch.WorkerView
	Paused  []dispatch.PausedKey
	Refuted []dispatch.RefutedKey
}

// adminWorkers lists the workers of the last day.
func (s *Site) adminWorkers(r *http.Request, _ identity.Principal) (page.Page, error) {
	ctx, v := r.Context(), workersView{adminView: viewOf(r, adminWorkersPath)}
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if v.Workers, err = dispatch.ListWorkers(ctx, tx, workersWithin); err != nil {
			return err
		}
		if v.Paused, err = dispatch.PausedKeys(ctx, tx); err != nil {
			return err
		}
		v.Refuted, err = dispatch.RefutedKeys(ctx, tx)
		return err
	})
	return page.Page{Template: "admin_workers", Title: "Workers", Content: v, Reload: 30}, err
}

// workerView is the content of a worker's page.
type workerView struct {
	adminView
	dispatch.WorkerView
	Held   []dispatch.HeldFrame
	Failed []dispatch.FailedFrame
}

// TakesNone reports whether an operator has drained the worker.
func (v workerView) TakesNone() bool {
	return v.State == dispatch.WorkerDrained || v.State == dispatch.WorkerDraining
}

// adminWorker shows one worker. Error: worker_not_found.
func (s *Site) adminWorker(r *http.Request, _ identity.Principal) (page.Page, error) {
	ctx, id, v := r.Context(), r.PathValue("worker_id"), workerView{adminView: viewOf(r, adminWorkersPath)}
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if v.WorkerView, err = dispatch.FindWorker(ctx, tx, id); err != nil {
			return err
		}
		if v.Held, err = dispatch.HeldBy(ctx, tx, id); err != nil {
			return err
		}
		v.Failed, err = dispatch.FailuresBy(ctx, tx, id, shownFailures)
		return err
	})
	return page.Page{Template: "admin_worker", Title: "Worker " + v.Name, Content: v, Reload: 30}, notThere(err)
}

// adminJobsView is the content of the list of all jobs.
type adminJobsView struct {
	adminView
	jobsTable
	States []page.Tab
	// Find is what the field has: a job or a workspace.
	Find   string
	Around page.Pager
}

// adminJobs lists the jobs of all workspaces, or of the one that is searched for. The id of
// a job leads to the job.
func (s *Site) adminJobs(r *http.Request, _ identity.Principal) (page.Page, error) {
	q := r.URL.Query()
	v := adminJobsView{adminView: viewOf(r, adminJobsPath), Find: strings.TrimSpace(page.CutQuery(q.Get("q")))}
	if strings.HasPrefix(v.Find, "JOB-") {
		return page.Page{Location: adminJobsPath + "/" + url.PathEscape(v.Find)}, nil
	}
	status := ""
	for _, state := range []string{"", string(job.AwaitingSubmit), string(job.Queued), string(job.Rendering), string(job.Packaging), string(job.Completed), string(job.Failed), string(job.Cancelled)} {
		at := filterOf("q", v.Find, "status", state)
		here := state == q.Get("status")
		if here {
			status = state
		}
		v.States = append(v.States, page.Tab{Name: cmp.Or(page.StateText(job.Status(state)), "all"), Path: strings.TrimSuffix(adminJobsPath+"?"+at.Encode(), "?"), Here: here})
	}
	around := page.Around{Before: q.Get("before")}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		wanted := job.ListRequest{WorkspaceID: v.Find, Status: job.Status(status), Before: around.Before, Limit: adminRows}
		if around.Newer, err = job.NewerOfAll(r.Context(), tx, wanted); err != nil {
			return err
		}
		wanted.Limit++ // one more than is shown, to learn whether older ones follow
		jobs, err := job.ListAll(r.Context(), tx, wanted)
		if err != nil {
			return err
		}
		jobs, around.Last = page.Ahead(jobs, adminRows, func(j job.Summary) string { return j.JobID })
		v.jobsTable, err = jobsOf(r.Context(), tx, jobs)
		return err
	})
	v.Around = page.PagerOf("jobs", adminJobsPath, filterOf("q", v.Find, "status", status), around)
	return page.Page{Template: "admin_jobs", Title: "All jobs", Content: v, Reload: 30}, err
}

// filterOf are names and values of an address, without those that are "".
func filterOf(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

// adminJobView is the content of a job's page for operators.
type adminJobView struct {
	adminView
	job.Object
	Workspace string // its name
	Log       []operator.LogEntry
	// Left is how many earlier entries of the log are left out.
	Left int
}

// Ended reports whether the job's state changes no more.
func (v adminJobView) Ended() bool { return v.Status.Terminal() }

// State is the job's state in words.
func (v adminJobView) State() string { return page.StateText(v.Status) }

// OtherBlender reports whether the job waits for workers with the Blender version and the
// denoising of its frames so far.
func (v adminJobView) OtherBlender() bool {
	return v.WaitingReason != nil && *v.WaitingReason == job.NoMatchingBlender
}

// Pausable reports whether an operator can pause the job now: even if its workspace has paused it,
// an operator then takes over.
func (v adminJobView) Pausable() bool {
	return v.Priority != nil && (v.PausedBy == nil || *v.PausedBy == dispatch.ByWorkspace)
}

// Waits explains why the job waits or is paused; "" when neither is the case.
func (v adminJobView) Waits() string {
	if v.WaitingReason == nil {
		return page.PausedText(v.Object)
	}
	return page.WaitText(v.Object)
}

// adminJob shows one job of any workspace. It shows no picture: frames are their owner's.
// Error: render_not_found.
func (s *Site) adminJob(r *http.Request, _ identity.Principal) (page.Page, error) {
	ctx, id, v := r.Context(), r.PathValue("job_id"), adminJobView{adminView: viewOf(r, adminJobsPath)}
	err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		if _, err = job.Read(ctx, tx, id); err != nil {
			return err
		}
		if v.Object, err = s.Jobs.Object(ctx, tx, id); err != nil {
			return err
		}
		names, err := identity.Names(ctx, tx, []string{v.WorkspaceID})
		if err != nil {
			return err
		}
		v.Workspace = names[v.WorkspaceID]
		v.Log, err = operator.JobLog(ctx, tx, id)
		return err
	})
	v.Left = max(0, len(v.Log)-shownLog)
	v.Log = v.Log[v.Left:]
	return page.Page{Template: "admin_job", Title: "Job " + v.Filename, Content: v, Reload: 30}, err
}

// workspacesView is the content of the list of workspaces.
type workspacesView struct {
	adminView
	Workspaces []identity.WorkspaceView
	Find       string
	Around     page.Pager
	Problem    *fault.Wire
}

// adminWorkspaces lists workspaces, or finds that of an address. The id of a workspace
// leads to it.
func (s *Site) adminWorkspaces(r *http.Request, _ identity.Principal) (page.Page, error) {
	q := r.URL.Query()
	v := workspacesView{adminView: viewOf(r, adminWorkspacesPath), Find: strings.TrimSpace(page.CutQuery(q.Get("q")))}
	if strings.HasPrefix(v.Find, "WSP-") {
		return page.Page{Location: adminWorkspacesPath + "/" + url.PathEscape(v.Find)}, nil
	}
	p, around := page.Page{Template: "admin_workspaces", Title: "Workspaces"}, page.Around{Before: q.Get("before")}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		if v.Workspaces, err = identity.Workspaces(r.Context(), tx, v.Find, around.Before, adminRows+1); err != nil {
			return err
		}
		around.Newer, err = identity.NewerWorkspaces(r.Context(), tx, v.Find, around.Before, adminRows)
		return err
	})
	if fault.Is(err, fault.InvalidRequest) {
		status, problem := page.Refused(err)
		v.Problem, p.Status, err = problem, status, nil
	}
	v.Workspaces, around.Last = page.Ahead(v.Workspaces, adminRows, func(w identity.WorkspaceView) string { return w.WorkspaceID })
	v.Around = page.PagerOf("workspaces", adminWorkspacesPath, filterOf("q", v.Find), around)
	p.Content = v
	return p, err
}

// workspaceView is the content of a workspace's page for operators.
type workspaceView struct {
	adminView
	WorkspaceID, Name string
	CreatedAt         time.Time
	ErasedAt          *time.Time
	ArtifactDays      int64  // 0: as the service's setting
	Daily             string // what it may spend in a day, in US dollars; "": no limit
	Tags              string // that its workers must have, between spaces
	FramesAtOnce      int64  // 0: no limit
	People            []string
	Balance           wallet.Balance
	Frozen            *freeze.Frozen
	Keys              []identity.Key
	Jobs              jobsTable
	Entries           []wallet.Entry
}

// shownEntries is how many entries of its ledger a workspace's page shows.
const shownEntries = 20

// adminWorkspace shows one workspace. Error: workspace_not_found.
func (s *Site) adminWorkspace(r *http.Request, _ identity.Principal) (page.Page, error) {
	ctx, id, v := r.Context(), r.PathValue("workspace_id"), workspaceView{adminView: viewOf(r, adminWorkspacesPath)}
	err := s.DB.Read(ctx, func(tx *db.Tx) error {
		row, people, err := identity.WorkspaceOf(ctx, tx, id)
		if err != nil {
			return err
		}
		v.WorkspaceID, v.Name, v.CreatedAt, v.ErasedAt, v.People = row.WorkspaceID, row.Name, db.Time(row.CreatedAt), db.OptionalTime(row.ErasedAt), people
		v.ArtifactDays, v.Tags, v.FramesAtOnce = row.ArtifactDays, strings.TrimSpace(row.Tags), row.FramesAtOnce
		if row.DailyCents > 0 {
			v.Daily = wallet.Decimal(row.DailyCents)
		}
		if v.Balance, err = wallet.Get(ctx, tx, id); err != nil {
			return err
		}
		if v.Frozen, err = freeze.Of(ctx, tx, id); err != nil {
			return err
		}
		agents, err := identity.AgentKeys(ctx, tx, id)
		if err != nil {
			return err
		}
		accounts, err := identity.AccountKeys(ctx, tx, id)
		if err != nil {
			return err
		}
		v.Keys = append(agents, accounts...)
		if v.Jobs.Jobs, err = job.ListAll(ctx, tx, job.ListRequest{WorkspaceID: id, Limit: shownParties}); err != nil {
			return err
		}
		v.Entries, err = wallet.Entries(ctx, tx, id, "", shownEntries)
		return err
	})
	return page.Page{Template: "admin_workspace", Title: cmp.Or(v.Name, "Workspace"), Content: v}, err
}

// lettersView is the content of the list of dead letters.
type lettersView struct {
	adminView
	Letters []lease.DeadLetter
}

// adminDeadLetters lists the service's own work that failed too often.
func (s *Site) adminDeadLetters(r *http.Request, _ identity.Principal) (page.Page, error) {
	v := lettersView{adminView: viewOf(r, adminLettersPath)}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		v.Letters, err = lease.DeadLetters(r.Context(), tx, "", adminRows)
		return err
	})
	return page.Page{Template: "admin_letters", Title: "Dead letters", Content: v}, err
}

// resultsView is the content of the list of benchmark results.
type resultsView struct {
	adminView
	Latest []leaderboard.Row
	Hidden []leaderboard.Hidden
}

// adminResults lists the newest benchmark results, and those that are hidden.
func (s *Site) adminResults(r *http.Request, _ identity.Principal) (page.Page, error) {
	v := resultsView{adminView: viewOf(r, adminResultsPath)}
	latest, err := s.Board.Latest(r.Context(), adminRows)
	v.Latest = latest
	if err == nil {
		err = s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
			v.Hidden, err = leaderboard.HiddenResults(r.Context(), tx, adminRows)
			return err
		})
	}
	return page.Page{Template: "admin_results", Title: "Benchmark results", Content: v}, err
}

// adminKeysView is the content of the page of the service's keys.
type adminKeysView struct {
	adminView
	Signing []signing.Published
	Nodes   []identity.Key
	// New was made just now; nil for none. Its secret is shown this once.
	New     *identity.NewKey
	Problem *fault.Wire
	Name    string
}

// adminKeys lists the keys that sign receipts, and those of workers.
func (s *Site) adminKeys(r *http.Request, _ identity.Principal) (page.Page, error) {
	return s.adminKeysPage(r, adminKeysView{adminView: viewOf(r, adminKeysPath)})
}

func (s *Site) adminKeysPage(r *http.Request, v adminKeysView) (page.Page, error) {
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		if v.Signing, err = signing.All(r.Context(), tx); err != nil {
			return err
		}
		v.Nodes, err = identity.NodeKeys(r.Context(), tx)
		return err
	})
	return page.Page{Template: "admin_keys", Title: "Keys of the service", Content: v}, err
}

// createNodeKey makes a key for workers. It adds and ends nothing, so it does not ask; it is
// recorded. As with a workspace's keys, the answer shows the secret.
func (s *Site) createNodeKey(r *http.Request, who identity.Principal) (page.Page, error) {
	v := adminKeysView{adminView: viewOf(r, adminKeysPath), Name: strings.TrimSpace(r.PostForm.Get("name"))}
	by, err := operator.Person(who)
	if err != nil {
		return page.Page{}, err
	}
	var made identity.NewKey
	err = s.DB.Write(r.Context(), func(tx *db.Tx) error {
		return operator.CreateNodeKey(v.Name, &made).Perform(r.Context(), tx, by)
	})
	if err != nil {
		status, problem := page.Refused(err)
		if status >= http.StatusInternalServerError {
			return page.Page{}, err
		}
		v.Problem = problem
		p, err := s.adminKeysPage(r, v)
		p.Status = status
		return p, err
	}
	v.New, v.Name = &made, ""
	return s.adminKeysPage(r, v)
}

// actsView is the content of the record of acts.
type actsView struct {
	adminView
	Acts   []recorded
	Around page.Pager
}

// adminActs shows what operators did.
func (s *Site) adminActs(r *http.Request, _ identity.Principal) (page.Page, error) {
	v, around := actsView{adminView: viewOf(r, adminActsPath)}, page.Around{Before: r.URL.Query().Get("before")}
	err := s.DB.Read(r.Context(), func(tx *db.Tx) (err error) {
		acts, err := operator.Acts(r.Context(), tx, around.Before, adminRows+1)
		if v.Acts, err = recordOf(r.Context(), tx, acts, err); err != nil {
			return err
		}
		around.Newer, err = operator.NewerActs(r.Context(), tx, around.Before, adminRows)
		return err
	})
	v.Acts, around.Last = page.Ahead(v.Acts, adminRows, func(a recorded) string { return a.ActID })
	v.Around = page.PagerOf("acts", adminActsPath, nil, around)
	return page.Page{Template: "admin_acts", Title: "What operators did", Content: v}, err
}

// notThere is the page's answer to a code that only svc admin has.
func notThere(err error) error {
	if fault.Is(err, fault.WorkerNotFound) {
		return fault.New(fault.RouteNotFound, "There is no such worker.")
	}
	return err
}
