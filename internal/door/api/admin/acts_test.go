package admin_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/door/api/admin"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/story"
	"svc.example/internal/work/operator"
)

// last is the newest entry of the record, as the API shows it.
func (b *bench) last() map[string]any {
	b.Helper()
	all := b.call("GET", "/admin/v1/acts?limit=1", b.reader.Secret, "").body["acts"].([]any)
	return all[0].(map[string]any)
}

// act performs an act by HTTP, which must succeed, and checks its entry in the record: a dry run
// leaves none.
func (b *bench) act(method, path, text string) map[string]any {
	b.Helper()
	before := b.last()["act_id"]
	dry := b.call(method, path+"?dry_run=true", b.writer.Secret, text, "Idempotency-Key", path)
	if dry.status != 200 || fmt.Sprint(dry.body["done"]) != "false" || b.last()["act_id"] != before {
		b.Fatalf("a dry run of %s: %d %s; recorded %v", path, dry.status, dry.text, b.last())
	}
	a := b.call(method, path, b.writer.Secret, text, "Idempotency-Key", path)
	entry := b.last()
	if a.status != 200 || fmt.Sprint(a.body["done"]) != "true" || a.body["what"] != dry.body["what"] {
		b.Fatalf("%s: %d %s", path, a.status, a.text)
	}
	if entry["act_id"] == before || entry["actor"] != b.writer.KeyID || entry["way"] != string(operator.API) || entry["what"] != a.body["what"] {
		b.Errorf("%s is recorded as %v", path, entry)
	}
	return a.body
}

// TestAnOperatorPausesAndResumesAJobOnlyByHTTP: its workers take no frame of it meanwhile, and it
// completes.
func TestAnOperatorPausesAndResumesAJobOnlyByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		path := "/admin/v1/jobs/" + b.job
		b.act("POST", path+"/pause", `{"reason":"its scene is examined"}`)
		defer (&story.Service{T: b.T, App: b.App, URL: b.URL}).Worker(&story.Painter{})()
		if shown := b.call("GET", path, b.reader.Secret, "").body["job"].(map[string]any); shown["paused_by"] != "operator" {
			b.Errorf("paused by %v", shown["paused_by"])
		}
		if a := b.call("GET", path+"/log", b.reader.Secret, ""); !strings.Contains(a.text, "its scene is examined") || !strings.Contains(a.text, b.writer.KeyID) {
			b.Errorf("its log: %s", a.text)
		}
		other := b.caller.StartFrames(1)
		b.caller.Await(other.JobID, client.StatusCompleted) // the worker took this one first
		if shown := b.call("GET", path, b.reader.Secret, "").body["job"].(map[string]any); shown["frames_completed"] != 0.0 {
			b.Errorf("while it was paused, %v frames were rendered", shown["frames_completed"])
		}
		b.act("POST", path+"/resume", "")
		b.caller.Await(b.job, client.StatusCompleted)
	})
}

// TestActsOnJobsByHTTPAreThoseOfOperators, with their refusals.
func TestActsOnJobsByHTTPAreThoseOfOperators(t *testing.T) {
	each(t, func(b *bench) {
		path := "/admin/v1/jobs/" + b.job
		b.act("PUT", path+"/priority", `{"priority":80}`)
		if failed := b.act("POST", path+"/fail", `{"reason":"the scene is forbidden"}`); failed["status"] != "failed" || failed["charged_cents"] != 0.0 {
			b.Errorf("fail: %v", failed)
		}
		second := "/admin/v1/jobs/" + b.caller.StartFrames(1).JobID
		if cancelled := b.act("POST", second+"/cancel", ""); cancelled["status"] != "cancelled" {
			b.Errorf("cancel: %v", cancelled)
		}
		before := b.last()["act_id"]
		for _, c := range []struct {
			path, text string
			status     int
			code       fault.Code
		}{
			{path + "/fail", `{"reason":"again"}`, 409, fault.JobEnded},
			{path + "/pause", `{"reason":"again"}`, 409, fault.RenderNotPausable},
			{path + "/pause", `{"reason":" "}`, 400, fault.InvalidRequest},
			{path + "/pause", `{}`, 400, fault.InvalidRequest},
			{path + "/pause", "", 400, fault.InvalidRequest},
			{path + "/resume", "", 409, fault.RenderNotPausable},
			{path + "/cancel", "", 409, fault.RenderNotCancellable},
			{"/admin/v1/jobs/JOB-none/cancel", "", 404, fault.RenderNotFound},
			{"/admin/v1/workers/NOD-none/drain", "", 404, fault.WorkerNotFound},
		} {
			if a := b.call("POST", c.path, b.writer.Secret, c.text); a.status != c.status || a.code != c.code {
				b.Errorf("%s %s: %d %s", c.path, c.text, a.status, a.code)
			}
		}
		if b.last()["act_id"] != before {
			b.Errorf("a refused act is recorded: %v", b.last())
		}
	})
}

// TestWorkersAreDrainedByHTTP.
func TestWorkersAreDrainedByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		svc := &story.Service{T: b.T, App: b.App, URL: b.URL}
		stop := svc.Worker(&story.Painter{})
		defer stop()
		b.caller.Await(b.job, client.StatusCompleted)
		workers := b.call("GET", "/admin/v1/workers", b.reader.Secret, "").body["workers"].([]any)
		path := "/admin/v1/workers/" + workers[0].(map[string]any)["worker_id"].(string)
		if drained := b.act("POST", path+"/drain", ""); !strings.HasPrefix(drained["state"].(string), "drain") {
			b.Errorf("drained: %v", drained)
		}
		if again := b.act("POST", path+"/undrain", ""); again["state"] != "idle" {
			b.Errorf("undrained: %v", again)
		}
		if a := b.call("DELETE", path, b.writer.Secret, ""); a.code != fault.WorkerInUse {
			b.Errorf("forget one that is online: %d %s", a.status, a.code)
		}
	})
}

// TestTermsOfAWorkspaceAreSetByHTTP, and read where svc admin reads them.
func TestTermsOfAWorkspaceAreSetByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		path := "/admin/v1/workspaces/" + b.caller.Workspace
		b.act("PUT", path+"/freeze", `{"reason":"invoice 17 is unpaid"}`)
		b.act("PUT", path+"/retention", `{"days":90}`)
		b.act("PUT", path+"/limit", `{"daily_cents":5000}`)
		b.act("PUT", path+"/tags", `{"tags":["gpu","fast"]}`)
		b.act("PUT", path+"/frames", `{"frames_at_once":8}`)
		w := b.call("GET", path, b.reader.Secret, "").body
		if got := fmt.Sprint(w["frozen"].(map[string]any)["reason"], w["artifact_days"], w["daily_cents"], w["tags"], w["frames_at_once"]); got != "invoice 17 is unpaid90 5000 [fast gpu] 8" {
			b.Errorf("the workspace has %s", got)
		}
		b.act("DELETE", path+"/freeze", "")
		if w := b.call("GET", path, b.reader.Secret, "").body; w["frozen"] != nil {
			b.Errorf("it is still frozen: %v", w["frozen"])
		}
		for route, text := range map[string]string{"/retention": `{"days":366}`, "/limit": `{"daily_cents":-1}`, "/tags": `{"tags":["a b"]}`, "/frames": `{"frames_at_once":9999999}`} {
			if a := b.call("PUT", path+route, b.writer.Secret, text); a.status != 400 || a.code != fault.InvalidRequest {
				b.Errorf("%s %s: %d %s", route, text, a.status, a.code)
			}
		}
	})
}

// TestMoneyMovesOnceForAnIdempotencyKey, also when requests come at the same time, and not at
// all without one.
func TestMoneyMovesOnceForAnIdempotencyKey(t *testing.T) {
	each(t, func(b *bench) {
		path := "/admin/v1/workspaces/" + b.caller.Workspace + "/credit"
		if a := b.call("POST", path, b.writer.Secret, `{"cents":500}`); a.status != 400 || a.code != fault.InvalidRequest {
			b.Errorf("without a key: %d %s", a.status, a.code)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if a := b.call("POST", path, b.writer.Secret, `{"cents":500}`, "Idempotency-Key", "order 1"); a.status != 200 && a.code != fault.IdempotencyInProgress {
					b.Errorf("credit: %d %s", a.status, a.text)
				}
			})
		}
		all.Wait()
		first := b.call("POST", path, b.writer.Secret, `{"cents":500}`, "Idempotency-Key", "order 1")
		if first.header.Get("Idempotency-Replayed") != "true" || first.body["available_cents"] != float64(story.Credit-2+500) {
			b.Errorf("again: %s %s", first.header, first.text)
		}
		if a := b.call("POST", path, b.writer.Secret, `{"cents":501}`, "Idempotency-Key", "order 1"); a.status != 409 || a.code != fault.IdempotencyKeyReused {
			b.Errorf("another amount: %d %s", a.status, a.code)
		}
		if a := b.call("POST", path, b.writer.Secret, `{"cents":7,"reference":"invoice 3"}`, "Idempotency-Key", "order 2"); a.body["available_cents"] != float64(story.Credit-2+507) {
			b.Errorf("another order: %s", a.text)
		}
		if a := b.call("POST", path, b.writer.Secret, `{"cents":7,"reference":"invoice 3"}`, "Idempotency-Key", "order 3"); a.body["available_cents"] != float64(story.Credit-2+507) {
			b.Errorf("the same reference under another key: %s", a.text)
		}
		if a := b.call("POST", path, b.writer.Secret, `{"cents":8,"reference":"invoice 3"}`, "Idempotency-Key", "order 4"); a.status != 400 || a.code != fault.InvalidRequest || !strings.Contains(a.text, "reference") {
			b.Errorf("the reference of another credit: %d %s", a.status, a.text)
		}
		for _, query := range []string{"?DRY_RUN=true", "?dry-run=true", "?dry_run=true&why=x"} {
			if a := b.call("POST", path+query, b.writer.Secret, `{"cents":9}`, "Idempotency-Key", "order 5"); a.status != 400 || a.code != fault.InvalidRequest {
				b.Errorf("%s, which the route does not take: %d %s", query, a.status, a.text)
			}
		}
		acts := b.call("GET", "/admin/v1/acts", b.reader.Secret, "").text
		if n := strings.Count(acts, "add $5.00"); n != 1 {
			b.Errorf("the credit is recorded %d times: %s", n, acts)
		}
		for path, code := range map[string]fault.Code{"/admin/v1/workspaces/WSP-none/credit": fault.WorkspaceNotFound, "/admin/v1/jobs/JOB-none/refund": fault.RenderNotFound, "/admin/v1/jobs/" + b.job + "/refund": fault.InvalidRequest} {
			if a := b.call("POST", path, b.writer.Secret, `{"cents":1}`, "Idempotency-Key", "order 4"); a.code != code {
				b.Errorf("%s: %d %s", path, a.status, a.text)
			}
		}
	})
}

// TestAWorkspaceIsMadeOnceByHTTP, and the secrets of its keys work and are shown once.
func TestAWorkspaceIsMadeOnceByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		text := `{"email":"new@example.com","credit_cents":500}`
		made := b.call("POST", "/admin/v1/workspaces", b.writer.Secret, text)
		if made.status != 200 || fmt.Sprint(made.body["created"]) != "true" {
			b.Fatalf("%d %s", made.status, made.text)
		}
		if a := b.call("GET", "/v1/wallet", made.body["account_key"].(string), ""); a.status != 200 || a.body["available_cents"] != 500.0 {
			b.Errorf("its wallet: %d %s", a.status, a.text)
		}
		again := b.call("POST", "/admin/v1/workspaces", b.writer.Secret, text)
		if fmt.Sprint(again.body["created"]) != "false" || again.body["workspace_id"] != made.body["workspace_id"] || again.body["account_key"] != nil {
			b.Errorf("again: %s", again.text)
		}
		var acts []operator.Done
		b.write(func(ctx context.Context, tx *db.Tx) (err error) {
			acts, err = operator.Acts(ctx, tx, "", 2)
			return err
		})
		if acts[0].Actor != b.writer.KeyID || acts[1].Actor != b.writer.KeyID || !strings.HasPrefix(acts[1].What, "create the workspace WSP-") {
			b.Errorf("recorded: %+v", acts)
		}
		if a := b.call("POST", "/admin/v1/workspaces", b.writer.Secret, `{"email":"no address"}`); a.status != 400 || a.code != fault.InvalidRequest {
			b.Errorf("no address: %d %s", a.status, a.code)
		}
	})
}

// TestEveryRouteThatActsSaysThatKeysCanLackTheScope, and no other does.
func TestEveryRouteThatActsSaysThatKeysCanLackTheScope(t *testing.T) {
	t.Parallel()
	for _, o := range operations(t, admin.Document("")) {
		_, says := o.Responses["403"]
		if acts := o.method != "GET"; acts != says {
			t.Errorf("%s: 403 is in the document: %v", o.ID, says)
		}
	}
}
