package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
)

// group are the nine headers of an upload of the demo scene.
func group(key string, start, end, count int) map[string]string {
	sum := sha256.Sum256(demo.Scene())
	h := map[string]string{
		"Idempotency-Key": key, "X-Svc-Filename": "scene.blend", "X-Svc-Renderer": "blender", "X-Svc-Frame-Start": strconv.Itoa(start),
		"X-Svc-Frame-End": strconv.Itoa(end), "X-Svc-Frame-Count": strconv.Itoa(count),
		"X-Svc-Size-Bytes": strconv.Itoa(len(demo.Scene())), "X-Svc-Content-SHA256": hex.EncodeToString(sum[:]),
	}
	refingerprint(h)
	return h
}

// refingerprint computes the fingerprint as a caller does (spec 4.2).
func refingerprint(h map[string]string) {
	text := "filename=" + h["X-Svc-Filename"] + "\nrenderer=" + h["X-Svc-Renderer"] + "\nframe_start=" + h["X-Svc-Frame-Start"] +
		"\nframe_end=" + h["X-Svc-Frame-End"] + "\nframe_count=" + h["X-Svc-Frame-Count"] + "\nsize_bytes=" + h["X-Svc-Size-Bytes"] +
		"\nsha256=" + h["X-Svc-Content-SHA256"]
	sum := sha256.Sum256([]byte(text))
	h["X-Svc-Request-Fingerprint"] = hex.EncodeToString(sum[:])
}

func TestTheSameUploadAgainIsTheSameRender(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		fields := map[string]string{"frame_start": "1", "frame_end": "2"}
		first, again := s.put(fields, group("one", 1, 2, 2)), s.put(fields, group("one", 1, 2, 2))
		if first.status != 200 || again.status != 200 || first.text("job_id") != again.text("job_id") {
			t.Fatalf("first %d %v, again %d %v", first.status, first.body, again.status, again.body)
		}
		if first.header.Get("Idempotency-Replayed") != "" || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("replayed says %q and %q", first.header.Get("Idempotency-Replayed"), again.header.Get("Idempotency-Replayed"))
		}
		if a := s.put(nil, group("one", 1, 1, 1)); a.status != 409 || a.code() != fault.IdempotencyKeyReused {
			t.Errorf("another upload: %d %s", a.status, a.code())
		}
		if _, reserved := s.wallet(); reserved != 2 {
			t.Errorf("reserved are %v", reserved)
		}
	})
}

func TestBadHeaderGroupsMeetTheirCode(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for name, c := range map[string]struct {
			change func(h map[string]string)
			status int
			code   fault.Code
		}{
			"one missing":    {func(h map[string]string) { delete(h, "X-Svc-Renderer") }, 400, fault.IdempotencyHeadersIncomplete},
			"the key alone":  {func(h map[string]string) { clear(h); h["Idempotency-Key"] = "x" }, 400, fault.IdempotencyHeadersIncomplete},
			"a leading zero": {func(h map[string]string) { h["X-Svc-Frame-Start"] = "01"; refingerprint(h) }, 400, fault.InvalidRequest},
			"capitals in the hash": {func(h map[string]string) {
				h["X-Svc-Content-SHA256"] = strings.ToUpper(h["X-Svc-Content-SHA256"])
				refingerprint(h)
			}, 400, fault.InvalidRequest},
			"another fingerprint": {func(h map[string]string) { h["X-Svc-Filename"] = "other.blend" }, 400, fault.FingerprintMismatch},
			"another size":        {func(h map[string]string) { h["X-Svc-Size-Bytes"] = "7"; refingerprint(h) }, 400, fault.SizeMismatch},
			"too large":           {func(h map[string]string) { h["X-Svc-Size-Bytes"] = "104857601"; refingerprint(h) }, 413, fault.UploadTooLarge},
			"another hash":        {func(h map[string]string) { h["X-Svc-Content-SHA256"] = strings.Repeat("0", 64); refingerprint(h) }, 400, fault.ContentHashMismatch},
			"another name":        {func(h map[string]string) { h["X-Svc-Filename"] = "other.blend"; refingerprint(h) }, 400, fault.HeaderMismatch},
			"another renderer":    {func(h map[string]string) { h["X-Svc-Renderer"] = "maya"; refingerprint(h) }, 400, fault.HeaderMismatch},
			"other frames":        {func(h map[string]string) { h["X-Svc-Frame-Start"], h["X-Svc-Frame-End"] = "2", "2"; refingerprint(h) }, 400, fault.HeaderMismatch},
		} {
			h := group("bad "+name, 1, 1, 1)
			c.change(h)
			if a := s.put(map[string]string{"frame_start": "1"}, h); a.status != c.status || a.code() != c.code {
				t.Errorf("%s: %d %s, want %d %s (%v)", name, a.status, a.code(), c.status, c.code, a.body)
			}
		}
		if _, reserved := s.wallet(); reserved != 0 {
			t.Errorf("reserved are %v", reserved)
		}
	})
}

// TestAHundredEqualUploadsAreOne sends them at once: one render comes of them,
// and every answer is that one or asks to come back.
func TestAHundredEqualUploadsAreOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		const callers = 100
		answers := make([]answer, callers)
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() { answers[i] = s.put(nil, group("many", 1, 1, 1)) })
		}
		all.Wait()
		jobs := map[string]bool{}
		for _, a := range answers {
			switch {
			case a.status == 200:
				jobs[a.text("job_id")] = true
			case a.code() != fault.IdempotencyInProgress || a.header.Get("Retry-After") == "":
				t.Errorf("%d %v", a.status, a.body)
			}
		}
		if _, reserved := s.wallet(); len(jobs) != 1 || reserved != 1 {
			t.Errorf("%d renders, %v cents reserved", len(jobs), reserved)
		}
	})
}

func TestARefusedRequestLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		h := group("free", 1, 101, 101)
		if a := s.put(nil, h); a.status != 402 {
			t.Fatalf("got %d %s", a.status, a.code())
		}
		if a := s.put(nil, group("free", 1, 1, 1)); a.status != 200 {
			t.Errorf("got %d %s", a.status, a.code())
		}
	})
}

func TestAJSONRequestAgainIsAnsweredAlike(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		again := func(path, key, text string) (first, second answer) {
			h := map[string]string{"Idempotency-Key": "the same"}
			return s.callWith("POST", path, key, h, jsonBody(text)), s.callWith("POST", path, key, h, jsonBody(text))
		}
		for _, c := range []struct{ path, key, text, member string }{
			{"/v1/renders", s.account, `{"upload_id":"` + s.upload + `"}`, "job_id"},
			{"/node/v1/uploads/" + s.upload + "/quote", s.agent, `{"frame_start":1,"frame_end":2}`, "quote_id"},
			{"/v1/renders/preflight", s.account, `{"filename":"a.blend"}`, "filename"},
		} {
			one, two := again(c.path, c.key, c.text)
			if one.status != 200 || two.status != 200 || one.text(c.member) != two.text(c.member) || two.header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%s: %d %v, then %d %v", c.path, one.status, one.body, two.status, two.body)
			}
		}
		if a := s.callWith("POST", "/v1/renders/preflight", s.account, map[string]string{"Idempotency-Key": "the same"}, jsonBody(`{"filename":"b.blend"}`)); a.code() != fault.IdempotencyKeyReused {
			t.Errorf("another body: %d %s", a.status, a.code())
		}
	})
}

func TestTheUploadKeyIsCheckedAgainstTheBytes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		sum := sha256.Sum256(demo.Scene())
		for key, want := range map[string]fault.Code{
			"upload-" + hex.EncodeToString(sum[:]): "", "upload-" + strings.Repeat("0", 64): fault.ContentHashMismatch, "something": fault.InvalidRequest,
		} {
			a := s.callWith("POST", "/v1/uploads", s.account, map[string]string{"Idempotency-Key": key}, s.form(nil, "scene.blend", demo.Scene()))
			if a.code() != want {
				t.Errorf("%s: %d %s, want %q", key, a.status, a.code(), want)
			}
		}
	})
}

func TestSettingsOfAnUploadBelongToItsKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		sum := sha256.Sum256(demo.Scene())
		send := func(fields map[string]string) answer {
			return s.callWith("POST", "/v1/uploads", s.account, map[string]string{"Idempotency-Key": "upload-" + hex.EncodeToString(sum[:])}, s.form(fields, "scene.blend", demo.Scene()))
		}
		first := send(map[string]string{"resolution_percentage": "50"})
		if again := send(map[string]string{"resolution_percentage": "50"}); first.status != 200 || again.body["quote_id"] != first.body["quote_id"] {
			t.Errorf("%d %v, then %v", first.status, first.body, again.body)
		}
		for _, other := range []map[string]string{nil, {"resolution_percentage": "49"}} {
			if a := send(other); a.code() != fault.IdempotencyKeyReused {
				t.Errorf("%v: %d %v", other, a.status, a.body)
			}
		}
	})
}

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		form := s.form(nil, "scene.blend", demo.Scene())
		ctx, cut := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", s.base+"/v1/renders", io.MultiReader(bytes.NewReader(form.data[:5000]), readerFunc(func([]byte) (int, error) {
			cut()
			return 0, io.ErrUnexpectedEOF
		})))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", form.kind)
		r.Header.Set("Authorization", "Bearer "+s.account)
		for name, value := range group("broken", 1, 1, 1) {
			r.Header.Set(name, value)
		}
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
			t.Fatalf("got %d", res.StatusCode)
		}
		// The key is free as soon as the service has noticed.
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for ; ; <-again.C {
			a := s.put(nil, group("broken", 1, 1, 1))
			if a.status == 200 {
				break
			}
			if a.code() != fault.IdempotencyInProgress {
				t.Fatalf("%d %v", a.status, a.body)
			}
		}
		if renders := s.call("GET", "/v1/workspace/renders", s.account, body{}).body["renders"].([]any); len(renders) != 1 {
			t.Errorf("%d renders", len(renders))
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestTheFingerprintIsThatOfTheSevenLines has an upload accepted whose
// fingerprint was worked out by sha256sum.
func TestTheFingerprintIsThatOfTheSevenLines(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		h := map[string]string{
			"Idempotency-Key": "by hand", "X-Svc-Filename": "a b.blend", "X-Svc-Renderer": "blender", "X-Svc-Frame-Start": "2", "X-Svc-Frame-End": "11",
			"X-Svc-Frame-Count": "10", "X-Svc-Size-Bytes": "5", "X-Svc-Content-SHA256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
			// printf 'filename=a b.blend\nrenderer=blender\nframe_start=2\nframe_end=11\nframe_count=10\nsize_bytes=5\nsha256=2cf24d…9824' | sha256sum
			"X-Svc-Request-Fingerprint": "7f4cb8488da1f0c0e3d90bbac483987d3dbc49e90ee8430b053600ac9a6d1cdf",
		}
		// Past the fingerprint, what comes next is wrong: the file.
		if a := s.callWith("POST", "/v1/renders", s.account, h, s.form(nil, "a b.blend", []byte("hello"))); a.code() != fault.UnsupportedFile {
			t.Errorf("the true one: %d %v", a.status, a.body)
		}
		h["X-Svc-Frame-End"] = "12"
		if a := s.callWith("POST", "/v1/renders", s.account, h, s.form(nil, "a b.blend", []byte("hello"))); a.code() != fault.FingerprintMismatch {
			t.Errorf("another one: %d %v", a.status, a.body)
		}
	})
}

func TestEachMissingHeaderOfTheGroupIsNamed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for name := range group("missing", 1, 1, 1) {
			h := group("missing", 1, 1, 1)
			delete(h, name)
			a := s.put(nil, h)
			if a.status != 400 || a.code() != fault.IdempotencyHeadersIncomplete || !strings.Contains(a.body["error"].(map[string]any)["message"].(string), name) {
				t.Errorf("without %s: %d %v", name, a.status, a.body)
			}
		}
	})
}

func TestEveryHeaderOfTheGroupHasItsForm(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
		for name, bad := range map[string][]string{
			"X-Svc-Request-Fingerprint": {"0", strings.Repeat("A", 64), strings.Repeat("0", 65)},
			"X-Svc-Frame-Start":         {"0", "01", "-1", "+1", "1.0", "1e3", "one"},
			"X-Svc-Frame-End":           {"0", "01", "-1"},
			"X-Svc-Frame-Count":         {"0", "01", "-1"},
			"X-Svc-Size-Bytes":          {"00", "01", "-0", "1 " + "0"},
			"X-Svc-Content-SHA256":      {strings.Repeat("g", 64), strings.Repeat("A", 64), strings.Repeat("0", 63)},
		} {
			for _, value := range bad {
				h := group("form", 1, 1, 1)
				h[name] = value
				if name != "X-Svc-Request-Fingerprint" {
					refingerprint(h)
				}
				if a := s.put(nil, h); a.status != 400 || a.code() != fault.InvalidRequest {
					t.Errorf("%s: %q: %d %v", name, value, a.status, a.body)
				}
			}
		}
	})
}
