package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/id"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/test/s3test"
	"svc.example/internal/test/stripetest"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/payment"
	"svc.example/internal/work/payment/stripeapi"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/testmode"
)

// What a command line needs before it runs.

// own gives the run a workspace of its own, with so many cents.
func own(cents int64) func(*take) {
	return func(r *take) {
		w := (&apptest.World{App: r.app, URL: r.url}).Workspace(r.t, cents)
		r.env["SVC_KEY"], r.names["OWN-KEY"] = w.Agent.Secret, w.Agent.KeyID
		r.names["ACCOUNT"], r.names["OWN-WORKSPACE"] = w.Account.Secret, w.ID
	}
}

// ownJob gives the run a queued job of a workspace of its own.
func ownJob(r *take) {
	own(100)(r)
	c, err := client.New(r.url, r.env["SVC_KEY"])
	if err != nil {
		r.t.Fatal(err)
	}
	jobID := r.order(c, 2)
	r.names["JOB"] = jobID
	r.t.Cleanup(func() { _, _ = c.Cancel(context.Background(), jobID) }) // no later run finds it waiting
}

// ownCompleted is ownJob where a worker is there.
func ownCompleted(r *take) {
	ownJob(r)
	c, err := client.New(r.url, r.env["SVC_KEY"])
	if err != nil {
		r.t.Fatal(err)
	}
	r.ended(c, r.names["JOB"])
}

// accountKey has the run use an account key.
func accountKey(r *take) { r.env["SVC_KEY"] = r.main.Account.Secret }

// ownAccount gives the run a workspace of its own, and its account key.
func ownAccount(r *take) {
	own(100)(r)
	r.env["SVC_KEY"] = r.names["ACCOUNT"]
}

// testKey has the run use an agent key of test mode.
func testKey(r *take) {
	ownAccount(r)
	r.write(func(ctx context.Context, tx *db.Tx) error {
		made, err := identity.CreateAgentKey(ctx, tx, r.names["OWN-WORKSPACE"], identity.AgentTerms{Name: "tests", Test: true})
		r.env["SVC_KEY"] = made.Secret
		return err
	})
}

// testReceipt gives the run the receipt of a job of test mode, in the folder tested.
func testReceipt(r *take) {
	testKey(r)
	r.must("render scene.blend --frames 1-2 --out tested --yes")
}

// noKey takes the key away.
func noKey(r *take) { delete(r.env, "SVC_KEY") }

// ownStore gives the run a copy of the store.
func ownStore(r *take) {
	r.env["SVC_DATA"] = r.folder + "/data"
	if err := os.CopyFS(r.env["SVC_DATA"], os.DirFS(r.admin)); err != nil {
		r.t.Fatal(err)
	}
}

// noStore gives the run a data folder that is not there yet.
func noStore(r *take) { r.env["SVC_DATA"] = r.folder + "/data" }

// nodeKey has the run use a worker's key.
func nodeKey(r *take) { r.env["SVC_KEY"] = r.nodeKey("rack-9").Secret }

func wrongNodeKey(r *take) { r.env["SVC_KEY"] = "svc_node_" + strings.Repeat("0", 43) }

func wrongKey(r *take) { r.env["SVC_KEY"] = "svc_agent_" + strings.Repeat("0", 43) }

// profiles gives the run two profiles.
func profiles(r *take) {
	for _, line := range []string{
		"config set server https://render.example.com", "config set key svc_agent_AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK",
		"config set key svc_AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKK", "config set server http://studio:8080 --profile studio",
	} {
		r.must(line)
	}
}

// operated is ownStore after an operator has been made and a workspace frozen.
func operated(r *take) {
	ownStore(r)
	r.must("admin person operator --email {EMAIL} --yes")
	r.must("admin workspace freeze {WORKSPACE} --reason 'a payment is disputed' --yes")
}

// crashed is ownStore where a process was running and fell silent.
func crashed(r *take) {
	ownStore(r)
	d, err := db.Open(context.Background(), db.Config{URL: r.env["SVC_DATA"] + "/svc.db", Skew: func() time.Duration { return -10 * time.Minute }})
	if err == nil {
		err = errors.Join(d.Write(context.Background(), func(tx *db.Tx) error {
			if err := tx.ProcessesForget(context.Background(), tx.Now*2); err != nil {
				return err
			}
			return tx.ProcessSeen(context.Background(), query.ProcessSeenParams{ProcessID: id.New(id.Process), Host: "rack-1", Version: "v1.2.3", Schema: 60, Now: tx.Now})
		}), d.Close())
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// differing is ownStore where a reused frame was rendered again and showed something else.
func differing(r *take) {
	ownStore(r)
	class := reuse.Class{Renderer: "blender", Device: "GPU", DeviceName: "NVIDIA L4", BlenderVersion: "4.1.1", BuildHash: "e1743a0317bc"}
	r.names["CLASS"] = class.ID()
	inStore(r, func(ctx context.Context, tx *db.Tx) error {
		_, same := reuse.Compared(ctx, tx, class, true)
		_, different := reuse.Compared(ctx, tx, class, false)
		return errors.Join(same, different)
	})
}

// joining is ownStore where a domain is claimed.
func joining(r *take) {
	ownStore(r)
	inStore(r, func(ctx context.Context, tx *db.Tx) error {
		const issuer = "https://id.example.com"
		domains := identity.Domains{Issuer: issuer}
		o, err := domains.SignIn(ctx, tx, identity.Login{Issuer: issuer, Subject: "1", Email: "owner@studio.example", EmailVerified: true}, "")
		if err != nil {
			return err
		}
		who := identity.Principal{WorkspaceID: o.Person.WorkspaceID, Credential: identity.Credential{PersonID: o.Person.PersonID}}
		return domains.Claim(ctx, tx, who, identity.Viewer)
	})
}

// troubled is ownStore where something is wrong.
func troubled(r *take) {
	ownStore(r)
	inStore(r, func(ctx context.Context, tx *db.Tx) error {
		return tx.OperatorAlertAdd(ctx, query.OperatorAlertAddParams{Name: "no_worker", Now: tx.Now})
	})
}

// inStore writes into the store of a run.
func inStore(r *take, write func(ctx context.Context, tx *db.Tx) error) {
	ctx := context.Background()
	d, err := db.Open(ctx, db.Config{URL: r.env["SVC_DATA"] + "/svc.db"})
	if err == nil {
		err = errors.Join(d.Write(ctx, func(tx *db.Tx) error { return write(ctx, tx) }), d.Close())
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// twoSigningKeys is ownStore after a rotation.
func twoSigningKeys(r *take) {
	ownStore(r)
	var list struct {
		Keys []struct {
			ID string `json:"key_id"`
		} `json:"signing_keys"`
	}
	if err := json.Unmarshal(r.must("admin signing-key list --json"), &list); err != nil {
		r.t.Fatal(err)
	}
	r.names["FIRST"] = list.Keys[0].ID
	r.must("admin signing-key rotate --yes")
}

// toS3 is ownStore with an S3 store for its files.
func toS3(r *take) {
	ownStore(r)
	r.env["SVC_TO_BLOBS"] = s3test.Address(r.t)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		r.env[name] = os.Getenv(name)
	}
}

// nothingRuns is ownStore without a job that has not ended.
func nothingRuns(r *take) {
	ownStore(r)
	r.must("admin job cancel {QUEUED} --yes")
}

// hidden is ownStore with the benchmark result hidden.
func hidden(r *take) {
	ownStore(r)
	r.must("admin leaderboard hide {RESULT} --reason 'its clock was wrong' --yes")
}

// payable is ownStore with a payment provider, which has no payments.
func payable(r *take) {
	ownStore(r)
	r.env["SVC_STRIPE_KEY"], r.env["SVC_STRIPE_URL"] = stripetest.Key, stripetest.New(r.t).URL
}

// unknownPage is payable with a payment that the store does not know.
func unknownPage(r *take) {
	payable(r)
	order := payment.Order{TopUpID: "TOP-00000000000000000000000000000000", AmountCents: 2500, SuccessURL: "https://renders.example.com/"}
	if _, err := stripeapi.New(stripetest.Key, r.env["SVC_STRIPE_URL"], "credit").Create(r.t.Context(), order); err != nil {
		r.t.Fatal(err)
	}
}

// tested is ownStore with a test world.
func tested(r *take) {
	ownStore(r)
	d, err := db.Open(r.t.Context(), db.Config{URL: app.Config{Data: r.env["SVC_DATA"]}.DatabaseURL()})
	if err != nil {
		r.t.Fatal(err)
	}
	err = d.Write(r.t.Context(), func(tx *db.Tx) error { return testmode.Use(r.t.Context(), tx, r.names["WORKSPACE"], 1) })
	if err = errors.Join(err, d.Close()); err != nil {
		r.t.Fatal(err)
	}
	at := r.env["SVC_DATA"] + "/test/" + r.names["WORKSPACE"]
	if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(at+"/svc.db", make([]byte, 3<<20), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// unsound is ownStore with money that came from nowhere.
func unsound(r *take) {
	ownStore(r)
	damage := "UPDATE wallet SET available_cents = available_cents + 1"
	if _, err := dbtest.Raw(r.t, app.Config{Data: r.env["SVC_DATA"]}.DatabaseURL()).Exec(damage); err != nil {
		r.t.Fatal(err)
	}
}

// heldStore is ownStore in PostgreSQL with the benchmark results locked: every reader
// waits for as long as the test lasts.
func heldStore(r *take) {
	noStore(r)
	database := dbtest.URL(r.t, "postgres")
	to := app.Config{Data: r.env["SVC_DATA"], Database: database, Log: slog.New(slog.DiscardHandler)}
	if _, _, err := app.Restore(r.t.Context(), to, r.admin, func(string, int64, int64) {}); err != nil {
		r.t.Fatal(err)
	}
	r.hold(database)
}

// heldDatabase gives the run an empty data folder, and an empty PostgreSQL in which
// that table is locked.
func heldDatabase(r *take) {
	noStore(r)
	r.hold(dbtest.URL(r.t, "postgres"))
}

// hold holds a table of a database until the test ends, and gives that to the run.
func (r *take) hold(database string) {
	r.t.Helper()
	r.env["SVC_DATABASE"] = database
	pool := dbtest.Raw(r.t, database)
	holder, err := pool.Begin()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = holder.Rollback() })
	if _, err := holder.Exec("LOCK TABLE benchmark_receipt IN ACCESS EXCLUSIVE MODE"); err != nil {
		r.t.Fatal(err)
	}
	r.ready = func() {
		await.Until(r.t, "a waiter for the table", func() bool {
			var waiting int
			err := pool.QueryRow(`SELECT count(*) FROM pg_locks
				WHERE NOT granted AND relation = 'benchmark_receipt'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&waiting)
			return err == nil && waiting > 0
		})
	}
}

// heldLog gives the run a service that never answers with a tile of the log.
func heldLog(r *take) {
	service, err := url.Parse(r.url)
	if err != nil {
		r.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(service)
	held := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.Contains(q.URL.Path, "/tile/") {
			<-q.Context().Done()
			return
		}
		proxy.ServeHTTP(w, q)
	}))
	r.t.Cleanup(held.Close)
	r.env["SVC_SERVER"] = held.URL
}

// must runs a line before the one that is shown.
func (r *take) must(line string) []byte {
	r.t.Helper()
	said, err := r.command(line).Output()
	if err != nil {
		r.t.Fatalf("svc %s: %v: %s", line, err, said)
	}
	return said
}
