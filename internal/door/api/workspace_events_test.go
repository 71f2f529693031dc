package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/await"
	"svc.example/internal/test/dbtest"
	"svc.example/internal/work/identity"
)

// jobs starts so many jobs of one frame.
func (s *service) jobs(count int) (ids []string) {
	s.t.Helper()
	for range count {
		q := s.post("/node/v1/uploads/"+s.upload+"/quote", jsonBody(`{"frame_start":1,"frame_end":1}`))
		started := s.post("/node/v1/uploads/"+s.upload+"/start", jsonBody(`{"quote_id":"`+q.text("quote_id")+`","legal_acceptance":"SVC_LEGAL_V1"}`))
		ids = append(ids, started.text("job_id"))
	}
	return ids
}

// entry is an entry of an event stream.
type entry struct{ id, event, data string }

func entries(stream []byte) (all []entry) {
	for part := range strings.SplitSeq(strings.TrimSpace(string(stream)), "\n\n") {
		var e entry
		for line := range strings.SplitSeq(part, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.event = value
			case "data":
				e.data = value
			}
		}
		all = append(all, e)
	}
	return all
}

// kept is what a stream without an end would begin with.
func (s *service) kept(path, key, after string) []entry {
	s.t.Helper()
	res, text := s.send("GET", path+"?follow=false", key, map[string]string{"Last-Event-ID": after}, bytes.NewReader(nil), "")
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("%s: %d %s", path, res.StatusCode, text)
	}
	return entries(text)
}

// follow opens a stream and returns its entries as they come; they end with it.
func (s *service) follow(path, key string) <-chan entry {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.base+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	came := make(chan entry, 100)
	go func() {
		defer close(came)
		var part bytes.Buffer
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if lines.Text() != "" {
				part.WriteString(lines.Text() + "\n")
				continue
			}
			if e := entries(part.Bytes())[0]; e.id != "" {
				came <- e
			}
			part.Reset()
		}
	}()
	return came
}

func TestAWorkspacesEventsComeAsItsWebhooksForBothKindsOfKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		nothing := []entry{{id: "0"}}
		if got := s.kept("/v1/events", s.account, ""); !slices.Equal(got, nothing) {
			t.Errorf("before any event: %v", got)
		}
		ids := s.jobs(3)
		for _, id := range ids {
			s.post("/node/v1/jobs/"+id+"/cancel", body{})
		}
		all := s.kept("/v1/events", s.account, "0")[1:]
		for n, e := range all {
			var got struct {
				Type, Timestamp string
				Data            map[string]any
			}
			if err := json.Unmarshal([]byte(e.data), &got); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(e.id, "msg_") || e.event != "render.cancelled" || got.Type != e.event || got.Data["job_id"] != ids[n] || got.Timestamp == "" {
				t.Errorf("event %d is %+v", n, e)
			}
		}
		if len(all) != 3 || !slices.Equal(s.kept("/node/v1/events", s.agent, all[0].id)[1:], all[1:]) {
			t.Errorf("an agent key gets other events than %v", all)
		}
		if got := s.kept("/v1/events", s.account, ""); !slices.Equal(got, []entry{{id: all[2].id}}) {
			t.Errorf("a new follower begins at %v", got)
		}
		if got := s.kept("/node/v1/events", s.stranger, "0"); !slices.Equal(got, nothing) {
			t.Errorf("another workspace gets %v", got)
		}
		for key, after := range map[string]string{s.agent: "7", s.stranger: all[0].id} {
			if a := s.callWith("GET", "/node/v1/events", key, map[string]string{"Last-Event-ID": after}, body{}); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("after %s: %d %v", after, a.status, a.body)
			}
		}
	})
}

// TestAFollowerMissesNoJobThatEndsAtTheSameTime ends jobs by many requests at once.
func TestAFollowerMissesNoJobThatEndsAtTheSameTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		ids := s.jobs(15)
		came := s.follow("/v1/events", s.account)
		await.Next(t, came, "the place where the stream begins")
		var all sync.WaitGroup
		for _, id := range ids {
			all.Go(func() { s.post("/node/v1/jobs/"+id+"/cancel", body{}) })
		}
		all.Wait()
		var got []string
		for range ids {
			e := await.Next(t, came, "an event")
			var b struct {
				Data struct {
					JobID string `json:"job_id"`
				}
			}
			if err := json.Unmarshal([]byte(e.data), &b); err != nil {
				t.Fatalf("%+v: %v", e, err)
			}
			got = append(got, b.Data.JobID)
		}
		slices.Sort(got)
		if slices.Sort(ids); !slices.Equal(got, ids) {
			t.Errorf("got %v, want %v", got, ids)
		}
	})
}

func TestARevokedKeyFollowsNoWorkspace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		came := s.follow("/v1/events", s.account)
		await.Next(t, came, "the place where the stream begins")
		ctx := context.Background()
		err := s.app.DB.Write(ctx, func(tx *db.Tx) error {
			who, err := identity.Account(ctx, s.app.DB, "Bearer "+s.account)
			if err != nil {
				return err
			}
			return identity.Revoke(ctx, tx, who.Credential.KeyID)
		})
		if err != nil {
			t.Fatal(err)
		}
		if e := await.Next(t, came, "the end of the stream"); e != (entry{}) {
			t.Errorf("after the end comes %+v", e)
		}
	})
}

func TestAWorkspaceHasOnlySoManyEventStreams(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.Watchers = 1 })
		await.Next(t, s.follow("/v1/events", s.account), "the place where the stream begins")
		if a := s.call("GET", "/node/v1/events", s.agent, body{}); a.status != 429 || a.code() != fault.RateLimited || a.header.Get("Retry-After") == "" {
			t.Errorf("a second stream: %d %v", a.status, a.body)
		}
	})
}

// TestAnAgentKeyReadsWhatAnAccountKeyDoes compares the two kinds of routes.
func TestAnAgentKeyReadsWhatAnAccountKeyDoes(t *testing.T) {
	t.Parallel()
	eachAlone(t, func(t *testing.T, s *service) {
		ids := s.jobs(3)
		s.render()
		for _, id := range ids { // what ends later changes the list
			s.ended(id)
		}
		node := func(text []byte) string {
			return strings.ReplaceAll(strings.ReplaceAll(string(text), "/v1/workspace/renders", "/node/v1/jobs"), "/v1/renders/", "/node/v1/jobs/")
		}
		for ours, theirs := range map[string]string{
			"/v1/workspace/renders?limit=2&status=completed": "/node/v1/jobs?limit=2&status=completed",
			"/v1/renders/" + ids[0] + "/frames":              "/node/v1/jobs/" + ids[0] + "/frames",
			"/v1/renders/" + ids[0] + "/frames/1/preview":    "/node/v1/jobs/" + ids[0] + "/frames/1/preview",
			"/v1/renders/" + ids[0] + "/contact-sheet":       "/node/v1/jobs/" + ids[0] + "/contact-sheet",
			"/v1/renders/" + ids[0] + "/loop":                "/node/v1/jobs/" + ids[0] + "/loop",
			"/v1/renders/" + ids[0] + "/log":                 "/node/v1/jobs/" + ids[0] + "/log",
		} {
			want, text := s.send("GET", ours, s.account, nil, bytes.NewReader(nil), "")
			got, same := s.send("GET", theirs, s.agent, nil, bytes.NewReader(nil), "")
			if strings.Contains(ours, "?") { // signed links are made again
				text, same = nil, nil
			}
			if got.StatusCode != 200 || string(same) != node(text) || got.Header.Get("Link") != node([]byte(want.Header.Get("Link"))) {
				t.Errorf("%s: %d %s\n%s: %d %s", ours, want.StatusCode, text, theirs, got.StatusCode, same)
			}
			if a := s.call("GET", theirs, s.stranger, body{}); (a.status != 404) != strings.Contains(ours, "?") {
				t.Errorf("%s by another workspace: %d", theirs, a.status)
			}
		}
	})
}

// TestAnAccountKeyMakesNoKeys: keys that it made would survive its revocation, and could
// spend without its limit.
func TestAnAccountKeyMakesNoKeys(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for _, path := range []string{"/v1/api-keys", "/v1/agent-keys"} {
			for _, key := range []string{s.account, s.agent} {
				if a := s.call("POST", path, key, jsonBody(`{"name":"another"}`)); a.status != 401 {
					t.Errorf("POST %s by a key: %d %v", path, a.status, a.body)
				}
			}
		}
		made := s.signedIn(s.owner).do("POST", "/v1/agent-keys", jsonBody(`{"name":"nightly","spend_limit_cents":5}`))
		listed := fmt.Sprint(s.call("GET", "/v1/agent-keys", s.account, body{}).body["keys"])
		if !strings.Contains(listed, made.text("key_id")) || strings.Contains(listed, made.text("key")) {
			t.Errorf("listed %s", listed)
		}
		if a := s.call("DELETE", "/v1/agent-keys/"+made.text("key_id"), s.account, body{}); a.status != 200 {
			t.Errorf("revoked: %d %v", a.status, a.body)
		}
		if a := s.call("GET", "/v1/wallet", made.text("key"), body{}); a.status != 401 {
			t.Errorf("the revoked key: %d", a.status)
		}
	})
}
