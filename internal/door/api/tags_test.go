package api_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/work/job"
)

// TestJobsAreTaggedAndFoundByTheirTags through both APIs: at the start and later, in every
// state, and inherited by what renders their frames again.
func TestJobsAreTaggedAndFoundByTheirTags(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		tags := func(a answer, want ...string) {
			t.Helper()
			got := []string{}
			for _, tag := range a.body["tags"].([]any) {
				got = append(got, tag.(string))
			}
			if a.status != 200 || !slices.Equal(got, want) {
				t.Errorf("%d, tags %q, want %q", a.status, got, want)
			}
		}
		start := func(q answer, more string) answer {
			return s.post("/node/v1/uploads/"+q.text("upload_id")+"/start", jsonBody(`{"quote_id":"`+q.text("quote_id")+`","legal_acceptance":"SVC_LEGAL_V1"`+more+`}`))
		}
		q := s.post("/node/v1/uploads/inspect", s.form(nil, "Shot_010.blend", demo.Scene()))
		for _, wrong := range []string{`["a,b"]`, `[""]`, `["` + strings.Repeat("a", 33) + `"]`, `"hero"`, `["1","2","3","4","5","6","7","8","9","10","11"]`} {
			if a := start(q, `,"tags":`+wrong); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("%s: %d %s", wrong, a.status, a.code())
			}
		}
		first := start(q, `,"tags":[" Hero","client A","hero"]`)
		tags(first, "client a", "hero")
		tags(start(q, `,"tags":["late"]`), "client a", "hero") // the same job
		id := first.text("job_id")
		s.post("/node/v1/jobs/"+id+"/cancel", body{})
		tags(s.call("PUT", "/v1/renders/"+id+"/tags", s.account, jsonBody(`{"tags":["<b>&'\"</b>","final"]}`)), `<b>&'"</b>`, "final")
		if a := s.call("PUT", "/node/v1/jobs/"+id+"/tags", s.stranger, jsonBody(`{"tags":["mine"]}`)); a.status != 404 || a.code() != fault.RenderNotFound {
			t.Errorf("another workspace tags it: %d %s", a.status, a.code())
		}
		again := start(s.post("/node/v1/jobs/"+id+"/rerender", jsonBody(`{"frames":"1"}`)), "")
		tags(again, `<b>&'"</b>`, "final")
		other := start(s.post("/node/v1/jobs/"+id+"/rerender", jsonBody(`{"frames":"1"}`)), `,"tags":[]`)
		tags(other)
		tags(s.call("GET", "/node/v1/jobs/"+id, s.agent, body{}), `<b>&'"</b>`, "final")

		s.findsTagged(id, again.text("job_id"))
	})
}

// TestRendersAreTaggedWhenTheyAreMade in both forms of POST /renders.
func TestRendersAreTaggedWhenTheyAreMade(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		form := func(tags string) answer {
			return s.call("POST", "/v1/renders", s.account, s.form(map[string]string{"tags": tags}, "scene.blend", demo.Scene()))
		}
		ofUpload := func(id, more string) answer {
			return s.call("POST", "/v1/renders", s.account, jsonBody(`{"upload_id":"`+id+`"`+more+`}`))
		}
		inspected := func() string {
			return s.call("POST", "/v1/uploads", s.account, s.form(nil, "scene.blend", demo.Scene())).text("upload_id")
		}
		want := func(name string, a answer, tags ...any) {
			t.Helper()
			if got, _ := a.body["tags"].([]any); a.status != 200 || !slices.Equal(got, tags) {
				t.Errorf("%s: %d, tags %q, want %q", name, a.status, got, tags)
			}
		}
		first := form(" Hero, client A,hero,")
		want("form", first, "client a", "hero")
		want("empty field", form(""))
		want("JSON", ofUpload(inspected(), `,"tags":["B","a"]`), "a", "b")
		want("no member", ofUpload(inspected(), ""))
		s.call("POST", "/v1/renders/"+first.text("job_id")+"/cancel", s.account, body{})
		again := s.call("POST", "/v1/renders/"+first.text("job_id")+"/rerender", s.account, jsonBody(`{"frames":"1"}`))
		want("rerender", ofUpload(again.text("upload_id"), ""), "client a", "hero")

		id := inspected()
		for _, wrong := range []string{`["a,b"]`, `[""]`, `[1]`, `["a",1]`, `null`, `"hero"`, `{"0":"hero"}`, `["` + strings.Repeat("a", 33) + `"]`, `["1","2","3","4","5","6","7","8","9","10","11"]`, `["\u202ea"]`} {
			if a := ofUpload(id, `,"tags":`+wrong); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("%s: %d %s", wrong, a.status, a.code())
			}
		}
		for _, wrong := range []string{strings.Repeat("a", 33), "1,2,3,4,5,6,7,8,9,10,11", "a\u200bb"} {
			if a := form(wrong); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("%q in a form: %d %s", wrong, a.status, a.code())
			}
		}
		want("after the refusals", ofUpload(id, `,"tags":["last"]`), "last")
	})
}

// findsTagged looks for a job and a later one in all lists, by the tag that both have.
func (s *service) findsTagged(id, again string) {
	s.t.Helper()
	list := func(key, path string, filter url.Values) (ids []string, next string) {
		s.t.Helper()
		res, data := s.send("GET", path+"?"+filter.Encode(), key, nil, nil, "")
		var got struct{ Renders []job.Object }
		if err := json.Unmarshal(data, &got); err != nil || res.StatusCode != 200 {
			s.t.Fatalf("%d %s", res.StatusCode, data)
		}
		for _, o := range got.Renders {
			ids = append(ids, o.JobID)
		}
		return ids, res.Header.Get("Link")
	}
	for _, at := range []struct{ key, path string }{{s.agent, "/node/v1/jobs"}, {s.account, "/v1/workspace/renders"}} {
		wanted := url.Values{"tag": {"FINAL"}, "q": {"shot"}, "from": {"2001-01-01"}, "limit": {"1"}, "frames": {"1"}}
		ids, next := list(at.key, at.path, wanted)
		for _, want := range []string{"tag=FINAL", "q=shot", "from=2001-01-01", "frames=1", "before=" + again} {
			if !slices.Equal(ids, []string{again}) || !strings.Contains(next, want) {
				s.t.Errorf("%s: %v, then %s, without %s", at.path, ids, next, want)
			}
		}
		wanted.Set("before", again)
		if ids, next = list(at.key, at.path, wanted); !slices.Equal(ids, []string{id}) || next != "" {
			s.t.Errorf("%s: %v, then %q", at.path, ids, next)
		}
		for _, wrong := range []string{"from=today", "to=2026-02-30", "q=a+b+c+d+e", "q=%00", "tag=%00", "q=" + strings.Repeat("a", 201), "frames=0", "frames=1-10001", "frames=all", "person=%00"} {
			if a := s.call("GET", at.path+"?"+wrong, at.key, body{}); a.status != 400 || a.code() != fault.InvalidRequest {
				s.t.Errorf("%s: %d %s", wrong, a.status, a.code())
			}
		}
	}
	for _, filter := range []url.Values{{"person": {"nobody@example.com"}}, {"frames": {"999"}}} {
		if ids, _ := list(s.agent, "/node/v1/jobs", filter); len(ids) != 0 {
			s.t.Errorf("%s finds %v", filter.Encode(), ids)
		}
	}
	if ids, _ := list(s.stranger, "/node/v1/jobs", url.Values{"tag": {"final"}}); len(ids) != 0 {
		s.t.Errorf("another workspace finds %v", ids)
	}
}
