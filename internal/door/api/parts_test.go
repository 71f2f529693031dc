package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/fault"
	"svc.example/internal/test/dbtest"
)

// hashOf is the SHA-256 of bytes, in lower-case hex.
func hashOf(bytes []byte) string {
	sum := sha256.Sum256(bytes)
	return hex.EncodeToString(sum[:])
}

// sendPart sends a part under its own hash.
func (s *service) sendPart(part []byte) answer {
	s.t.Helper()
	return s.call("PUT", "/node/v1/parts/"+hashOf(part), s.agent, body{"application/octet-stream", part})
}

func TestAPartIsStoredOnceHoweverOftenItIsSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		part := []byte("a part")
		for i, want := range []int{201, 200, 200} {
			a := s.sendPart(part)
			if a.status != want || a.text("sha256") != hashOf(part) || a.body["size_bytes"] != 6.0 {
				t.Errorf("time %d: %d %v", i+1, a.status, a.body)
			}
		}
		// Another workspace does not have it.
		if a := s.call("PUT", "/node/v1/parts/"+hashOf(part), s.stranger, body{data: part}); a.status != 201 {
			t.Errorf("another workspace: %d %v", a.status, a.body)
		}
		// Many at once are stored once too.
		var all sync.WaitGroup
		statuses := make([]int, 8)
		for i := range statuses {
			all.Go(func() { statuses[i] = s.sendPart([]byte("at once")).status })
		}
		all.Wait()
		stored := 0
		for _, status := range statuses {
			if status == 201 {
				stored++
			}
		}
		if stored != 1 {
			t.Errorf("the answers were %v", statuses)
		}
	})
}

func TestBadPartsMeetTheirCode(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.Unstarted = 66 << 20 })
		most := make([]byte, contract.MaxPartBytes)
		other := hashOf([]byte("other bytes"))
		for name, c := range map[string]struct {
			sha256 string
			part   []byte
			status int
			code   fault.Code
		}{
			"another hash":       {other, []byte("a part"), 400, fault.ContentHashMismatch},
			"a hash in capitals": {strings.ToUpper(other), []byte("a part"), 400, fault.InvalidRequest},
			"a short hash":       {other[:63], []byte("a part"), 400, fault.InvalidRequest},
			"no hash":            {"..", []byte("a part"), 400, fault.InvalidRequest},
			"no bytes":           {hashOf(nil), nil, 400, fault.InvalidRequest},
			"one byte too many":  {hashOf(append(most, 0)), append(most, 0), 413, fault.UploadTooLarge},
			"the maximum":        {hashOf(most), most, 201, ""},
		} {
			path := "/node/v1/parts/" + strings.ReplaceAll(c.sha256, ".", "%2E")
			a := s.call("PUT", path, s.agent, body{"application/octet-stream", c.part})
			if a.status != c.status || a.code() != c.code {
				t.Errorf("%s: %d %v", name, a.status, a.body)
			}
			// A caller that sends no length gets the same answer.
			res, _ := s.send("PUT", path, s.agent, nil, struct{ *bytes.Buffer }{bytes.NewBuffer(c.part)}, "")
			if want := c.status; res.StatusCode != want && (want != 201 || res.StatusCode != 200) {
				t.Errorf("%s, without a length: %d", name, res.StatusCode)
			}
		}
		if a := s.sendPart(bytes.Repeat([]byte{1}, contract.MaxPartBytes)); a.status != 201 {
			t.Errorf("a second one: %d %v", a.status, a.body)
		}
		if a := s.sendPart(make([]byte, 3<<20)); a.status != 409 || a.code() != fault.StorageLimitReached {
			t.Errorf("beyond the storage: %d %v", a.status, a.body)
		}
	})
}

func TestPartsHaveALimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	dbtest.EachURL(t, func(t *testing.T, url string) {
		s := start(t, url, func(c *app.Config) { c.Rate.PerMinute, c.Rate.Burst = 60, 2 })
		for range 20 {
			if a := s.sendPart([]byte("a part")); a.status >= 300 {
				t.Fatalf("%d %v", a.status, a.body)
			}
		}
		if a := s.sendPart([]byte("a part")); !strings.Contains(a.header.Get("RateLimit-Policy"), `"parts";q=30000;w=60;burst=1000`) {
			t.Errorf("the policy is %s", a.header.Get("RateLimit-Policy"))
		}
	})
}
