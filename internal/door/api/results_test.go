package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
)

// TestAFinishedJobsResultsAnswerAsHTTPSays asks for parts of the ZIP and for the stream as
// browsers and download managers do.
func TestAFinishedJobsResultsAnswerAsHTTPSays(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		named := s.form(map[string]string{"frame_start": "1", "frame_end": "1"}, "Grüße.blend", demo.Scene())
		jobID := s.call("POST", "/v1/renders", s.account, named).text("job_id")
		s.call("POST", "/v1/renders/"+jobID+"/submit", s.account, body{})
		s.render()
		url := s.ended(jobID).text("download_url")
		whole, zip := s.send("GET", url, "", nil, nil, "")
		tag := whole.Header.Get("ETag")
		if d := whole.Header.Get("Content-Disposition"); !strings.HasPrefix(d, `attachment; filename="`) || !strings.Contains(d, `filename*=UTF-8''`) {
			t.Errorf("the file's name is %s", d)
		}
		for name, c := range map[string]struct {
			header map[string]string
			status int
			code   fault.Code
			bytes  int
		}{
			"a part":              {map[string]string{"Range": "bytes=0-9"}, 206, "", 10},
			"its end":             {map[string]string{"Range": "bytes=-7"}, 206, "", 7},
			"the part of another": {map[string]string{"Range": "bytes=0-9", "If-Range": `"other"`}, 200, "", len(zip)},
			"another unit":        {map[string]string{"Range": "frames=1-2"}, 200, "", len(zip)},
			"a range backwards":   {map[string]string{"Range": "bytes=9-2"}, 200, "", len(zip)},
			"no range at all":     {map[string]string{"Range": "bytes=abc"}, 200, "", len(zip)},
			"beyond the end":      {map[string]string{"Range": "bytes=999999999-"}, 416, fault.RangeNotSatisfiable, 0},
			"the same again":      {map[string]string{"If-None-Match": tag}, 304, "", 0},
			"if it is another":    {map[string]string{"If-Match": `"other"`}, 412, fault.PreconditionFailed, 0},
		} {
			res, text := s.send("GET", url, "", c.header, nil, "")
			var refused fault.Body
			_ = json.Unmarshal(text, &refused) // only a refusal is JSON
			if res.StatusCode != c.status || refused.Error.Code != c.code || (c.code == "" && len(text) != c.bytes) {
				t.Errorf("%s: %d with %d bytes, %s", name, res.StatusCode, len(text), refused.Error.Code)
			}
			if c.status == http.StatusRequestedRangeNotSatisfiable && !strings.HasPrefix(res.Header.Get("Content-Range"), "bytes */") {
				t.Errorf("%s: Content-Range is %q", name, res.Header.Get("Content-Range"))
			}
		}
		frame := "/v1/renders/" + jobID + "/frames/1/file"
		whole, picture := s.send("GET", frame, s.account, nil, nil, "")
		for asked, part := range map[string]string{"bytes=3-": string(picture[3:]), "bytes=2-5": string(picture[2:6]), "bytes=-4": string(picture[len(picture)-4:])} {
			if res, got := s.send("GET", frame, s.account, map[string]string{"Range": asked, "If-Range": whole.Header.Get("ETag")}, nil, ""); res.StatusCode != http.StatusPartialContent || string(got) != part {
				t.Errorf("%s of a frame: %d with %d bytes", asked, res.StatusCode, len(got))
			}
		}
		for name, c := range map[string]struct {
			header map[string]string
			status int
		}{
			"the part of another": {map[string]string{"Range": "bytes=3-", "If-Range": `"other"`}, 200},
			"several parts":       {map[string]string{"Range": "bytes=5-6,0-1"}, 200},
			"beyond the end":      {map[string]string{"Range": "bytes=999999999-"}, 416},
			"if it is another":    {map[string]string{"If-Match": `"other"`}, 412},
			"the same again":      {map[string]string{"If-None-Match": whole.Header.Get("ETag")}, 304},
		} {
			if res, got := s.send("GET", frame, s.account, c.header, nil, ""); res.StatusCode != c.status || res.StatusCode == http.StatusOK && string(got) != string(picture) {
				t.Errorf("%s of a frame: %d with %d bytes", name, res.StatusCode, len(got))
			}
		}
		stream := "/v1/renders/" + jobID + "/events"
		_, text := s.send("GET", stream, s.account, nil, nil, "")
		all := entries(text)
		last := all[len(all)-1].id
		if res, text := s.send("GET", stream, s.account, map[string]string{"Last-Event-ID": last}, nil, ""); res.StatusCode != http.StatusNoContent || len(text) > 0 {
			t.Errorf("after the last event: %d %s", res.StatusCode, text)
		}
		if res, _ := s.send("GET", stream, s.account, map[string]string{"Last-Event-ID": "0"}, nil, ""); res.StatusCode != http.StatusOK {
			t.Errorf("from the beginning: %d", res.StatusCode)
		}
	})
}
