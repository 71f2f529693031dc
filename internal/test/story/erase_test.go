package story_test

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
	"svc.example/internal/work/artifact"
	"svc.example/internal/work/erase"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/intake"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/quote"
	"svc.example/internal/work/wallet"
)

// personal is part of every name that the story's workspace gives to something.
const personal = "annas-kitchen"

// inspectPersonal uploads a scene under a personal name.
func (c caller) inspectPersonal(frames int) *client.Quote {
	c.t.Helper()
	first := 1
	q, err := c.Inspect(patient(c.t), client.InspectRequest{
		Filename: personal + ".blend", Body: bytes.NewReader(demo.Scene()), FrameStart: &first, FrameEnd: &frames,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return q
}

// startPersonal starts a job whose webhook has a personal address.
func (c caller) startPersonal(frames int, receiver string) *client.Job {
	c.t.Helper()
	q := c.inspectPersonal(frames)
	started, err := c.Start(patient(c.t), q.UploadID, q.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1, WebhookURL: receiver + "/" + personal})
	if err != nil {
		c.t.Fatal(err)
	}
	return started
}

// post sends JSON with a key, under an idempotency key, and returns the answer.
func (c caller) post(path, secret, body string) (answer map[string]any) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(patient(c.t), http.MethodPost, path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "Idempotency-Key": {personal}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode >= 300 {
		c.t.Fatalf("%s: %d, %v, %v", path, res.StatusCode, answer, err)
	}
	return answer
}

// personalPeople signs the owner in, by each way, and names keys.
func (svc *service) personalPeople() (workspaceID string, agentKey, accountKey identity.NewKey) {
	svc.t.Helper()
	email := personal + "@example.com"
	svc.write(func(ctx context.Context, tx *db.Tx) error {
		login := identity.Login{Issuer: "https://issuer.example.com", Subject: personal, Email: email, EmailVerified: true}
		signedIn, err := identity.SignInByIssuer(ctx, tx, login, "")
		if err != nil {
			return err
		}
		workspaceID = signedIn.Person.WorkspaceID
		if _, err := identity.CreateSignInLink(ctx, tx, email); err != nil {
			return err
		}
		if agentKey, err = identity.CreateAgentKey(ctx, tx, workspaceID, identity.AgentTerms{Name: personal + " agent"}); err != nil {
			return err
		}
		accountKey, err = identity.CreateAccountKey(ctx, tx, workspaceID, personal+" account")
		return err
	})
	return workspaceID, agentKey, accountKey
}

// erase erases a workspace as the command does.
func (svc *service) erase(workspaceID string) error {
	var files erase.Files
	err := svc.app.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
		files, err = erase.Workspace(context.Background(), tx, workspaceID)
		return err
	})
	if err != nil {
		return err
	}
	return files.Remove(context.Background(), svc.app.Blobs)
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
func (svc *service) wantNothingPersonal(raw *sql.DB) {
	svc.t.Helper()
	for _, table := range tables(svc.t, raw, svc.app.DB.Engine()) {
		for line := range strings.Lines(rowsOf(svc.t, raw, table)) {
			if strings.Contains(line, personal) {
				svc.t.Errorf("a name is left: %.300s", line)
			}
		}
	}
	for _, key := range svc.files("") {
		svc.t.Errorf("a file is left: %s", key)
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

// operates has a person of the workspace be an operator, who freezes it and ends its job.
func (svc *service) operates(workspaceID, jobID string) {
	svc.t.Helper()
	svc.write(func(ctx context.Context, tx *db.Tx) error {
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
		if act, err = operator.FreezeWorkspace(ctx, tx, workspaceID, personal+" does not pay"); err == nil {
			err = act.Perform(ctx, tx, by)
		}
		if err != nil {
			return err
		}
		if act, err = operator.FailJob(ctx, tx, svc.app.Jobs(svc.app.Links(svc.url)), jobID, personal+" breaks our terms"); err == nil {
			err = act.Perform(ctx, tx, by)
		}
		return err
	})
}

// TestAnErasedWorkspaceLeavesNoNameAndNoFileButItsLedgerAndItsLeaves has every kind of row
// and file made by a workspace, and erases it.
func TestAnErasedWorkspaceLeavesNoNameAndNoFileButItsLedgerAndItsLeaves(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		receiver := newWebhookReceiver(t)
		config.Webhooks = trusting(receiver.pem)
		svc := start(t, config)
		raw := rawDatabase(t, svc.app.Config.DatabaseURL())
		workspaceID, agent, account := svc.personalPeople()
		svc.write(func(ctx context.Context, tx *db.Tx) error {
			return wallet.Credit(ctx, tx, workspaceID, "opening", credit)
		})
		c := caller{Client: newClient(t, svc.url, agent.Secret), t: t, workspace: workspaceID}
		c.post(svc.url+"/v1/webhook-endpoints", account.Secret, `{"url":"`+receiver.address+`/`+personal+`","description":"`+personal+`"}`)

		manual := svc.manualWorker()
		done := c.startPersonal(2, receiver.address)
		got, err := manual.lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = manual.Fail(t.Context(), farmapi.FailRequest{
			WorkerID: manual.id, LeaseID: got.Leases[0].LeaseID, Attempt: got.Leases[0].Attempt, Code: "blender_crashed", Message: personal + ".blend is broken", Log: "read " + personal,
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := svc.worker(&painter{})
		done = c.await(done.JobID, client.StatusCompleted)
		stop()
		proof := c.proven(done)
		zip := c.verifiedZIP(done)
		if _, err := c.ContactSheet(patient(t), done.JobID); err != nil {
			t.Fatal(err)
		}
		in := &intake.Intake{DB: svc.app.DB, Blobs: svc.app.Blobs, Envelope: svc.app.Config.Envelope}
		if _, err := in.Await(t.Context(), workspaceID, "https://files.example.com/"+personal+".blend"); err != nil {
			t.Fatal(err)
		}

		waiting := c.post(svc.url+"/v1/renders", account.Secret, `{"upload_id":"`+c.inspectPersonal(1).UploadID+`"}`)["job_id"].(string)
		if err := svc.erase(workspaceID); !fault.Is(err, fault.JobsNotEnded) {
			t.Fatalf("a workspace whose job waits: %v", err)
		}
		c.verifiedZIP(done) // nothing has gone
		svc.operates(workspaceID, waiting)
		svc.audit()
		before := kept(t, raw)
		for _, table := range []string{
			"person", "person_login", "workspace", "account_key", "agent_key", "sign_in_link", "upload", "project", "awaited_upload", "job", "failed_attempt",
			"idempotency", "webhook_endpoint", "webhook_event", "operator_act", "workspace_freeze",
		} {
			if !strings.Contains(rowsOf(t, raw, table), personal) {
				t.Errorf("the story writes no name into %s", table)
			}
		}

		for range 2 { // the second changes nothing
			if err := svc.erase(workspaceID); err != nil {
				t.Fatal(err)
			}
			svc.wantNothingPersonal(raw)
			if left := rowsOf(t, raw, "receipt"); left != "" {
				t.Errorf("a receipt is left: %.300s", left)
			}
			svc.audit()
			if after := kept(t, raw); after != before {
				t.Errorf("the ledger and the log were\n%s\nand are\n%s", before, after)
			}
		}
		svc.read(func(ctx context.Context, tx *db.Tx) error {
			plan, err := erase.Check(ctx, tx, workspaceID)
			if plan.ErasedAt.IsZero() || plan.People != 0 || plan.AvailableCents != credit-2 {
				t.Errorf("it is erased, and says %+v", plan)
			}
			return err
		})

		// Its keys open nothing, its receipts are on no page, and who kept them has proof.
		get(t, http.MethodGet, svc.url+"/v1/renders/"+done.JobID+"/receipt", http.Header{"Authorization": {"Bearer " + account.Secret}}).want(t, http.StatusUnauthorized, "")
		var members struct {
			ReceiptID string `json:"receipt_id"`
		}
		if err := json.Unmarshal(proof.receipt.Members, &members); err != nil || members.ReceiptID == "" {
			t.Fatalf("the receipt has no id: %v", err)
		}
		if _, err := svc.app.Jobs(svc.app.Links(svc.url)).Public(t.Context(), members.ReceiptID); err == nil {
			t.Error("an erased receipt is public")
		}
		if _, _, err := svc.app.Jobs(svc.app.Links(svc.url)).Receipt(t.Context(), workspaceID, done.JobID); err == nil || !strings.Contains(err.Error(), "artifact_expired") {
			t.Errorf("an erased receipt is answered with %v", err)
		}
		if checks, err := client.Verify(proof.receipt, proof.keys, bytes.NewReader(zip), int64(len(zip))); err != nil {
			t.Errorf("a kept receipt: %v, %+v", err, checks)
		}
		if checks, err := client.VerifyLog(proof.receipt, proof.proof, proof.keys, nil); err != nil {
			t.Errorf("a kept proof: %v, %+v", err, checks)
		}

		// A backup is whole without what went, and the service goes on, for its person too.
		folder := filepath.Join(t.TempDir(), "backup")
		if _, breaches, err := app.Backup(t.Context(), svc.app.Config, folder, func(string, int64, int64) {}); err != nil {
			t.Errorf("a backup: %v, %v", err, breaches)
		}
		svc.completed(svc.caller(credit))
		if again, _, _ := svc.personalPeople(); again == workspaceID {
			t.Error("the address came back to its erased workspace")
		}
		apptest.Audit(t, svc.app)
	})
}

// TestTheFilesOfAnErasedWorkspaceGoAfterACrash ends the erasure behind its commit: the next
// run removes frames and ZIPs, and the sweep the content that no row names any more.
func TestTheFilesOfAnErasedWorkspaceGoAfterACrash(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		pass := moved(&config)
		svc := start(t, config)
		c := svc.caller(credit)
		svc.completed(c)
		svc.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := erase.Workspace(ctx, tx, c.workspace)
			return err
		})
		svc.stored("artifacts")
		if err := svc.erase(c.workspace); err != nil {
			t.Fatal(err)
		}
		for _, path := range svc.stored("") {
			if !strings.Contains(path, "uploads") {
				t.Errorf("the second run left %s", path)
			}
		}
		pass(25 * time.Hour)
		swept := artifact.Artifacts{DB: svc.app.DB, Blobs: svc.app.Blobs}
		if n, err := swept.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("%d files are swept: %v", n, err)
		}
		svc.wantNothingPersonal(rawDatabase(t, svc.app.Config.DatabaseURL()))
	})
}

// TestARequestThatOutlivesItsWorkspaceAddsNothing stores a file that was received before
// the erasure, and makes a key.
func TestARequestThatOutlivesItsWorkspaceAddsNothing(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		in := &intake.Intake{DB: svc.app.DB, Blobs: svc.app.Blobs, Envelope: svc.app.Config.Envelope}
		received, err := in.Receive(t.Context(), c.workspace, intake.File{Name: personal + ".blend", Body: bytes.NewReader(demo.Scene())})
		if err != nil {
			t.Fatal(err)
		}
		if err := svc.erase(c.workspace); err != nil {
			t.Fatal(err)
		}
		_, stored := received.Quote(t.Context(), quote.RequestedFrames{}, nil)
		made := svc.app.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := identity.CreateAgentKey(t.Context(), tx, c.workspace, identity.AgentTerms{Name: personal})
			return err
		})
		for _, err := range []error{stored, made} {
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != fault.WorkspaceNotFound {
				t.Errorf("the request is answered with %v", err)
			}
		}
		svc.wantNothingPersonal(rawDatabase(t, svc.app.Config.DatabaseURL()))
	})
}
