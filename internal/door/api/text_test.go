package api_test

import (
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
)

// TestNoTextIsAFaultOfOurs sends texts that a database cannot hold (PostgreSQL
// takes no NUL, and nothing that is no UTF-8) wherever a caller may send one.
func TestNoTextIsAFaultOfOurs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		b := s.signedIn(s.owner)
		refused := func(what string, a answer) {
			t.Helper()
			if a.status != 400 && a.status != 404 {
				t.Errorf("%s: %d %v", what, a.status, a.body)
			}
		}
		upload := "/node/v1/uploads/" + s.upload
		for _, bad := range []string{"%00", "JOB-%ff", "%C3%28"} {
			for _, path := range []string{
				"/node/v1/jobs/" + bad, "/node/v1/jobs/" + bad + "/events", "/node/v1/jobs/" + bad + "/download", "/node/v1/jobs/" + bad + "/proof",
			} {
				refused(path, s.call("GET", path, s.agent, body{}))
			}
			for _, path := range []string{
				"/v1/renders/" + bad, "/v1/renders/" + bad + "/log", "/v1/renders/" + bad + "/frames", "/v1/renders/" + bad + "/frames/1/preview",
				"/v1/renders/" + bad + "/webhook-deliveries", "/v1/webhook-endpoints/" + bad, "/v1/webhook-endpoints/" + bad + "/deliveries",
				"/v1/workspace/renders?before=" + bad, "/v1/wallet/transactions?before=" + bad,
			} {
				refused(path, s.call("GET", path, s.account, body{}))
			}
			for _, path := range []string{
				"/v1/artifacts/" + bad + "?expires=9999999999&signature=x", "/node/v1/leaderboard/result/" + bad, "/node/v1/leaderboard/gpu/" + bad,
				"/node/v1/leaderboard/compare/" + bad + "/" + bad, "/node/v1/leaderboard/search?q=" + bad,
			} {
				refused(path, s.call("GET", path, "", body{}))
			}
			refused("quote of "+bad, s.post("/node/v1/uploads/"+bad+"/quote", jsonBody(`{"frame_start":1,"frame_end":1}`)))
			refused("start of "+bad, s.post("/node/v1/uploads/"+bad+"/start", s.terms()))
			refused("cancel of "+bad, s.post("/node/v1/jobs/"+bad+"/cancel", body{}))
			refused("submit of "+bad, s.call("POST", "/v1/renders/"+bad+"/submit", s.account, body{}))
			refused("redelivery of "+bad, s.call("POST", "/v1/renders/"+bad+"/webhook-deliveries/"+bad+"/redeliver", s.account, body{}))
		}
		const nul = `a\u0000b`
		refused("a quote's id", s.post(upload+"/start", jsonBody(`{"quote_id":"`+nul+`","legal_acceptance":"SVC_LEGAL_V1"}`)))
		refused("a webhook's URL", s.post(upload+"/start", s.startWith(`"webhook_url":"https://8.8.8.8/`+nul+`"`)))
		refused("an upload's id", s.call("POST", "/v1/renders", s.account, jsonBody(`{"upload_id":"`+nul+`"}`)))
		refused("a file's name", s.call("POST", "/v1/renders/preflight", s.account, jsonBody(`{"filename":"`+nul+`.blend"}`)))
		refused("a file's name in a form", s.call("POST", "/v1/renders", s.account, s.form(map[string]string{"renderer": "blender\xff"}, "scene.blend", demo.Scene())))
		refused("a description", s.call("POST", "/v1/webhook-endpoints", s.account, jsonBody(`{"url":"https://8.8.8.8/","description":"`+nul+`"}`)))
		for _, k := range keyKinds() {
			refused("a key's name", b.do("POST", k.routes, jsonBody(`{"name":"`+nul+`"}`)))
		}
		refused("an address", b.do("POST", "/v1/auth/link", jsonBody(`{"email":"a\u0000@example.com"}`)))
		refused("an address, quoted", b.do("POST", "/v1/auth/link", jsonBody(`{"email":"\"a\u0000\"@example.com"}`)))
		refused("an idempotency key", s.callWith("POST", upload+"/quote", s.agent, map[string]string{"Idempotency-Key": "a\xff"}, jsonBody(`{"frame_start":1,"frame_end":1}`)))
		for _, name := range []string{"a\x00.blend", "a\xff.blend"} {
			// Whether it is taken under a clean name or refused: not a fault of ours.
			if a := s.post("/node/v1/uploads/inspect", s.form(nil, name, demo.Scene())); a.status >= 500 || (a.status == 200 && strings.ContainsAny(a.text("filename"), "\x00\uFFFD")) {
				t.Errorf("a file called %q: %d %v", name, a.status, a.body)
			}
		}
	})
}
