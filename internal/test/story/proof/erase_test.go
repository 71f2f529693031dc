package proof_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
)

// inspectPersonal uploads a scene under a personal name.
func inspectPersonal(c story.Caller, frames int) *client.Quote {
	c.T.Helper()
	first := 1
	q, err := c.Inspect(story.Patient(c.T), client.InspectRequest{
		Filename: story.Personal + ".blend", Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &frames,
	})
	if err != nil {
		c.T.Fatal(err)
	}
	return q
}

// startPersonal starts a job whose webhook has a personal address.
func startPersonal(c story.Caller, frames int, receiver string) *client.Job {
	c.T.Helper()
	q := inspectPersonal(c, frames)
	started, err := c.Start(story.Patient(c.T), q, client.StartRequest{LegalAcceptance: client.LegalV1, WebhookURL: receiver + "/" + story.Personal})
	if err != nil {
		c.T.Fatal(err)
	}
	return started
}

// personalPeople signs the owner in, by each way, and names keys.
func personalPeople(svc *story.Service) (workspaceID string, agentKey, accountKey identity.NewKey) {
	svc.T.Helper()
	email := story.Personal + "@example.com"
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		login := identity.Login{Issuer: "https://issuer.example.com", Subject: story.Personal, Email: email, EmailVerified: true}
		signedIn, err := identity.Domains{}.SignIn(ctx, tx, login, "")
		if err != nil {
			return err
		}
		workspaceID = signedIn.Person.WorkspaceID
		if _, err := identity.CreateSignInLink(ctx, tx, email); err != nil {
			return err
		}
		if agentKey, err = identity.CreateAgentKey(ctx, tx, workspaceID, identity.AgentTerms{Name: story.Personal + " agent"}); err != nil {
			return err
		}
		accountKey, err = identity.CreateAccountKey(ctx, tx, workspaceID, story.Personal+" account")
		return err
	})
	return workspaceID, agentKey, accountKey
}

// eraseWorkspace erases a workspace as the command does.
func eraseWorkspace(svc *story.Service, workspaceID string) error {
	var files erase.Files
	err := svc.App.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
		files, err = erase.Workspace(context.Background(), tx, workspaceID)
		return err
	})
	if err != nil {
		return err
	}
	return files.Remove(context.Background(), svc.App.Blobs)
}

// rowsOf prints every row of a table, in one order.
func rowsOf(t *testing.T, raw *sql.DB, table string) string {
	t.Helper()
	rows, err := raw.Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s: %s", table, values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// tables lists the tables of a service's database.
func tables(t *testing.T, raw *sql.DB, engine string) (names []string) {
	t.Helper()
	list := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if engine == "postgres" {
		list = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
	}
	rows, err := raw.Query(list)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// wantNothingPersonal looks for names in every cell of the database and for files.
func wantNothingPersonal(svc *story.Service, raw *sql.DB) {
	svc.T.Helper()
	for _, table := range tables(svc.T, raw, svc.App.DB.Engine()) {
		for line := range strings.Lines(rowsOf(svc.T, raw, table)) {
			if strings.Contains(line, story.Personal) {
				svc.T.Errorf("a name is left: %.300s", line)
			}
		}
	}
	for _, key := range svc.Files("") {
		svc.T.Errorf("a file is left: %s", key)
	}
}

// kept are the tables that an erasure must not touch.
func kept(t *testing.T, raw *sql.DB) (all string) {
	t.Helper()
	for _, table := range []string{"ledger_transaction", "ledger_posting", "wallet", "receipt_log", "receipt_log_leaf", "receipt_log_node", "signing_key"} {
		all += rowsOf(t, raw, table) + "\n"
	}
	return all
}

// operates has a person of the workspace be an operator, who freezes it, requires a tag of its
// workers and ends its job.
func operates(svc *story.Service, workspaceID, jobID string) {
	svc.T.Helper()
	svc.Write(func(ctx context.Context, tx *db.Tx) error {
		_, emails, err := identity.WorkspaceOf(ctx, tx, workspaceID)
		if err != nil {
			return err
		}
		act, err := operator.SetOperator(ctx, tx, emails[0], true)
		if err == nil {
			err = act.Perform(ctx, tx, operator.Account("root"))
		}
		if err != nil {
			return err
		}
		by, err := operator.Person(identity.Principal{Credential: identity.Credential{Email: emails[0]}, Operator: true})
		if err != nil {
			return err
		}
		if act, err = operator.FreezeWorkspace(ctx, tx, workspaceID, story.Personal+" does not pay"); err == nil {
			err = act.Perform(ctx, tx, by)
		}
		if err != nil {
			return err
		}
		if act, err = operator.RequireTags(ctx, tx, workspaceID, []string{story.Personal}); err == nil {
			err = act.Perform(ctx, tx, by)
		}
		if err != nil {
			return err
		}
		if act, err = operator.FailJob(ctx, tx, svc.App.Jobs(svc.App.Links(svc.URL)), jobID, story.Personal+" breaks our terms"); err == nil {
			err = act.Perform(ctx, tx, by)
		}
		return err
	})
}

// TestAnErasedWorkspaceLeavesNoNameAndNoFileButItsLedgerAndItsLeaves has every kind of row
// and file made by a workspace, and erases it.
func TestAnErasedWorkspaceLeavesNoNameAndNoFileButItsLedgerAndItsLeaves(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		receiver := story.NewWebhookReceiver(t)
		config.Webhooks = story.Trusting(receiver.PEM)
		svc := story.Start(t, config)
		raw := rawDatabase(t, svc.App.Config.DatabaseURL())
		workspaceID, agent, account := personalPeople(svc)
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			return wallet.Credit(ctx, tx, workspaceID, "opening", story.Credit)
		})
		c := story.Caller{Client: story.NewClient(t, svc.URL, agent.Secret), T: t, Workspace: workspaceID}
		c.Post(svc.URL+"/v1/webhook-endpoints", account.Secret, `{"url":"`+receiver.Address+`/`+story.Personal+`","description":"`+story.Personal+`"}`)

		manual := svc.ManualWorker()
		done := startPersonal(c, 2, receiver.Address)
		got, err := manual.LeaseOne(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = manual.Fail(t.Context(), farmapi.FailRequest{
			WorkerID: manual.ID, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "blender_crashed", Message: story.Personal + ".blend is broken", Log: "read " + story.Personal,
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := svc.Worker(&story.Painter{})
		done = c.Await(done.JobID, client.StatusCompleted)
		stop()
		proof := c.Proven(done)
		zip := c.VerifiedZIP(done)
		if _, err := c.ContactSheet(story.Patient(t), done.JobID); err != nil {
			t.Fatal(err)
		}
		in := &intake.Intake{DB: svc.App.DB, Blobs: svc.App.Blobs, Envelope: svc.App.Config.Envelope}
		if _, err := in.Await(t.Context(), workspaceID, "https://files.example.com/"+story.Personal+".blend"); err != nil {
			t.Fatal(err)
		}

		waiting := c.Post(svc.URL+"/v1/renders", account.Secret, `{"upload_id":"`+inspectPersonal(c, 1).UploadID+`"}`)["job_id"].(string)
		if err := eraseWorkspace(svc, workspaceID); !fault.Is(err, fault.JobsNotEnded) {
			t.Fatalf("a workspace whose job waits: %v", err)
		}
		c.VerifiedZIP(done) // nothing has gone
		operates(svc, workspaceID, waiting)
		svc.Audit()
		before := kept(t, raw)
		for _, table := range []string{
			"person", "person_login", "workspace", "account_key", "agent_key", "sign_in_link", "upload", "project", "awaited_upload", "job", "failed_attempt",
			"idempotency", "webhook_endpoint", "webhook_event", "operator_act", "workspace_freeze", "pool",
		} {
			if !strings.Contains(rowsOf(t, raw, table), story.Personal) {
				t.Errorf("the story writes no name into %s", table)
			}
		}

		for range 2 { // the second changes nothing
			if err := eraseWorkspace(svc, workspaceID); err != nil {
				t.Fatal(err)
			}
			wantNothingPersonal(svc, raw)
			if left := rowsOf(t, raw, "receipt"); left != "" {
				t.Errorf("a receipt is left: %.300s", left)
			}
			svc.Audit()
			if after := kept(t, raw); after != before {
				t.Errorf("the ledger and the log were\n%s\nand are\n%s", before, after)
			}
		}
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			plan, err := erase.Check(ctx, tx, workspaceID)
			if plan.ErasedAt.IsZero() || plan.People != 0 || plan.AvailableCents != story.Credit-2 {
				t.Errorf("it is erased, and says %+v", plan)
			}
			return err
		})

		// Its keys open nothing, its receipts are on no page, and anyone who kept them has
		// proof.
		story.Get(t, http.MethodGet, svc.URL+"/v1/renders/"+done.JobID+"/receipt", http.Header{"Authorization": {"Bearer " + account.Secret}}).Want(t, http.StatusUnauthorized, "")
		var members struct {
			ReceiptID string `json:"receipt_id"`
		}
		if err := json.Unmarshal(proof.Receipt.Members, &members); err != nil || members.ReceiptID == "" {
			t.Fatalf("the receipt has no id: %v", err)
		}
		if _, err := svc.App.Jobs(svc.App.Links(svc.URL)).Public(t.Context(), members.ReceiptID); err == nil {
			t.Error("an erased receipt is public")
		}
		if _, _, err := svc.App.Jobs(svc.App.Links(svc.URL)).Receipt(t.Context(), workspaceID, done.JobID); err == nil || !strings.Contains(err.Error(), "artifact_expired") {
			t.Errorf("an erased receipt is answered with %v", err)
		}
		if checks, err := client.Verify(proof.Receipt, proof.Keys, bytes.NewReader(zip), int64(len(zip))); err != nil {
			t.Errorf("a kept receipt: %v, %+v", err, checks)
		}
		if checks, err := client.VerifyLog(proof.Receipt, proof.Proof, proof.Keys, nil); err != nil {
			t.Errorf("a kept proof: %v, %+v", err, checks)
		}

		// A backup is complete without what was erased, and the service continues, for its
		// person too.
		folder := filepath.Join(t.TempDir(), "backup")
		if _, breaches, err := app.Backup(t.Context(), svc.App.Config, folder, func(string, int64, int64) {}); err != nil {
			t.Errorf("a backup: %v, %v", err, breaches)
		}
		svc.Completed(svc.Caller(story.Credit))
		if again, _, _ := personalPeople(svc); again == workspaceID {
			t.Error("the address came back to its erased workspace")
		}
		apptest.Audit(t, svc.App)
	})
}

// TestTheFilesOfAnErasedWorkspaceGoAfterACrash ends the erasure after its commit: the next
// run removes frames and ZIPs, and the sweep the content that no row names any more.
func TestTheFilesOfAnErasedWorkspaceGoAfterACrash(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Completed(c)
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			_, err := erase.Workspace(ctx, tx, c.Workspace)
			return err
		})
		svc.Stored("artifacts")
		if err := eraseWorkspace(svc, c.Workspace); err != nil {
			t.Fatal(err)
		}
		for _, path := range svc.Stored("") {
			if !strings.Contains(path, "uploads") {
				t.Errorf("the second run left %s", path)
			}
		}
		pass(25 * time.Hour)
		swept := artifact.Artifacts{DB: svc.App.DB, Blobs: svc.App.Blobs}
		if n, err := swept.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("%d files are swept: %v", n, err)
		}
		wantNothingPersonal(svc, rawDatabase(t, svc.App.Config.DatabaseURL()))
	})
}

// TestARequestThatOutlivesItsWorkspaceAddsNothing stores a file that was received before
// the erasure, and makes a key.
func TestARequestThatOutlivesItsWorkspaceAddsNothing(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		in := &intake.Intake{DB: svc.App.DB, Blobs: svc.App.Blobs, Envelope: svc.App.Config.Envelope}
		received, err := in.Receive(t.Context(), c.Workspace, intake.File{Name: story.Personal + ".blend", Body: bytes.NewReader(demo.Scene())})
		if err != nil {
			t.Fatal(err)
		}
		if err := eraseWorkspace(svc, c.Workspace); err != nil {
			t.Fatal(err)
		}
		_, stored := received.Quote(t.Context(), quote.RequestedFrames{}, nil)
		made := svc.App.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := identity.CreateAgentKey(t.Context(), tx, c.Workspace, identity.AgentTerms{Name: story.Personal})
			return err
		})
		for _, err := range []error{stored, made} {
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.WorkspaceNotFound {
				t.Errorf("the request is answered with %v", err)
			}
		}
		wantNothingPersonal(svc, rawDatabase(t, svc.App.Config.DatabaseURL()))
	})
}
