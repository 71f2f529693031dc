package api_test

import (
	"net/url"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
)

// TestACursorThatIsNoIDIsRefused on every list that has pages: a misspelt cursor must
// not look like an end, nor like a beginning.
func TestACursorThatIsNoIDIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		endpoint := s.call("POST", "/v1/webhook-endpoints", s.account, jsonBody(`{"url":"https://8.8.8.8/"}`)).text("endpoint_id")
		zeros := strings.Repeat("0", 32)
		for list, right := range map[string]string{
			"/v1/workspace/renders":                             "JOB-" + zeros,
			"/v1/wallet/transactions":                           "TXN-" + zeros,
			"/v1/webhook-endpoints/" + endpoint + "/deliveries": "WHD-" + zeros + zeros,
		} {
			for _, query := range []string{
				"before=nope", "before=UPL-" + zeros, "before=" + right + "0", "before=" + strings.ToUpper(right) + "F", "before=" + url.QueryEscape(right+"\n"),
				"limit=0", "limit=-1", "limit=201", "limit=nope", "limit=1e2",
			} {
				if a := s.call("GET", list+"?"+query, s.account, body{}); a.status != 400 || a.code() != fault.InvalidRequest {
					t.Errorf("%s?%s: %d %v", list, query, a.status, a.body)
				}
			}
			if a := s.call("GET", list+"?limit=200&before="+right, s.account, body{}); a.status != 200 {
				t.Errorf("%s of an id: %d %v", list, a.status, a.body)
			}
		}
		if a := s.call("GET", "/node/v1/leaderboard/latest?limit=0", "", body{}); a.status != 400 {
			t.Errorf("no newest result: %d", a.status)
		}
	})
}

// TestAStepOfZeroAndACountThatDisagreesAreRefused at every place that chooses frames:
// a caller never pays for frames that were not meant.
func TestAStepOfZeroAndACountThatDisagreesAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		quoteOf := "/node/v1/uploads/" + s.upload + "/quote"
		form := func(fields ...string) body {
			values := map[string]string{}
			for i := 0; i < len(fields); i += 2 {
				values[fields[i]] = fields[i+1]
			}
			return s.form(values, "scene.blend", demo.Scene())
		}
		const inspect, uploads, renders = "/node/v1/uploads/inspect", "/v1/uploads", "/v1/renders"
		for _, c := range []struct {
			path, key string
			body      body
			code      fault.Code // "" is an answer
		}{
			{quoteOf, s.agent, jsonBody(`{"frame_start":1,"frame_end":9,"frame_step":0}`), fault.InvalidFrameRange},
			{quoteOf, s.agent, jsonBody(`{"frame_start":1,"frame_end":9,"frame_step":-1}`), fault.InvalidFrameRange},
			{quoteOf, s.agent, jsonBody(`{"frame_start":1,"frame_end":9,"frame_count":9}`), fault.InvalidRequest}, // it has no such member
			{quoteOf, s.agent, jsonBody(`{"frame_start":1,"frame_end":9}`), ""},
			{inspect, s.agent, form("frame_step", "0"), fault.InvalidFrameRange},
			{inspect, s.agent, form("frame_start", "1", "frame_end", "9", "frame_count", "8"), fault.InvalidFrameRange},
			{inspect, s.agent, form("frame_count", "9999"), fault.InvalidFrameRange},
			{inspect, s.agent, form("frame_count", "nine"), fault.InvalidRequest},
			{inspect, s.agent, form("frame_start", "1", "frame_end", "9", "frame_step", "2", "frame_count", "9"), fault.InvalidFrameRange},
			{inspect, s.agent, form("frame_start", "1", "frame_end", "9", "frame_step", "2", "frame_count", "5"), ""},
			{uploads, s.account, form("frame_step", "0"), fault.InvalidFrameRange},
			{uploads, s.account, form("frame_start", "1", "frame_end", "9", "frame_count", "8"), fault.InvalidFrameRange},
			{uploads, s.account, form("frame_start", "1", "frame_end", "9", "frame_count", "9"), ""},
			{renders, s.account, form("frame_step", "0"), fault.InvalidFrameRange},
			{renders, s.account, form("frame_start", "1", "frame_end", "9", "frame_step", "2"), fault.InvalidFrameRange},
			{renders, s.account, form("frame_start", "1", "frame_end", "9", "frame_count", "8"), fault.InvalidFrameRange},
			{renders, s.account, form("frame_start", "1", "frame_end", "9", "frame_count", "9", "frame_step", "1"), ""},
			{renders, s.account, jsonBody(`{"upload_id":"` + s.upload + `","frame_count":1}`), fault.InvalidRequest},
			{renders + "/preflight", s.account, jsonBody(`{"filename":"a.blend","frame_step":0}`), fault.InvalidRequest},
			{renders + "/preflight", s.account, jsonBody(`{"filename":"a.blend","frame_start":1,"frame_end":9,"frame_count":8}`), fault.InvalidFrameRange},
			{renders + "/preflight", s.account, jsonBody(`{"filename":"a.blend","frame_start":0}`), fault.InvalidRequest},
			{"/node/v1/uploads/" + s.upload + "/start", s.agent, s.startWith(`"frame_count":1`), fault.InvalidRequest},
		} {
			a := s.call("POST", c.path, c.key, c.body)
			if a.code() != c.code || (c.code != "" && a.status != 400) || (c.code == "" && a.status > 201) {
				t.Errorf("%s %.300s: %d %s, want %q", c.path, c.body.data, a.status, a.code(), c.code)
			}
		}
	})
}
