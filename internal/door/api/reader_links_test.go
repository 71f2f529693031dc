package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// reader asks as one credential asks: a key by its header, a browser by its cookie.
type reader struct {
	name string
	jobs string // the API that it reads jobs through
	get  func(url string) (status int, text []byte)
}

// readers are the three credentials of the workspace that can read jobs.
func (s *service) readers() []reader {
	byKey := func(key string) func(string) (int, []byte) {
		return func(url string) (int, []byte) {
			res, text := s.send("GET", url, key, nil, nil, "")
			return res.StatusCode, text
		}
	}
	b := s.signedIn(s.owner)
	return []reader{
		{"account key", "/v1/renders", byKey(s.account)},
		{"agent key", "/node/v1/jobs", byKey(s.agent)},
		{"session", "/node/v1/jobs", func(url string) (int, []byte) {
			status, _, text := b.fetch("GET", strings.TrimPrefix(url, s.base), "*/*", body{})
			return status, []byte(text)
		}},
	}
}

// linksOf lists every address of this service in JSON, but those of pages.
func (s *service) linksOf(text []byte) (all []string) {
	s.t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				walk(member)
			}
		case []any:
			for _, member := range v {
				walk(member)
			}
		case string:
			if strings.HasPrefix(v, s.base+"/") && !strings.HasPrefix(v, s.base+"/proof/") {
				all = append(all, v)
			}
		}
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	walk(v)
	return all
}

// TestEveryLinkOfAJobOpensForItsReader reads the jobs of both flows with every credential,
// in every answer that shows a job, and follows each link with the credential that read it.
func TestEveryLinkOfAJobOpensForItsReader(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		ofAccount := s.put(nil, nil).text("job_id")
		s.call("POST", "/v1/renders/"+ofAccount+"/submit", s.account, body{})
		start := jsonBody(`{"quote_id":"` + s.quote + `","legal_acceptance":"SVC_LEGAL_V1"}`)
		ofAgent := s.post("/node/v1/uploads/"+s.upload+"/start", start).text("job_id")
		s.render()
		jobs := []string{ofAccount, ofAgent}
		for _, job := range jobs {
			if a := s.ended(job); a.text("status") != "completed" {
				t.Fatalf("ended: %v", a.body)
			}
		}
		for _, r := range s.readers() {
			follow := func(where string, text []byte, least int) {
				found := s.linksOf(text)
				if len(found) < least {
					t.Errorf("%s, %s: %d links, want %d: %s", r.name, where, len(found), least, text)
				}
				for _, link := range found {
					if status, answer := r.get(link); status != http.StatusOK {
						t.Errorf("%s, %s: %s answers %d %.200s", r.name, where, link, status, answer)
					}
				}
			}
			for _, job := range jobs {
				paths := map[string]int{"": 5, "/receipt": 5, "/proof": 1, "/download": 6, "/frames": 1}
				if r.name == "session" { // it reads what the answer of its start links to
					paths = map[string]int{"/receipt": 5, "/proof": 1}
				}
				for path, least := range paths {
					status, text := r.get(s.base + r.jobs + "/" + job + path)
					if status != http.StatusOK {
						t.Fatalf("%s: %s%s answers %d %s", r.name, job, path, status, text)
					}
					follow(path, text, least)
				}
				if r.name == "session" {
					continue
				}
				_, stream := r.get(s.base + r.jobs + "/" + job + "/events?previews=false")
				for _, e := range entries(stream) {
					if e.event == "job" {
						follow("/events", []byte(e.data), 5)
					}
				}
			}
			if r.name == "session" {
				continue
			}
			list := map[string]string{"/v1/renders": "/v1/workspace/renders", "/node/v1/jobs": "/node/v1/jobs"}[r.jobs]
			_, text := r.get(s.base + list)
			follow(list, text, 10)
			events := strings.TrimSuffix(r.jobs, "/renders")
			events = strings.TrimSuffix(events, "/jobs") + "/events?follow=false"
			res, stream := s.send("GET", events, map[string]string{"account key": s.account, "agent key": s.agent}[r.name], map[string]string{"Last-Event-ID": "0"}, bytes.NewReader(nil), "")
			if res.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d", events, res.StatusCode)
			}
			for _, e := range entries(stream)[1:] {
				follow(events, []byte(e.data), 5)
			}
		}
		again := s.signedIn(s.owner).do("POST", "/node/v1/uploads/"+s.upload+"/start", start)
		text, err := json.Marshal(again.body)
		if err != nil || len(s.linksOf(text)) != 5 {
			t.Fatalf("a start again shows %v, %v", again.body, err)
		}
		for _, link := range s.linksOf(text) {
			if status, answer := s.readers()[2].get(link); status != http.StatusOK {
				t.Errorf("session, start again: %s answers %d %.200s", link, status, answer)
			}
		}
	})
}
