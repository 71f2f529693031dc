package admin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/ground/lease"
	"svc.example/internal/test/story"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/operator"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/testmode"
)

// refuse checks that the acts of a table are refused, and that none is recorded: not as dry
// runs either.
func (b *bench) refuse(calls [][4]string, code fault.Code, status int) {
	b.Helper()
	before := b.last()["act_id"]
	for _, c := range calls {
		for _, dry := range []string{"", "?dry_run=true"} {
			if a := b.call(c[0], "/admin/v1"+c[1]+dry, b.writer.Secret, c[2]); a.status != status || a.code != code {
				b.Errorf("%s %s%s %s: %d %s", c[0], c[1], dry, c[2], a.status, a.text)
			}
		}
	}
	if b.last()["act_id"] != before {
		b.Errorf("a refused act is recorded: %v", b.last())
	}
}

// TestKeysAreMadeListedAndRevokedByHTTP: a secret is in one answer only, a dry run makes no key,
// and no route makes an operator key.
func TestKeysAreMadeListedAndRevokedByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		of := "/admin/v1/workspaces/" + b.caller.Workspace + "/keys"
		made := b.act("POST", of, `{"kind":"account","name":"ansible"}`)
		if a := b.call("GET", "/v1/wallet", made["key"].(string), ""); a.status != 200 {
			b.Errorf("the account key opens nothing: %d %s", a.status, a.text)
		}
		agent := b.act("POST", of, `{"kind":"agent","name":"nightly","spend_limit_cents":500}`)
		node := b.act("POST", "/admin/v1/keys", `{"name":"gpu-1"}`)
		if dry := b.call("POST", of+"?dry_run=true", b.writer.Secret, `{"kind":"agent","name":"x"}`); dry.body["key"] != "" || dry.body["key_id"] != "" {
			b.Errorf("a dry run shows %s", dry.text)
		}
		listed := b.call("GET", of, b.reader.Secret, "").text
		nodes := b.call("GET", "/admin/v1/keys", b.reader.Secret, "").text
		for _, key := range []map[string]any{made, agent, node} {
			if strings.Contains(listed+nodes, key["key"].(string)) || !strings.Contains(listed+nodes, key["key_id"].(string)) {
				b.Errorf("%v is listed as %s %s", key, listed, nodes)
			}
			if key["kind"] == "agent" && !strings.Contains(listed, `"spend_limit_cents":500`) {
				b.Errorf("the limit of an agent key: %s", listed)
			}
		}
		b.act("DELETE", "/admin/v1/keys/"+made["key_id"].(string), "")
		if a := b.call("GET", "/v1/wallet", made["key"].(string), ""); a.status != 401 {
			b.Errorf("a revoked key opens: %d", a.status)
		}
		lost := b.key(identity.OperatorReads, 0)
		b.act("DELETE", "/admin/v1/keys/"+lost.KeyID, "") // an operator key, too
		if a := b.call("GET", "/admin/v1/operator-keys", lost.Secret, ""); a.status != 401 {
			b.Errorf("a revoked operator key reads: %d", a.status)
		}
		if a := b.call("GET", "/admin/v1/operator-keys", b.writer.Secret, ""); !strings.Contains(a.text, b.writer.KeyID) || strings.Contains(a.text, b.writer.Secret) {
			b.Errorf("operator keys: %s", a.text)
		}
		if a := b.call("GET", "/admin/v1/signing-keys", b.writer.Secret, ""); len(a.body["signing_keys"].([]any)) != 1 || strings.Contains(a.text, `"here"`) {
			b.Errorf("signing keys: %s", a.text)
		}
		if a := b.call("POST", "/admin/v1/operator-keys", b.writer.Secret, `{"name":"x"}`); a.status < 404 || a.status > 405 {
			b.Errorf("an operator key makes another: %d %s", a.status, a.text)
		}
		b.refuse([][4]string{{"DELETE", "/keys/key_none"}, {"DELETE", "/keys/" + made["key_id"].(string)}}, fault.KeyNotFound, 404)
		b.refuse([][4]string{{"POST", "/workspaces/WSP-none/keys", `{"kind":"agent","name":"x"}`}, {"DELETE", "/workspaces/WSP-none"}, {"PUT", "/workspaces/WSP-none/proof-page", `{"on":true}`}, {"DELETE", "/workspaces/" + b.caller.Workspace + "/test-world"}}, fault.WorkspaceNotFound, 404)
		b.refuse([][4]string{{"POST", "/keys", `{"name":" "}`}, {"POST", "/workspaces/" + b.caller.Workspace + "/keys", `{"kind":"agent","name":" "}`}}, fault.InvalidKeyName, 400)
		b.refuse([][4]string{{"POST", "/workspaces/" + b.caller.Workspace + "/keys", `{"kind":"operator","name":"x"}`}, {"POST", "/workspaces/" + b.caller.Workspace + "/keys", `{"kind":"account","name":"x","spend_limit_cents":1}`}}, fault.InvalidRequest, 400)
	})
}

// TestTheServiceIsKeptInOrderByHTTP: dead letters, alerts, results, people, reuse, proof pages,
// test worlds and the seller on invoices.
func TestTheServiceIsKeptInOrderByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		class := reuse.Class{Renderer: "blender", Device: "GPU", DeviceName: "NVIDIA L4", BlenderVersion: "4.1.1", BuildHash: "e1743a0317bc"}
		queue := lease.Queue{Name: "golden", MaxFailures: 1, Life: time.Hour}
		var email string
		b.write(func(ctx context.Context, tx *db.Tx) error {
			_, people, err := identity.WorkspaceOf(ctx, tx, b.caller.Workspace)
			email = people[0]
			_, different := reuse.Compared(ctx, tx, class, false)
			_, known := identity.SetOperator(ctx, tx, email, true)
			err = errors.Join(err, different, known, testmode.Use(ctx, tx, b.caller.Workspace, 100), lease.Add(ctx, tx, queue.Name, "thing", 0, tx.Time()))
			if err != nil {
				return err
			}
			held, err := lease.Claim(ctx, tx, queue.Name, "holder", 1, time.Hour)
			if err == nil {
				_, err = queue.Fail(ctx, tx, held[0], "broken", "it is broken")
			}
			return err
		})
		b.act("POST", "/admin/v1/alerts/test", "")
		letters := b.call("GET", "/admin/v1/dead-letters", b.reader.Secret, "").body["dead_letters"].([]any)
		id := letters[0].(map[string]any)["id"].(string)
		if done := b.act("POST", "/admin/v1/dead-letters/requeue", `{"ids":["`+id+`"]}`); fmt.Sprint(done["requeued"]) != "["+id+"]" {
			b.Errorf("requeued: %v", done)
		}
		if left := b.call("GET", "/admin/v1/dead-letters", b.reader.Secret, "").body["dead_letters"].([]any); len(left) != 0 {
			b.Errorf("after it, there are %v", left)
		}
		if done := b.act("POST", "/admin/v1/dead-letters/requeue", `{"queue":"golden"}`); fmt.Sprint(done["requeued"]) != "[]" {
			b.Errorf("of a queue with none: %v", done)
		}
		if a := b.call("GET", "/admin/v1/operators", b.reader.Secret, ""); !strings.Contains(a.text, email) {
			b.Errorf("operators: %s", a.text)
		}
		b.act("POST", "/admin/v1/operators/remove", `{"email":"`+email+`"}`)
		if a := b.call("GET", "/admin/v1/operators", b.reader.Secret, ""); len(a.body["operators"].([]any)) != 0 {
			b.Errorf("operators are left: %s", a.text)
		}
		if a := b.call("GET", "/admin/v1/reuse", b.reader.Secret, ""); !strings.Contains(a.text, class.ID()) || !strings.Contains(a.text, "off_at") {
			b.Errorf("reuse: %s", a.text)
		}
		b.act("POST", "/admin/v1/reuse/"+class.ID()+"/reset", "")
		if a := b.call("GET", "/admin/v1/reuse", b.reader.Secret, ""); strings.Contains(a.text, "off_at") {
			b.Errorf("reuse is off: %s", a.text)
		}
		if shown := b.act("PUT", "/admin/v1/workspaces/"+b.caller.Workspace+"/proof-page", `{"on":false}`); fmt.Sprint(shown["proof_page"]) != "false" {
			b.Errorf("proof pages: %v", shown)
		}
		if a := b.call("GET", "/admin/v1/test-worlds", b.reader.Secret, ""); len(a.body["test_worlds"].([]any)) != 1 {
			b.Errorf("test worlds: %s", a.text)
		}
		b.act("DELETE", "/admin/v1/workspaces/"+b.caller.Workspace+"/test-world", "")
		if seller := b.act("PUT", "/admin/v1/seller", `{"company":"Example Ltd","address":"1 Example Street","tax_id":"EX1","tax_basis_points":1900,"prefix":"EX-"}`); seller["tax_id"] != "EX1" {
			b.Errorf("seller: %v", seller)
		}
		if a := b.call("GET", "/admin/v1/seller", b.reader.Secret, ""); a.body["prefix"] != "EX-" || a.body["company"] != "Example Ltd" {
			b.Errorf("seller: %s", a.text)
		}
		if hidden := b.act("POST", "/admin/v1/results/hide", `{"node":"key_none","reason":"it was made up"}`); hidden["results"] != 0.0 {
			b.Errorf("hidden: %v", hidden)
		}
		b.act("POST", "/admin/v1/results/show", `{"node":"key_none"}`)
		b.refuse([][4]string{{"POST", "/results/hide", `{"results":["BMR-none"],"reason":"x"}`}, {"POST", "/results/show", `{"results":["BMR-none"]}`}}, fault.ResultNotFound, 404)
		b.refuse([][4]string{{"POST", "/dead-letters/requeue", `{"ids":["golden:none:0"]}`}}, fault.DeadLetterNotFound, 404)
		b.refuse([][4]string{{"POST", "/operators/remove", `{"email":"nobody@example.com"}`}}, fault.PersonNotFound, 404)
		b.refuse([][4]string{{"DELETE", "/domains/none.example"}}, fault.DomainNotFound, 404)
		b.refuse([][4]string{{"POST", "/reuse/none/reset"}}, fault.ReuseClassNotFound, 404)
		b.refuse([][4]string{
			{"POST", "/dead-letters/requeue", `{}`}, {"POST", "/dead-letters/requeue", `{"ids":["a"],"queue":"b"}`}, {"POST", "/results/hide", `{"reason":"x"}`}, {"POST", "/results/hide", `{"node":"a","reason":" "}`},
			{"PUT", "/seller", `{"prefix":"A1"}`}, {"POST", "/operators/remove", `{"email":"none"}`},
		}, fault.InvalidRequest, 400)
	})
}

// TestAWorkspaceIsErasedOnceByHTTP: a dry run erases nothing, an open job keeps it, and repeating
// the request says when it was erased.
func TestAWorkspaceIsErasedOnceByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		path := "/admin/v1/workspaces/" + b.caller.Workspace
		b.refuse([][4]string{{"DELETE", strings.TrimPrefix(path, "/admin/v1")}}, fault.JobsNotEnded, 409)
		b.act("POST", "/admin/v1/jobs/"+b.job+"/cancel", "")
		erased := b.act("DELETE", path, "")
		if fmt.Sprint(erased["erased_before"], erased["available_cents"]) != fmt.Sprint(false, story.Credit) {
			b.Errorf("erased: %v", erased)
		}
		w := b.call("GET", path, b.reader.Secret, "").body
		if w["erased_at"] == nil || len(w["people"].([]any)) != 0 {
			b.Errorf("it is left as %v", w)
		}
		if a := b.call("GET", "/v1/wallet", b.caller.Account.Secret, ""); a.status != 401 {
			b.Errorf("its key works: %d", a.status)
		}
		again := b.call("DELETE", path, b.writer.Secret, "")
		if fmt.Sprint(again.body["erased_before"]) != "true" || again.body["erased_at"] != w["erased_at"] {
			b.Errorf("again: %s; it was erased at %v", again.text, w["erased_at"])
		}
	})
}

// TestChecksAreReadByHTTP: the last audit, and the payment provider where there is one.
func TestChecksAreReadByHTTP(t *testing.T) {
	each(t, func(b *bench) {
		if a := b.call("GET", "/admin/v1/audit", b.reader.Secret, ""); a.status != 200 || a.body["audit"] != nil {
			b.Errorf("before the first audit: %d %s", a.status, a.text)
		}
		b.write(func(ctx context.Context, tx *db.Tx) error {
			return operator.RecordAudit(ctx, tx, operator.AuditRun{BeganAt: tx.Time(), Jobs: 1, BreachCount: 1, Breaches: []operator.Breach{{Rule: "money", Subject: "WSP-1", Detail: "is wrong"}}})
		})
		if a := b.call("GET", "/admin/v1/audit", b.reader.Secret, ""); !strings.Contains(a.text, `"rule":"money"`) || !strings.Contains(a.text, `"breach_count":1`) {
			b.Errorf("the last audit: %s", a.text)
		}
		if a := b.call("GET", "/admin/v1/reconciliation", b.reader.Secret, ""); a.status != 503 || a.code != fault.PaymentsUnavailable {
			b.Errorf("without a provider: %d %s", a.status, a.text)
		}
		for _, query := range []string{"from=2026-01-01&to=2026-06-01", "from=2026-02-01&to=2026-01-01", "from=soon"} {
			if a := b.call("GET", "/admin/v1/reconciliation?"+query, b.reader.Secret, ""); a.code != fault.InvalidRequest {
				b.Errorf("%s: %d %s", query, a.status, a.text)
			}
		}
	})
}
