package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
)

func (s *service) terms() body {
	return jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1"}`)
}

func TestInspectAndQuoteSpendNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) { // which has inspected already
		for _, a := range []answer{
			s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene())),
			s.post("/node/v1/uploads/"+s.upload+"/quote", jsonBody(`{"frame_start":1,"frame_end":50}`)),
			s.call("POST", "/v1/uploads", s.account, s.form(nil, "scene.blend", demo.Scene())),
			s.call("POST", "/v1/renders/preflight", s.account, jsonBody(`{"filename":"scene.blend","frame_count":50}`)),
		} {
			if a.status != 200 {
				t.Fatalf("%d %v", a.status, a.body)
			}
		}
		if available, reserved := s.wallet(); available != 100 || reserved != 0 {
			t.Errorf("the wallet has %v and %v reserved", available, reserved)
		}
		if all := s.call("GET", "/v1/wallet/transactions", s.account, body{}).body["transactions"].([]any); len(all) != 1 {
			t.Errorf("the ledger says %v", all)
		}
	})
}

func TestResultsAreForCompletedJobs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		check := func(door, jobID, key string, retryable bool) {
			t.Helper()
			for _, result := range []string{"download", "receipt", "proof"} {
				a := s.call("GET", door+jobID+"/"+result, key, body{})
				if a.status != 409 || a.code() != fault.RenderNotCompleted || a.body["error"].(map[string]any)["retryable"] != retryable {
					t.Errorf("%s of %s: %d %v, want it retryable: %v", result, jobID, a.status, a.body, retryable)
				}
				if action, _ := a.body["error"].(map[string]any)["suggested_action"].(string); strings.Contains(action, "failure") {
					t.Errorf("%s of a job that has not failed: %s", result, action)
				}
			}
		}
		job := s.post("/node/v1/uploads/"+s.upload+"/start", s.terms())
		if job.body["download_url"] != nil || job.body["receipt_url"] != nil || job.body["proof_url"] != nil {
			t.Errorf("it has links before its end: %v", job.body)
		}
		for door, key := range map[string]string{"/node/v1/jobs/": s.agent, "/v1/renders/": s.account} {
			check(door, job.text("job_id"), key, true)
		}
		s.post("/node/v1/jobs/"+job.text("job_id")+"/cancel", body{})
		check("/node/v1/jobs/", job.text("job_id"), s.agent, false)
	})
}

// TestTenThousandFramesPassAndOneMoreDoesNot asks at each of the three places.
func TestTenThousandFramesPassAndOneMoreDoesNot(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for n, status := range map[int]int{1: 200, 10000: 200, 10001: 400} {
			to := map[string]string{"frame_start": "1", "frame_end": fmt.Sprint(n)}
			for place, a := range map[string]answer{
				"preflight": s.call("POST", "/v1/renders/preflight", s.account, jsonBody(fmt.Sprintf(`{"filename":"a.blend","frame_end":%d}`, n))),
				"inspect":   s.post("/node/v1/uploads/inspect", s.form(to, "a.blend", demo.Scene())),
				"quote":     s.post("/node/v1/uploads/"+s.upload+"/quote", jsonBody(fmt.Sprintf(`{"frame_start":1,"frame_end":%d}`, n))),
			} {
				if a.status != status || (status == 200) != (a.body["price_cents"] == float64(n)) {
					t.Errorf("%s of %d frames: %d %v", place, n, a.status, a.body)
				}
			}
			// An upload also reserves: the wallet's 100 cents are too few for 10000.
			a, want := s.put(to, nil), map[int]fault.Code{1: "", 10000: fault.InsufficientFunds, 10001: fault.FrameRangeTooLarge}[n]
			if a.code() != want {
				t.Errorf("upload of %d frames: %d %v", n, a.status, a.body)
			}
		}
	})
}

func TestASceneBeyondTheEnvelopeIsNotStarted(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.Envelope = 1000 })
		q := s.post("/node/v1/uploads/inspect", s.form(nil, "scene.blend", demo.Scene()))
		if qualified, said := q.body["qualified_1c"].(bool); qualified || !said {
			t.Fatalf("inspected: %d %v", q.status, q.body)
		}
		s.upload, s.quote = q.text("upload_id"), q.text("quote_id")
		if a := s.post("/node/v1/uploads/"+s.upload+"/start", s.terms()); a.status != 409 || a.code() != fault.QuoteNotQualified {
			t.Errorf("start: %d %v", a.status, a.body)
		}
		if a := s.put(nil, nil); a.status != 409 || a.code() != fault.QuoteNotQualified {
			t.Errorf("the older upload: %d %v", a.status, a.body)
		}
		if _, reserved := s.wallet(); reserved != 0 {
			t.Errorf("%v cents are reserved", reserved)
		}
	})
}

func TestHeadOfAStreamTellsWhatItIs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		job := s.post("/node/v1/uploads/"+s.upload+"/start", s.terms()).text("job_id")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.base+"/node/v1/jobs/"+job+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.agent)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v", res.StatusCode, res.Header)
		}
	})
}
