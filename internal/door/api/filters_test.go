package api_test

import (
	"fmt"
	"testing"

	"svc.example/internal/ground/fault"
)

// TestKeysOfAPersonSaveAndUseTheirFilters: each key of theirs has the same ones, the keys that an
// operator made have none, and no agent key writes any.
func TestKeysOfAPersonSaveAndUseTheirFilters(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		const path = "/v1/workspace/filters"
		mine := s.limited().keys
		wish := `{"name":"Failed heroes","status":"failed","q":"shot","tag":"hero","from":"2026-11-01","to":"2026-11-30","person":"ada","frames":"1-20"}`
		saved := s.call("POST", path, mine[0], jsonBody(wish))
		if saved.status != 200 || saved.text("name") != "Failed heroes" {
			t.Fatalf("%d %v", saved.status, saved.body)
		}
		own := path + "/" + saved.text("filter_id")
		for _, key := range mine {
			list := s.call("GET", path, key, body{}).body["filters"].([]any)
			if len(list) != 1 {
				t.Fatalf("%v", list)
			}
			for member, want := range map[string]string{"filter_id": saved.text("filter_id"), "status": "failed", "q": "shot", "tag": "hero", "from": "2026-11-01", "to": "2026-11-30", "person": "ada", "frames": "1-20"} {
				if got := list[0].(map[string]any)[member]; got != want {
					t.Errorf("%s is %v, want %s", member, got, want)
				}
			}
		}
		refused := func(method, at, key, text string, status int, code fault.Code) {
			t.Helper()
			b := body{}
			if text != "" {
				b = jsonBody(text)
			}
			if a := s.call(method, at, key, b); a.status != status || a.code() != code {
				t.Errorf("%s %s %s: %d %s", method, at, text, a.status, a.code())
			}
		}
		refused("POST", path, mine[0], wish, 400, fault.InvalidRequest) // the name is taken
		for _, wrong := range []string{`{"name":"x"}`, `{"name":"","tag":"a"}`, `{"name":"x","status":"gone"}`, `{"name":"x","frames":"all"}`, `{"name":"x","from":"today"}`, `{"name":"x","q":"a b c d e"}`, `{"name":"x","tag":"a","more":1}`} {
			refused("POST", path, mine[0], wrong, 400, fault.InvalidRequest)
			refused("PUT", own, mine[0], wrong, 400, fault.InvalidRequest)
		}
		refused("POST", path, s.agent, wish, 401, fault.Unauthenticated)
		if a := s.call("PUT", own, mine[0], jsonBody(`{"name":"Heroes","tag":"hero"}`)); a.status != 200 || a.text("name") != "Heroes" || a.text("q") != "" {
			t.Errorf("after a change: %d %v", a.status, a.body)
		}
		missing := path + fmt.Sprintf("/FLT-%032d", 0)
		refused("PUT", missing, mine[0], wish, 404, fault.FilterNotFound)
		refused("DELETE", missing, mine[0], "", 404, fault.FilterNotFound)
		refused("POST", path, s.account, wish, 400, fault.InvalidRequest) // nobody made this key
		refused("DELETE", own, s.account, "", 404, fault.FilterNotFound)
		for _, key := range []string{s.account, s.agent, s.stranger} {
			if a := s.call("GET", path, key, body{}); a.status != 200 || len(a.body["filters"].([]any)) != 0 {
				t.Errorf("another key sees %v", a.body)
			}
		}
		if a := s.call("DELETE", own, mine[0], body{}); a.status != 200 || a.text("filter_id") != saved.text("filter_id") {
			t.Errorf("%d %v", a.status, a.body)
		}
		refused("DELETE", own, mine[0], "", 404, fault.FilterNotFound)
	})
}
