package api_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

// keyKind is one of the two kinds that a person manages, and a route that it
// opens.
type keyKind struct{ routes, prefix, opens string }

func keyKinds() []keyKind {
	return []keyKind{
		{"/v1/api-keys", contract.AccountKeyPrefix, ""},
		{"/v1/agent-keys", contract.AgentKeyPrefix, "/node/v1/jobs/JOB-0"},
	}
}

// eachKind runs test with a signed-in person for every kind of key.
func eachKind(t *testing.T, test func(t *testing.T, s *service, b *browser, k keyKind)) {
	shared.Each(t, func(t *testing.T, w *apptest.World) {
		s := join(t, w)
		for _, k := range keyKinds() {
			test(t, s, s.signedIn(somebody()), k)
		}
	})
}

func members(object any) []string { return slices.Sorted(maps.Keys(object.(map[string]any))) }

var keyIDForm = regexp.MustCompile(`^key_[a-f0-9]{32}$`)

func TestAKeysSecretIsShownOnceAndItsMetadataAlways(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, _ *service, b *browser, k keyKind) {
		if a := b.do("GET", k.routes, body{}); a.status != 200 || len(a.body["keys"].([]any)) != 0 {
			t.Fatalf("before: %d %v", a.status, a.body)
		}
		made := b.do("POST", k.routes, jsonBody(`{"name":" café "}`))
		if made.status != 201 || made.text("name") != "café" || made.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("made: %d %v", made.status, made.body)
		}
		secret := made.text("key")
		if !strings.HasPrefix(secret, k.prefix) || !keyIDForm.MatchString(made.text("key_id")) {
			t.Errorf("made %v", made.body)
		}
		listed := b.do("GET", k.routes, body{}).body["keys"].([]any)
		want := []string{"created_at", "created_by", "key_id", "last_used_at", "masked_prefix", "name", "revoked_at"}
		createdWith := []string{"created_at", "key", "key_id", "name", "ok"}
		if k.prefix == contract.AgentKeyPrefix {
			want = []string{"created_at", "created_by", "expires_at", "key_id", "last_used_at", "masked_prefix", "name", "revoked_at", "spend_limit_cents", "spent_cents"}
			createdWith = []string{"created_at", "expires_at", "key", "key_id", "name", "ok", "spend_limit_cents"}
		}
		if len(listed) != 1 || !slices.Equal(members(listed[0]), want) || !slices.Equal(members(made.body), createdWith) {
			t.Fatalf("listed %v, made %v", listed, made.body)
		}
		key := listed[0].(map[string]any)
		if key["last_used_at"] != nil || key["revoked_at"] != nil || key["key_id"] != made.body["key_id"] || key["created_at"] != made.body["created_at"] {
			t.Errorf("listed %v", key)
		}
		if masked := strings.TrimSuffix(key["masked_prefix"].(string), "…"); !strings.HasPrefix(secret, masked) || len(masked) != len(k.prefix)+8 {
			t.Errorf("masked as %v", masked)
		}
	})
}

func TestARevokedKeyIsRefusedOnTheNextRequestByEveryProcess(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		one := start(t, url)
		two := serve(t, one.app.Config)
		k := keyKinds()[1]
		b := one.signedIn("keys@example.com")
		made := b.do("POST", k.routes, jsonBody(`{"name":"short-lived"}`))
		for _, s := range []*service{one, two} {
			if a := s.call("GET", k.opens, made.text("key"), body{}); a.status != 404 {
				t.Fatalf("before: %d %s", a.status, a.code())
			}
		}
		listed := b.at(two.base).do("GET", k.routes, body{}).body["keys"].([]any)[0].(map[string]any)
		if used, err := time.Parse(time.RFC3339, listed["last_used_at"].(string)); err != nil || time.Since(used) > time.Minute {
			t.Errorf("last used %v", listed["last_used_at"])
		}
		gone := b.do("DELETE", k.routes+"/"+made.text("key_id"), body{})
		revoked, _ := gone.body["revoked"].(bool)
		if gone.status != 200 || !revoked || gone.body["key_id"] != made.body["key_id"] || len(gone.body) != 3 {
			t.Fatalf("revoke: %d %v", gone.status, gone.body)
		}
		for _, s := range []*service{two, one} {
			if a := s.call("GET", k.opens, made.text("key"), body{}); a.status != 401 || a.code() != fault.Unauthenticated {
				t.Errorf("after: %d %s", a.status, a.code())
			}
		}
		listed = b.at(two.base).do("GET", k.routes, body{}).body["keys"].([]any)[0].(map[string]any)
		if listed["revoked_at"] == nil {
			t.Errorf("listed as %v", listed)
		}
	})
}

func TestKeysOfOthersAndOfOtherKindsAreNotFound(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *service, b *browser, k keyKind) {
		id := b.do("POST", k.routes, jsonBody(`{"name":"mine"}`)).text("key_id")
		other := keyKinds()[0]
		if other == k {
			other = keyKinds()[1]
		}
		missing := func(who *browser, path string) {
			t.Helper()
			if a := who.do("DELETE", path, body{}); a.status != 404 || a.code() != fault.KeyNotFound {
				t.Errorf("DELETE %s: %d %s", path, a.status, a.code())
			}
		}
		missing(s.signedIn(somebody()), k.routes+"/"+id)
		missing(b, other.routes+"/"+id)
		missing(b, k.routes+"/key_"+strings.Repeat("0", 32))
		missing(b, k.routes+"/"+strings.ToUpper(id))
		if a := b.do("DELETE", k.routes+"/"+id, body{}); a.status != 200 {
			t.Errorf("the owner: %d %s", a.status, a.code())
		}
		missing(b, k.routes+"/"+id) // it is revoked already
	})
}

func TestKeyNamesAreBounded(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, _ *service, b *browser, k keyKind) {
		for _, bad := range []string{`{}`, `{"name":""}`, `{"name":"  "}`, `{"name":7}`, `{"name":null}`, `{"name":"` + strings.Repeat("é", 81) + `"}`} {
			if a := b.do("POST", k.routes, jsonBody(bad)); a.status != 400 || a.code() != fault.InvalidKeyName {
				t.Errorf("%s: %d %s", bad, a.status, a.code())
			}
		}
		if a := b.do("POST", k.routes, jsonBody(`{"name":"a","more":1}`)); a.status != 400 || a.code() != fault.InvalidRequest {
			t.Errorf("unknown member: %d %s", a.status, a.code())
		}
		if a := b.do("POST", k.routes, jsonBody(`{"name":"`+strings.Repeat("é", 80)+`"}`)); a.status != 201 {
			t.Errorf("80 characters: %d %s", a.status, a.code())
		}
	})
}

func TestAnEleventhActiveKeyIsRefusedUntilOneIsRevoked(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, _ *service, b *browser, k keyKind) {
		var last string
		for range contract.MaxActiveKeys {
			last = b.do("POST", k.routes, jsonBody(`{"name":"one of ten"}`)).text("key_id")
		}
		if a := b.do("POST", k.routes, jsonBody(`{"name":"eleventh"}`)); a.status != 409 || a.code() != fault.KeyLimitReached {
			t.Fatalf("eleventh: %d %s", a.status, a.code())
		}
		b.do("DELETE", k.routes+"/"+last, body{})
		if a := b.do("POST", k.routes, jsonBody(`{"name":"eleventh"}`)); a.status != 201 {
			t.Fatalf("after a revocation: %d %s", a.status, a.code())
		}
		if n := len(b.do("GET", k.routes, body{}).body["keys"].([]any)); n != contract.MaxActiveKeys+1 {
			t.Errorf("%d keys are listed", n)
		}
	})
}

// TestKeysAreManagedBySessionsOnOurOwnPagesOnly: an account key may list and revoke agent
// keys too, see TestAnAccountKeyMakesNoKeys.
func TestKeysAreManagedBySessionsOnOurOwnPagesOnly(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, s *service, b *browser, k keyKind) {
		for _, route := range []struct {
			method, path string
			body         body
		}{
			{"GET", k.routes, body{}}, {"POST", k.routes, jsonBody(`{"name":"a"}`)}, {"DELETE", k.routes + "/key_" + strings.Repeat("0", 32), body{}},
		} {
			strangers, advice := map[string]string{"nobody": "", "an agent key": s.agent}, any(fault.Lookup(fault.Unauthenticated).Action)
			if k.prefix == contract.AccountKeyPrefix || route.method == "POST" {
				strangers["an account key"], advice = s.account, identity.SignInAgain
			}
			for who, key := range strangers {
				a := s.call(route.method, route.path, key, route.body)
				if a.status != 401 || a.code() != fault.Unauthenticated || a.body["error"].(map[string]any)["suggested_action"] != advice {
					t.Errorf("%s %s by %s: %d %v", route.method, route.path, who, a.status, a.body)
				}
			}
			if a := b.elsewhere().do(route.method, route.path, route.body); a.status != 403 || a.code() != fault.CrossOriginRefused {
				t.Errorf("%s %s from another site: %d %s", route.method, route.path, a.status, a.code())
			}
		}
	})
}

func TestAnAgentKeysSpendLimitIsKeptAndBinds(t *testing.T) {
	t.Parallel()
	each(t, func(_ *testing.T, s *service) {
		b := s.signedIn(s.owner)
		for text, want := range map[string]any{
			`{"name":"none"}`: nil, `{"name":"null","spend_limit_cents":null}`: nil, `{"name":"zero","spend_limit_cents":0}`: 0.0,
		} {
			if a := b.do("POST", "/v1/agent-keys", jsonBody(text)); a.status != 201 || a.body["spend_limit_cents"] != want {
				s.t.Errorf("%s: %d %v", text, a.status, a.body)
			}
		}
		for _, text := range []string{`{"name":"a","spend_limit_cents":-1}`, `{"name":"a","spend_limit_cents":1.5}`} {
			if a := b.do("POST", "/v1/agent-keys", jsonBody(text)); a.status != 400 || a.code() != fault.InvalidRequest {
				s.t.Errorf("%s: %d %v", text, a.status, a.body)
			}
		}
		poor := b.do("POST", "/v1/agent-keys", jsonBody(`{"name":"poor","spend_limit_cents":0}`)).text("key")
		terms := jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1"}`)
		if a := s.call("POST", "/node/v1/uploads/"+s.upload+"/start", poor, terms); a.status != 402 || a.code() != fault.SpendLimitReached {
			s.t.Errorf("start: %d %v", a.status, a.body)
		}
	})
}

func TestAnOwnerSwitchesTheProofPagesOfTheirWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		b := s.signedIn(s.owner)
		shown := func(email string) (page int64) {
			ctx := t.Context()
			err := s.app.DB.Read(ctx, func(tx *db.Tx) error {
				p, err := tx.PersonByEmail(ctx, email)
				if err != nil {
					return err
				}
				w, err := tx.WorkspaceGet(ctx, p.WorkspaceID)
				page = w.ProofPage
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return page
		}
		for _, show := range []bool{false, true} {
			a := b.do("PUT", "/v1/workspace/proof-pages", jsonBody(fmt.Sprintf(`{"shown":%v}`, show)))
			if a.status != 200 || a.body["shown"] != show || (shown(s.owner) == 1) != show {
				t.Errorf("show %v: %d %v, kept %d", show, a.status, a.body, shown(s.owner))
			}
			if shown(s.other) != 1 {
				t.Error("another workspace was switched too")
			}
		}
	})
}
