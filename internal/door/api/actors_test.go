package api_test

import (
	"fmt"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
)

// TestAJobSaysWhichKeyStartedItAndWhoMadeTheKey. A key of an operator has no person, and an event
// names nobody.
func TestAJobSaysWhichKeyStartedItAndWhoMadeTheKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		b := s.signedIn(s.owner)
		made := b.do("POST", "/v1/agent-keys", jsonBody(`{"name":"nightly"}`))
		start := func(key string) (by map[string]any, id string) {
			t.Helper()
			q := s.call("POST", "/node/v1/uploads/inspect", key, s.form(nil, "scene.blend", demo.Scene()))
			a := s.call("POST", "/node/v1/uploads/"+q.text("upload_id")+"/start", key, jsonBody(`{"quote_id":"`+q.text("quote_id")+`","legal_acceptance":"SVC_LEGAL_V1"}`))
			if a.status != 200 {
				t.Fatalf("start: %d %v", a.status, a.body)
			}
			return a.body["started_by"].(map[string]any), a.text("job_id")
		}
		by, id := start(made.text("key"))
		if by["kind"] != "key" || by["key_id"] != made.text("key_id") || by["key_name"] != "nightly" || by["email"] != s.owner[:1]+"…"+s.owner[strings.Index(s.owner, "@"):] {
			t.Errorf("started by %v", by)
		}
		again := s.call("GET", "/v1/renders/"+id, s.account, body{}).body["started_by"]
		if fmt.Sprint(again) != fmt.Sprint(by) {
			t.Errorf("another key reads %v", again)
		}
		for _, k := range b.do("GET", "/v1/agent-keys", body{}).body["keys"].([]any) {
			key := k.(map[string]any)
			want := map[bool]string{true: "member", false: "operator"}[key["name"] == "nightly"]
			if got := key["created_by"].(map[string]any); got["kind"] != want || (got["person_id"] != nil) != (want == "member") {
				t.Errorf("%v was made by %v", key["name"], got)
			}
		}
		if by, _ := start(s.agent); by["kind"] != "key" || by["person_id"] != nil || by["email"] != nil {
			t.Errorf("a key of an operator: %v", by)
		}
	})
}
