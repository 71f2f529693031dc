package web_test

import (
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/wallet"
)

// operatorOf signs in a person who operates the service.
func operatorOf(t *testing.T, w *apptest.World) *person {
	t.Helper()
	return operating(t, w, personOf(t, w, 0))
}

// operating makes a person an operator.
func operating(t *testing.T, w *apptest.World, p *person) *person {
	t.Helper()
	err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := identity.SetOperator(t.Context(), tx, p.Email, true)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// confirm sends a form and then the yes of the page that asks.
func (p *person) confirm(fields ...string) (asked, done seen) {
	p.t.Helper()
	asked = p.submit("/admin/acts", fields...).want(p.t, http.StatusOK, "This will ", "Yes, do it")
	return asked, p.submit("/admin/acts", append(fields, "reference", asked.hidden(p.t, "reference"), "yes", "yes")...)
}

// operatorPaths are the pages of operators.
var operatorPaths = []string{
	"/admin", "/admin/jobs", "/admin/workers", "/admin/workspaces", "/admin/dead-letters", "/admin/results", "/admin/keys", "/admin/acts", "/admin/usage", "/admin/usage.csv", "/admin/invoices", "/admin/invoices/INV-000001",
	"/admin/jobs/JOB-0", "/admin/workers/NOD-0", "/admin/workspaces/WSP-0",
}

func TestOperatorsPagesAreNotThereForOthers(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	other, stranger := personOf(t, w, 100), &person{t: t, base: w.URL}
	for _, path := range operatorPaths {
		if got := other.open(path); got.status != http.StatusNotFound || strings.Contains(got.text, "Dead letters") {
			t.Errorf("%s for a person who is not an operator: %d", path, got.status)
		}
		if got := stranger.open(path); got.status != http.StatusUnauthorized || strings.Contains(got.text, "Dead letters") {
			t.Errorf("%s without a session: %d", path, got.status)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+other.Account.Secret)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s with an account key: %d", path, res.StatusCode)
		}
	}
	credit := []string{"act", "credit", "subject", other.ID, "amount", "10", "reference", "mine", "yes", "yes"}
	other.submit("/admin/acts", credit...).want(t, http.StatusNotFound)
	other.submit("/admin/keys", "name", "mine").want(t, http.StatusNotFound)
	stranger.submit("/admin/acts", credit...).want(t, http.StatusUnauthorized)
	other.open("/console/wallet").want(t, http.StatusOK, "$1.00")
	if strings.Contains(other.open("/console").text, `href="/admin"`) {
		t.Error("the console leads a person who is not an operator to the operators' pages")
	}
}

// An act that a page of another site sends with the operator's cookie is refused.
func TestNoActIsTakenFromAnotherSite(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := operatorOf(t, w)
	from := func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
	}
	body := "act=credit&amount=10&reference=x&yes=yes&subject=" + p.ID
	p.ask(http.MethodPost, "/admin/acts", "application/x-www-form-urlencoded", strings.NewReader(body), from).want(t, http.StatusForbidden)
	p.ask(http.MethodPost, "/admin/keys", "application/x-www-form-urlencoded", strings.NewReader("name=x"), from).want(t, http.StatusForbidden)
}

func TestAnActIsAskedForDoneOnceAndRecorded(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p, tenant := operatorOf(t, w), personOf(t, w, 100)
	page := "/admin/workspaces/" + tenant.ID
	named := `Workspace: <a href="` + page + `">` + tenant.Email + `</a>`
	p.open(page).want(t, http.StatusOK, tenant.Email, "$1.00", "Add credit")

	asked := p.submit("/admin/acts", "act", "credit", "subject", tenant.ID, "amount", "10", "back", page).want(t, http.StatusOK, "This will add $10.00", "which has $1.00 available", named)
	tenant.open("/console/wallet").want(t, http.StatusOK, "$1.00") // asking moves nothing
	yes := []string{"act", "credit", "subject", tenant.ID, "amount", "10", "back", page, "reference", asked.hidden(t, "reference"), "yes", "yes"}
	for range 2 { // a yes that is sent twice credits once
		p.submit("/admin/acts", yes...).want(t, http.StatusOK, "Done, and", "$11.00")
	}
	tenant.open("/console/wallet").want(t, http.StatusOK, "$11.00")
	_, kept := p.confirm("act", "retention", "subject", tenant.ID, "amount", "7", "back", page)
	kept.want(t, http.StatusOK, `max="365" required value="7"`)
	p.submit("/admin/acts", "act", "retention", "subject", tenant.ID, "amount", "366").want(t, http.StatusBadRequest, "must be 1 to 365")
	limiting, limited := p.confirm("act", "limit", "subject", tenant.ID, "amount", "500", "back", page)
	limiting.want(t, http.StatusOK, "at most $500.00")
	limited.want(t, http.StatusOK, `value="500.00" placeholder="no limit"`)
	unlimiting, unlimited := p.confirm("act", "limit", "subject", tenant.ID, "amount", "", "back", page)
	unlimiting.want(t, http.StatusOK, "without a daily limit")
	unlimited.want(t, http.StatusOK, `value="" placeholder="no limit"`)
	_, tagged := p.confirm("act", "tags", "subject", tenant.ID, "amount", "studio-b rtx", "back", page)
	tagged.want(t, http.StatusOK, `value="rtx studio-b"`)
	_, bounded := p.confirm("act", "frames", "subject", tenant.ID, "amount", "8", "back", page)
	bounded.want(t, http.StatusOK, `min="0" required value="8"`)
	p.submit("/admin/acts", "act", "tags", "subject", tenant.ID, "amount", "RTX").want(t, http.StatusBadRequest, "is no tag")
	p.submit("/admin/acts", "act", "limit", "subject", tenant.ID, "amount", "-1").want(t, http.StatusBadRequest, "must be an amount in US dollars")
	p.open("/admin/acts").want(t, http.StatusOK, p.Email, "add $10.00 to the wallet of "+tenant.ID, named)
}

func TestAFrozenWorkspaceReadsWhyItStartsNothing(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p, tenant := operatorOf(t, w), personOf(t, w, 100)
	p.submit("/admin/acts", "act", "freeze", "subject", tenant.ID, "reason", " ").want(t, http.StatusBadRequest, "It cannot be done", "reason")
	if _, done := p.confirm("act", "freeze", "subject", tenant.ID, "reason", "Its card was <b>stolen</b>.", "back", "/admin/workspaces/"+tenant.ID); !strings.Contains(done.text, "Frozen since") || strings.Contains(done.text, "<b>stolen") {
		t.Errorf("the workspace's page says %s", done.text)
	}
	priced := tenant.upload("demo.blend", demo.Scene())
	start := []string{"quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance}
	tenant.submit(priced.path+"/start", start...).want(t, http.StatusForbidden, "Its card was &lt;b&gt;stolen&lt;/b&gt;.")
	tenant.open(priced.path).want(t, http.StatusOK, "This workspace is frozen and cannot start jobs.", `<button class="big" disabled>`)
	tenant.open("/console/new").want(t, http.StatusOK, "This workspace is frozen and cannot start jobs.")
	tenant.submit(priced.path+"/look").want(t, http.StatusForbidden, "This workspace is frozen")
	tenant.open("/console").want(t, http.StatusOK)
	p.confirm("act", "unfreeze", "subject", tenant.ID)
	tenant.submit(priced.path+"/start", start...).want(t, http.StatusOK, "queued")
}

func TestAnOperatorEndsAnyJobAndItsOwnerReadsWhy(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p, tenant := operatorOf(t, w), personOf(t, w, 100)
	priced := tenant.upload("demo.blend", demo.Scene())
	begun := tenant.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusOK)
	jobID := strings.TrimPrefix(begun.path, "/console/jobs/")
	page := "/admin/jobs/" + jobID
	p.open("/admin/jobs?q="+jobID).want(t, http.StatusOK, "End this job", `<a href="/admin/workspaces/`+tenant.ID+`">`+tenant.Email+"</a>")
	p.open("/admin/jobs?q="+tenant.ID).want(t, http.StatusOK, jobID)
	p.open("/admin/jobs?status=failed&q="+tenant.ID).want(t, http.StatusOK, "No job matches.")
	_, paused := p.confirm("act", "pause", "subject", jobID, "reason", "Its scene is examined.", "back", page)
	paused.want(t, http.StatusOK, "paused by the operator", "Its scene is examined.", "Resume the job")
	tenant.open(begun.path).want(t, http.StatusOK, "Paused by the operator of this service")
	tenant.submit(begun.path+"/resume").want(t, http.StatusConflict, "An operator has paused")
	_, resumed := p.confirm("act", "resume", "subject", jobID, "back", page)
	resumed.want(t, http.StatusOK, "Pause the job")
	_, ranked := p.confirm("act", "priority", "subject", jobID, "amount", "80", "back", page)
	ranked.want(t, http.StatusOK, `value="80"`, "the priority 80")
	tenant.submit(begun.path+"/pause").want(t, http.StatusOK, "Paused", "Resume</button>")
	tenant.submit(begun.path+"/resume").want(t, http.StatusOK, "Pause</button>")
	tenant.submit(begun.path+"/priority", "priority", "20").want(t, http.StatusOK, `value="20"`)
	tenant.submit(begun.path+"/priority", "priority", "first").want(t, http.StatusBadRequest, "must be a number")
	_, done := p.confirm("act", "fail", "subject", jobID, "reason", "The scene breaks our terms.", "back", page)
	done.want(t, http.StatusOK, "ended_by_operator", "The scene breaks our terms.", "created by a person", "<code>req_", "released")
	tenant.open(begun.path).want(t, http.StatusOK, "The scene breaks our terms.", "not charged")
	p.submit("/admin/acts", "act", "fail", "subject", jobID, "reason", "again", "yes", "yes").want(t, http.StatusConflict, "has already ended")
	p.submit("/admin/acts", "act", "refund", "subject", jobID, "amount", "1", "reference", "r", "yes", "yes").want(t, http.StatusBadRequest, "nothing to refund")
}

// Each act answers a thing that is not there with a page, and does nothing.
func TestActsOnWhatIsNotThereAreRefused(t *testing.T) {
	t.Parallel()
	p := operatorOf(t, worlds.On(t, "sqlite"))
	for _, act := range []string{"drain", "undrain", "forget", "fail", "any-blender", "pause", "resume", "priority", "credit", "refund", "freeze", "unfreeze", "limit", "tags", "frames", "retention", "requeue", "hide", "show", "revoke", "end-key"} {
		got := p.submit("/admin/acts", "act", act, "subject", "nothing", "reason", "why", "amount", "1", "reference", "r-"+act, "yes", "yes", "back", "https://evil.example/")
		if got.status < 400 || got.status >= 500 || !strings.Contains(got.text, "It cannot be done") || strings.Contains(got.text, `href="https://evil.example`) {
			t.Errorf("%s: %d, %s", act, got.status, got.text)
		}
	}
	p.submit("/admin/acts", "act", "dance").want(t, http.StatusBadRequest)
	p.submit("/admin/acts", "act", "credit", "subject", p.ID, "amount", "-1").want(t, http.StatusBadRequest, "amount")
	p.submit("/admin/acts", "act", "credit", "subject", p.ID).want(t, http.StatusBadRequest, "amount")
	p.open("/admin/workers/NOD-0").want(t, http.StatusNotFound)
	p.open("/admin/jobs/JOB-0").want(t, http.StatusNotFound)
	p.open("/admin/workspaces/WSP-0").want(t, http.StatusNotFound)
	p.open("/admin/workspaces?q=nobody").want(t, http.StatusBadRequest, "Find")
}

// The operators' lists show workers with their states, results, keys and dead letters, and
// each has the form of its act.
func TestOperatorsSeeAndChangeTheFarm(t *testing.T) {
	t.Parallel()
	started, base := apptest.Start(t, app.Config{AllowSynthetic: true})
	w := &apptest.World{App: started, URL: base}
	p := operatorOf(t, w)
	p.open("/admin").want(t, http.StatusOK, "Nobody has audited this service yet", "No job is rendering", "Processes", "running</td>")
	p.open("/admin/results").want(t, http.StatusOK, "Nobody has submitted a result yet")
	p.open("/admin/dead-letters").want(t, http.StatusOK, "No dead letters")
	p.open("/admin/workers").want(t, http.StatusOK, "No worker was seen in the last 24 hours")
	made := p.submit("/admin/keys", "name", "farm 1").want(t, http.StatusOK, "svc_node_", "shown only once")
	if strings.Contains(p.open("/admin/keys").want(t, http.StatusOK, "farm 1").text, strings.Split(strings.SplitN(made.text, "SVC_KEY=", 2)[1], " ")[0]) {
		t.Error("the secret of a key is shown twice")
	}
	p.submit("/admin/keys", "name", "").want(t, http.StatusBadRequest)
	workerID := registered(t, w, "farm 2")
	p.open("/admin/workers").want(t, http.StatusOK, "farm 2")
	page := "/admin/workers/" + workerID
	_, drained := p.confirm("act", "drain", "subject", workerID, "back", page)
	drained.want(t, http.StatusOK, "drained", "Give it frames again")
	_, back := p.confirm("act", "undrain", "subject", workerID, "back", page)
	back.want(t, http.StatusOK, "Drain</button>")
	p.submit("/admin/acts", "act", "forget", "subject", workerID, "yes", "yes").want(t, http.StatusConflict, "is online")
	p.open("/admin/acts").want(t, http.StatusOK, "no more frames", "frames again", "create a key for workers")
}

// Operators read the names of workspaces, not their ids, and each name leads to its workspace.
func TestOperatorsReadTheNamesOfWorkspaces(t *testing.T) {
	t.Parallel()
	started, base := apptest.Start(t, app.Config{AllowSynthetic: true})
	w := &apptest.World{App: started, URL: base}
	p, tenant := operatorOf(t, w), personOf(t, w, 100)
	tenant.submit("/console/settings/name", "name", "Studio Nine").want(t, http.StatusOK, "Studio Nine")
	priced := tenant.upload("demo.blend", demo.Scene())
	tenant.submit(priced.path+"/start", "quote_id", priced.hidden(t, "quote_id"), "terms", contract.LegalAcceptance).want(t, http.StatusOK)
	link := `<a href="/admin/workspaces/` + tenant.ID + `">Studio Nine</a>`
	overview := p.open("/admin").want(t, http.StatusOK, "Waiting workspaces", link+` <span class="n">24 frames`, "Busiest callers", `<th scope="row">`+link)
	if strings.Contains(overview.text, ">"+tenant.ID+"<") {
		t.Error("the overview shows the id of a workspace in place of its name")
	}
	p.open("/admin/jobs").want(t, http.StatusOK, link)
}

// registered is a worker that has come online.
func registered(t *testing.T, w *apptest.World, name string) (workerID string) {
	t.Helper()
	err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		key, err := identity.CreateNodeKey(t.Context(), tx, name)
		if err != nil {
			return err
		}
		workerID = id.New(id.Node)
		return dispatch.AddWorker(t.Context(), tx, dispatch.Worker{
			WorkerID: workerID, KeyID: key.KeyID, Name: name, Renderer: contract.SyntheticRenderer, BlenderVersion: "4.1.1", Device: "CPU", DeviceName: "a CPU",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return workerID
}

// A key that is no operator's acts by no way: the rule is in the act.
func TestAnActNeedsAnOperator(t *testing.T) {
	t.Parallel()
	w := worlds.On(t, "sqlite")
	p := personOf(t, w, 100)
	err := w.App.DB.Write(t.Context(), func(tx *db.Tx) error {
		act, err := operator.Credit(t.Context(), tx, p.ID, wallet.NewReference(), 100)
		if err == nil {
			err = act.Perform(t.Context(), tx, operator.Actor{})
		}
		return err
	})
	if err == nil {
		t.Error("no wallet was credited")
	}
}
