package web_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/work/identity"
)

// starts has a person start a job over the demo scene, and returns its page.
func (p *person) starts() seen {
	p.t.Helper()
	priced := p.upload("demo.blend", demo.Scene())
	return p.submit(priced.path+"/start", "quote_id", priced.hidden(p.t, "quote_id"), "terms", contract.LegalAcceptance).want(p.t, http.StatusOK)
}

// csv reads a file of the wallet: its rows by the names of their columns.
func (p *person) csv(path string) (rows []map[string]string) {
	p.t.Helper()
	all, err := csv.NewReader(strings.NewReader(p.open(path).want(p.t, http.StatusOK).text)).ReadAll()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, cell := range cells {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// idOf is the id of a member, by the page that their owner has.
func (p *person) idOf(other *person) string {
	p.t.Helper()
	m := regexp.MustCompile(`/console/members/(PER-[0-9a-f]{32})/remove"><button [^>]* aria-label="Remove ` + regexp.QuoteMeta(other.Email)).FindStringSubmatch(p.open("/console/members").text)
	if m == nil {
		p.t.Fatalf("%s is no member", other.Email)
	}
	return m[1]
}

// TestEveryActSaysWhoDidIt: jobs, their entries in the ledger and keys name the person, also
// after the person has left, and no more when the person is erased.
func TestEveryActSaysWhoDidIt(t *testing.T) {
	t.Parallel()
	worlds.Each(t, func(t *testing.T, w *apptest.World) {
		owner := personOf(t, w, 500)
		member := joins(t, w, owner, identity.Member)
		begun := member.starts()
		jobID := strings.TrimPrefix(begun.path, "/console/jobs/")
		owner.submit("/console/keys", "name", "=nightly", "limit", "").want(t, http.StatusOK)
		owner.open("/console/keys").want(t, http.StatusOK, "created by: "+owner.Email)
		named := func(who, kind, person string) {
			t.Helper()
			owner.open(begun.path).want(t, http.StatusOK, "<dt>Started by</dt><dd>"+who+"</dd>")
			owner.open("/console").want(t, http.StatusOK, " · "+who+"</small>")
			owner.open("/console/wallet").want(t, http.StatusOK, "demo.blend</a></small> <small class=\"dim\">"+who+"</small>")
			rows := 0
			for _, row := range owner.csv("/console/wallet/ledger.csv") {
				want := map[string]string{jobID: kind + person, "": "operator"}[row["job_id"]]
				if got := row["started_by"] + row["person"]; got != want {
					t.Errorf("%s by %q, want %q", row["kind"], got, want)
				}
				rows++
			}
			if rows != 2 {
				t.Errorf("%d rows", rows)
			}
		}
		named(member.Email, "member", member.Email)

		var ledger struct {
			Transactions []struct {
				StartedBy identity.Actor `json:"started_by"`
			}
		}
		text := owner.open("/v1/wallet/transactions").want(t, http.StatusOK).text
		if err := json.Unmarshal([]byte(text), &ledger); err != nil {
			t.Fatal(err)
		}
		if by := ledger.Transactions[0].StartedBy; by.Kind != identity.MemberActor || *by.Email != member.Email[:1]+"…@example.com" || *by.PersonID != owner.idOf(member) {
			t.Errorf("the ledger is %s", text)
		}
		if strings.Contains(text, member.Email) {
			t.Error("programs read the whole address")
		}
		joins(t, w, owner, identity.Viewer).open("/v1/wallet/spend?by=person").want(t, http.StatusOK, `"rows":[]`)

		owner.submit(begun.path + "/cancel")
		owner.open("/console/wallet/spend.csv").want(t, http.StatusOK, "month,key_id,key_name,currency,charged,refunded,amount,person,tags")
		owner.submit("/console/members/"+owner.idOf(member)+"/remove").want(t, http.StatusOK)
		owner.open(begun.path).want(t, http.StatusOK, "<dd>"+member.Email+"</dd>")
		alone := signIn(t, w, apptest.Workspace{Email: member.Email})
		alone.submit("/console/settings/leave", "email", member.Email).want(t, http.StatusOK)
		for _, path := range []string{begun.path, "/console", "/console/wallet", "/console/wallet/ledger.csv", "/v1/wallet/transactions", "/console/settings/export"} {
			if page := owner.open(path); page.status != http.StatusOK || strings.Contains(page.text, member.Email) {
				t.Errorf("%s names an erased person: %d", path, page.status)
			}
		}
		owner.open(begun.path).want(t, http.StatusOK, "<dd>not recorded</dd>")
		apptest.Audit(t, w.App)
	})
}
