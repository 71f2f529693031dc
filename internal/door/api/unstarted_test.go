package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
)

// another is the demo's scene with a few bytes more after its end, so that it is
// another file of the same content.
func another(number int) []byte { return fmt.Appendf(demo.Scene(), "%08d", number) }

func TestEveryWayToUploadObeysTheStorageLimit(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		limit := int64(len(another(0)) * 3 / 2) // with room for rows
		s := start(t, url, func(c *app.Config) { c.Unstarted = limit })
		if a := s.call("GET", "/v1/limits", "", body{}); a.body["unstarted_storage_bytes"] != float64(limit) {
			t.Errorf("/limits says %v", a.body)
		}
		inspect := func(file []byte) answer { return s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", file)) }
		first := inspect(another(0))
		if first.status != 200 {
			t.Fatalf("the first: %d %v", first.status, first.body)
		}
		for way, a := range map[string]answer{
			"inspect": inspect(another(1)),
			"uploads": s.call("POST", "/v1/uploads", s.account, s.form(nil, "scene.blend", another(2))),
			"renders": s.call("POST", "/v1/renders", s.account, s.form(nil, "scene.blend", another(3))),
		} {
			e, _ := a.body["error"].(map[string]any)
			detail, _ := e["detail"].(map[string]any)
			if a.status != 409 || a.code() != fault.StorageLimitReached || detail["used_bytes"].(float64) < float64(len(another(0))) || detail["limit_bytes"] != float64(limit) {
				t.Errorf("%s: %d %v", way, a.status, a.body)
			}
		}
		// A caller that names content which is already there pays nothing for
		// it.
		sum := sha256.Sum256(another(0))
		again := map[string]string{"Idempotency-Key": "upload-" + hex.EncodeToString(sum[:])}
		named := s.callWith("POST", "/v1/uploads", s.account, again, s.form(nil, "scene.blend", another(0)))
		if named.status != 200 || named.text("upload_id") == first.text("upload_id") {
			t.Errorf("known content: %d %v", named.status, named.body)
		}
		// The room comes back with the last upload of the bytes, and at once.
		for way, upload := range map[string]string{"/node/v1/uploads/": first.text("upload_id"), "/v1/uploads/": named.text("upload_id")} {
			key := map[string]string{"/node/v1/uploads/": s.agent, "/v1/uploads/": s.account}[way]
			for range 2 {
				a := s.call("DELETE", way+upload, key, body{})
				if a.status != 200 || a.body["deleted"] != any(true) || a.text("upload_id") != upload {
					t.Errorf("DELETE %s: %d %v", way, a.status, a.body)
				}
			}
			if a := s.call("GET", way+upload, key, body{}); a.status != 404 || a.code() != fault.UploadNotFound {
				t.Errorf("GET %s of what is deleted: %d %v", way, a.status, a.body)
			}
		}
		if a := inspect(another(4)); a.status != 200 {
			t.Errorf("after the deletion: %d %v", a.status, a.body)
		}
	})
}

func TestAnUploadIsReadAgainAndKeptWhileAJobNeedsIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for path, key := range map[string]string{"/node/v1/uploads/": s.agent, "/v1/uploads/": s.account} {
			a := s.call("GET", path+s.upload, key, body{})
			if a.status != 200 || a.text("quote_id") != s.quote || a.body["scene"] == nil || a.body["quote"] == nil {
				t.Errorf("%s: %d %v", path, a.status, a.body)
			}
		}
		if a := s.call("DELETE", "/node/v1/uploads/"+s.upload, s.stranger, body{}); a.status != 404 || a.code() != fault.UploadNotFound {
			t.Errorf("another workspace: %d %v", a.status, a.body)
		}
		terms := jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1"}`)
		job := s.post("/node/v1/uploads/"+s.upload+"/start", terms).text("job_id")
		if a := s.call("DELETE", "/v1/uploads/"+s.upload, s.account, body{}); a.status != 409 || a.code() != fault.UploadInUse {
			t.Errorf("while its job runs: %d %v", a.status, a.body)
		}
		s.post("/node/v1/jobs/"+job+"/cancel", body{})
		if a := s.call("DELETE", "/v1/uploads/"+s.upload, s.account, body{}); a.status != 200 {
			t.Errorf("after its job ended: %d %v", a.status, a.body)
		}
		if a := s.call("GET", "/node/v1/jobs/"+job, s.agent, body{}); a.status != 200 {
			t.Errorf("the job of a deleted upload: %d %v", a.status, a.body)
		}
	})
}
