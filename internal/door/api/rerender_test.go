package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/apptest"
)

// cancelled is a job of frames 1 to 20 that has ended, and of which no frame was rendered.
func (s *service) cancelled() (jobID string) {
	s.t.Helper()
	q := s.post("/node/v1/uploads/"+s.upload+"/quote", jsonBody(`{"frame_start":1,"frame_end":20}`))
	jobID = s.post("/node/v1/uploads/"+s.upload+"/start", terms(q.text("quote_id"))).text("job_id")
	s.post("/node/v1/jobs/"+jobID+"/cancel", body{})
	return jobID
}

// terms is the body of a start.
func terms(quoteID string) body {
	return jsonBody(`{"quote_id":"` + quoteID + `","legal_acceptance":"SVC_LEGAL_V1"}`)
}

func again(frames string) body { return jsonBody(fmt.Sprintf(`{"frames":%q}`, frames)) }

func TestFramesOfAnEndedJobAreANewQuoteAndANewJob(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		first := s.cancelled()
		before := s.call("GET", "/node/v1/jobs/"+first, s.agent, body{}).body
		q := s.post("/node/v1/jobs/"+first+"/rerender", again("9,3,7-8,8"))
		want := map[string]any{
			"upload_id": s.upload, "status": "open", "frame_start": 3.0, "frame_end": 9.0, "frame_step": 1.0, "frame_count": 4.0,
			"frame_list": "3,7-9", "price_cents": 4.0, "rerender_of": first,
		}
		inner, _ := q.body["quote"].(map[string]any)
		for name, value := range want {
			if q.status != 200 || q.body[name] != value || inner[name] != value {
				t.Errorf("the quote: %d, %s is %v, inside %v, want %v", q.status, name, q.body[name], inner[name], value)
			}
		}
		if _, reserved := s.wallet(); reserved != 0 {
			t.Errorf("the quote reserved %v", reserved)
		}
		started := s.post("/node/v1/uploads/"+s.upload+"/start", terms(q.text("quote_id")))
		for _, name := range []string{"upload_id", "frame_start", "frame_end", "frame_step", "frame_count", "frame_list", "price_cents", "rerender_of"} {
			if started.status != 200 || started.body[name] != want[name] {
				t.Errorf("the job: %d, %s is %v, want %v", started.status, name, started.body[name], want[name])
			}
		}
		if started.text("job_id") == first || s.post("/node/v1/uploads/"+s.upload+"/start", terms(q.text("quote_id"))).text("job_id") != started.text("job_id") {
			t.Error("the start is not one new job")
		}
		if _, reserved := s.wallet(); reserved != 4 {
			t.Errorf("the start reserved %v", reserved)
		}
		if after := s.call("GET", "/node/v1/jobs/"+first, s.agent, body{}).body; fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the ended job was %v, is %v", before, after)
		}
		// For a job with gaps too, and for a list that is a range.
		s.post("/node/v1/jobs/"+started.text("job_id")+"/cancel", body{})
		for frames, list := range map[string]string{"7-9": "7-9", "3,7": "3-7:4", "8": "8"} {
			if q := s.post("/node/v1/jobs/"+started.text("job_id")+"/rerender", again(frames)); q.body["frame_list"] != list || q.body["rerender_of"] != started.body["job_id"] {
				t.Errorf("%s of it: %d %v", frames, q.status, q.body)
			}
		}
	})
}

func TestTheOlderFlowRendersFramesAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		first := s.cancelled()
		q := s.call("POST", "/v1/renders/"+first+"/rerender", s.account, again("2,4,5"))
		made := s.call("POST", "/v1/renders", s.account, jsonBody(`{"upload_id":"`+q.text("upload_id")+`"}`))
		if made.status != 200 || made.body["frame_list"] != "2,4-5" || made.body["rerender_of"] != first || made.body["quote_id"] != q.body["quote_id"] || made.body["status"] != "awaiting_submit" {
			t.Fatalf("made %d %v of the quote %v", made.status, made.body, q.body)
		}
		if a := s.call("POST", "/v1/renders/"+made.text("job_id")+"/submit", s.account, body{}); a.status != 200 || a.body["status"] != "queued" {
			t.Errorf("submitted: %d %v", a.status, a.body)
		}
		// The newest quote is accepted: the same frames once more.
		if more := s.call("POST", "/v1/renders", s.account, jsonBody(`{"upload_id":"`+q.text("upload_id")+`"}`)); more.body["frame_list"] != "2,4-5" || more.body["rerender_of"] != first {
			t.Errorf("once more: %d %v", more.status, more.body)
		}
	})
}

func TestARerenderThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		first := s.cancelled()
		route := "/node/v1/jobs/" + first + "/rerender"
		for name, c := range map[string]struct {
			body   body
			status int
			code   fault.Code
		}{
			"beyond the job":     {again("20-21"), 400, fault.InvalidFrameRange},
			"beyond every frame": {again("1073741824"), 400, fault.InvalidFrameRange},
			"frame 0":            {again("0"), 400, fault.InvalidFrameRange},
			"none":               {again(""), 400, fault.InvalidFrameRange},
			"words":              {again("all"), 400, fault.InvalidFrameRange},
			"backwards":          {again("9-3"), 400, fault.InvalidFrameRange},
			"too many":           {again("1-10001"), 400, fault.FrameRangeTooLarge},
			"too many, named":    {again(strings.Repeat("1,", 10000) + "1"), 400, fault.FrameRangeTooLarge},
			"a billion":          {again("1-1000000000"), 400, fault.FrameRangeTooLarge},
			"a step without end": {again("3x2"), 400, fault.InvalidFrameRange},
			"an empty list":      {jsonBody(`{"frames":[]}`), 400, fault.InvalidRequest},
			"text in a list":     {jsonBody(`{"frames":["3"]}`), 400, fault.InvalidRequest},
			"a number":           {jsonBody(`{"frames":3}`), 400, fault.InvalidRequest},
			"without frames":     {jsonBody(`{}`), 400, fault.InvalidRequest},
			"with a price":       {jsonBody(`{"frames":"3","price_cents":1}`), 400, fault.InvalidRequest},
			"with more":          {jsonBody(`{"frames":"3","more":1}`), 400, fault.InvalidRequest},
			"a list of a MiB":    {again(strings.Repeat("1,", 1<<19)), 413, fault.BodyTooLarge},
		} {
			if a := s.post(route, c.body); a.status != c.status || a.code() != c.code {
				t.Errorf("%s: %d %s, want %d %s (%v)", name, a.status, a.code(), c.status, c.code, a.body)
			}
		}
		a := s.post(route, again("19-22,30"))
		refused, _ := a.body["error"].(map[string]any)
		detail, _ := refused["detail"].(map[string]any)
		if detail["not_in_job"] != "21-22,30" || detail["frame_list"] != "1-20" {
			t.Errorf("frames that the job does not have: %v", a.body)
		}
		if a := s.call("POST", route, s.stranger, again("3")); a.status != 404 || a.code() != fault.RenderNotFound {
			t.Errorf("another workspace: %d %s", a.status, a.code())
		}
		running := s.post("/node/v1/uploads/"+s.upload+"/start", terms(s.quote)).text("job_id")
		if a := s.post("/node/v1/jobs/"+running+"/rerender", again("1")); a.status != 409 || a.code() != fault.RenderNotCompleted || a.body["error"].(map[string]any)["retryable"] != any(true) {
			t.Errorf("a running job: %d %v", a.status, a.body)
		}
		s.post("/node/v1/jobs/"+running+"/cancel", body{})
		q := s.post(route, again("3,5,9"))
		s.call("DELETE", "/node/v1/uploads/"+s.upload, s.agent, body{})
		if a := s.post(route, again("3")); a.status != 404 || a.code() != fault.UploadNotFound || !strings.Contains(fmt.Sprint(a.body), "Upload the file again") {
			t.Errorf("a deleted upload: %d %v", a.status, a.body)
		}
		if a := s.post("/node/v1/uploads/"+s.upload+"/start", terms(q.text("quote_id"))); a.status != 404 || a.code() != fault.UploadNotFound {
			t.Errorf("a quote of a deleted upload: %d %v", a.status, a.body)
		}
		if available, reserved := s.wallet(); available != 100 || reserved != 0 {
			t.Errorf("the wallet has %v, %v reserved", available, reserved)
		}
	})
}

func TestTwoRerendersWithOneKeyAreOneQuote(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		route := "/node/v1/jobs/" + s.cancelled() + "/rerender"
		key := map[string]string{"Idempotency-Key": "again"}
		var mu sync.Mutex
		var quotes []string
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				for {
					a := s.callWith("POST", route, s.agent, key, again("3,7"))
					if a.status == 409 && a.code() == fault.IdempotencyInProgress {
						continue
					}
					mu.Lock()
					quotes = append(quotes, a.text("quote_id"))
					mu.Unlock()
					return
				}
			})
		}
		all.Wait()
		slices.Sort(quotes)
		if len(slices.Compact(slices.Clone(quotes))) != 1 {
			t.Fatalf("one key gave the quotes %v", quotes)
		}
		if a := s.callWith("POST", route, s.agent, key, again("3,8")); a.status != 409 || a.code() != fault.IdempotencyKeyReused {
			t.Errorf("the key with other frames: %d %s", a.status, a.code())
		}
		if s.post(route, again("3,7")).text("quote_id") == quotes[0] {
			t.Error("without a key, the same request gave the same quote")
		}
		jobs := map[string]bool{}
		for range 3 {
			jobs[s.post("/node/v1/uploads/"+s.upload+"/start", terms(quotes[0])).text("job_id")] = true
		}
		if _, reserved := s.wallet(); len(jobs) != 1 || reserved != 2 {
			t.Errorf("the quote became %v, %v reserved", jobs, reserved)
		}
	})
}

// TestTenThousandFramesWithGapsAreOneJob: a list is one statement, whatever its gaps.
func TestTenThousandFramesWithGapsAreOneJob(t *testing.T) {
	t.Parallel()
	shared.Each(t, func(t *testing.T, w *apptest.World) {
		s := join(t, w)
		s.agent = w.Workspace(t, 20_000).Agent.Secret
		a := s.post("/node/v1/uploads/inspect", s.form(map[string]string{"frame_start": "1", "frame_end": "10000"}, "scene.blend", demo.Scene()))
		first := s.post("/node/v1/uploads/"+a.text("upload_id")+"/start", terms(a.text("quote_id"))).text("job_id")
		s.post("/node/v1/jobs/"+first+"/cancel", body{})
		var frames []string
		count := 0.0
		for n := 1; n < 10_000; n += 3 {
			frames, count = append(frames, fmt.Sprintf("%d-%d", n, n+1)), count+2
		}
		list := strings.Join(frames, ",")
		q := s.post("/node/v1/jobs/"+first+"/rerender", again(list))
		started := s.post("/node/v1/uploads/"+a.text("upload_id")+"/start", terms(q.text("quote_id")))
		if started.status != 200 || started.body["frame_count"] != count || started.body["frame_list"] != list {
			t.Fatalf("got %d, %v frames for %v", started.status, started.body["frame_count"], count)
		}
		if a := s.post("/node/v1/jobs/"+started.text("job_id")+"/cancel", body{}); a.status != 200 {
			t.Errorf("cancelled: %d %v", a.status, a.body)
		}
	})
}
