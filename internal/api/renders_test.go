package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/db"
	"svc.example/internal/demo"
	"svc.example/internal/farm"
	"svc.example/internal/fault"
	"svc.example/internal/identity"
	"svc.example/internal/pixels"
)

// put uploads the demo scene by the older flow.
func (s *service) put(fields map[string]string, header map[string]string) answer {
	s.t.Helper()
	return s.callWith("POST", "/v1/renders", s.account, header, s.form(fields, "scene.blend", demo.Scene()))
}

// render renders all frames that wait, as a worker does.
func (s *service) render() {
	s.t.Helper()
	ctx := s.t.Context()
	var key identity.NewKey
	err := s.house.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "test")
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	door := farm.NewClient(s.base, key.Secret)
	me, err := door.Register(ctx, farm.RegisterRequest{
		Name: "test", BlenderVersion: "4.1.1", BlenderBuildHash: "test", Device: "GPU", DeviceName: "Test GPU", Denoise: "keep",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		work, err := door.Lease(ctx, farm.LeaseRequest{WorkerID: me.WorkerID, Max: 8})
		if err != nil {
			s.t.Fatal(err)
		}
		if len(work.Leases) == 0 {
			return
		}
		for _, l := range work.Leases {
			picture, result := paint(s.t, l)
			result.WorkerID, result.JobID = me.WorkerID, work.Job.JobID
			if err := door.Deliver(ctx, result, bytes.NewReader(picture)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// paint makes a picture for a frame: its number is its red.
func paint(t *testing.T, l farm.Lease) ([]byte, farm.FrameResult) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 960, 540))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+3] = uint8(l.Frame), 255
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), farm.FrameResult{
		LeaseID: l.LeaseID, Attempt: l.Attempt, Frame: l.Frame, File: fmt.Sprintf("frame_%04d.png", l.Frame), SHA256: hex.EncodeToString(sum[:]),
		PixelSHA256: pixels.Of(img).SHA256, SizeBytes: int64(b.Len()), Width: 960, Height: 540, RenderSeconds: 0.5,
		Device: "GPU", DeviceName: "Test GPU", BlenderVersion: "4.1.1", BlenderBuildHash: "test", Log: fmt.Sprintf("Saved frame %d", l.Frame),
	}
}

// ended waits for the job's end and returns it.
func (s *service) ended(jobID string) answer {
	s.t.Helper()
	s.send("GET", "/v1/renders/"+jobID+"/events", s.account, nil, nil, "") // ends with the job
	return s.call("GET", "/v1/renders/"+jobID, s.account, body{})
}

func (s *service) wallet() (available, reserved float64) {
	s.t.Helper()
	a := s.call("GET", "/v1/wallet", s.account, body{})
	return a.body["available_cents"].(float64), a.body["reserved_cents"].(float64)
}

func TestTheOlderFlowLeadsToTheSameResults(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
		job := s.put(map[string]string{"frame_start": "2", "frame_count": "3"}, nil)
		if job.status != 200 || job.text("status") != "awaiting_submit" || job.text("flow") != "public_v1" || job.body["submitted_at"] != nil ||
			job.body["frame_end"] != 4.0 || job.body["price_cents"] != 3.0 || job.body["reserved_cents"] != 3.0 || job.body["cancellable"] != true {
			t.Fatalf("created: %d %v", job.status, job.body)
		}
		if available, reserved := s.wallet(); available != 97 || reserved != 3 {
			t.Errorf("the wallet has %v and %v reserved", available, reserved)
		}
		path := "/v1/renders/" + job.text("job_id")
		s.render() // nothing may be claimed before the submit
		for range 2 {
			if a := s.call("POST", path+"/submit", s.account, body{}); a.status != 200 || a.text("status") != "queued" || a.body["submitted_at"] == nil {
				t.Fatalf("submitted: %d %v", a.status, a.body)
			}
		}
		s.render()
		if a := s.ended(job.text("job_id")); a.text("status") != "completed" || a.body["charged_cents"] != 3.0 {
			t.Fatalf("ended: %v", a.body)
		}
		download := s.call("GET", path+"/download", s.account, body{})
		of := download.body["download"].(map[string]any)
		res, file := s.send("GET", of["url"].(string), "", nil, nil, "")
		sum := sha256.Sum256(file)
		if got := hex.EncodeToString(sum[:]); res.StatusCode != 200 || got != of["sha256"] {
			t.Errorf("downloaded %d %s, want %s", res.StatusCode, got, of["sha256"])
		}
		receipt := s.call("GET", path+"/receipt", s.account, body{})
		if receipt.body["receipt"].(map[string]any)["artifact"].(map[string]any)["sha256"] != of["sha256"] || receipt.body["job_id"] != job.body["job_id"] {
			t.Errorf("receipt: %v", receipt.body)
		}
		proof := s.call("GET", path+"/proof", s.account, body{})
		if proof.text("proof") != "receipt_backed" || proof.text("receipt_url") != s.base+path+"/receipt" {
			t.Errorf("proof: %v", proof.body)
		}
		frames := s.call("GET", path+"/frames", s.account, body{}).body["frames"].([]any)
		if len(frames) != 3 || frames[0].(map[string]any)["frame"] != 2.0 {
			t.Errorf("frames: %v", frames)
		}
		s.preview(frames[2].(map[string]any)["preview_url"].(string), 4)
		if a := s.call("GET", path+"/frames/5/preview", s.account, body{}); a.status != 404 || a.code() != fault.FrameNotFound {
			t.Errorf("preview of no frame: %d %s", a.status, a.code())
		}
		if _, log := s.send("GET", path+"/log", s.account, nil, nil, ""); !strings.Contains(string(log), "Saved frame 2") || !strings.Contains(string(log), "Saved frame 4") {
			t.Errorf("log: %s", log)
		}
		if a := s.call("POST", path+"/cancel", s.account, body{}); a.status != 409 || a.code() != fault.RenderNotCancellable {
			t.Errorf("cancel a completed one: %d %s", a.status, a.code())
		}
	})
}

// preview checks a frame's small picture.
func (s *service) preview(url string, red int) {
	s.t.Helper()
	res, text := s.send("GET", url, s.account, nil, nil, "")
	picture, err := jpeg.Decode(bytes.NewReader(text))
	if err != nil {
		s.t.Fatalf("%s: %d %v", url, res.StatusCode, err)
	}
	c := color.NRGBAModel.Convert(picture.At(100, 100)).(color.NRGBA)
	if size := picture.Bounds().Size(); size != image.Pt(480, 270) || int(c.R)-red > 3 || red-int(c.R) > 3 {
		s.t.Errorf("%s: %v with %v", url, size, c)
	}
}

func TestAnUploadByJSONTakesTheFramesOfItsQuote(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
		up := s.callWith("POST", "/v1/uploads", s.account, nil, s.form(map[string]string{"frame_start": "3", "frame_end": "7", "frame_step": "2"}, "s.blend", demo.Scene()))
		create := func() answer {
			return s.call("POST", "/v1/renders", s.account, jsonBody(`{"upload_id":"`+up.text("upload_id")+`"}`))
		}
		one, two := create(), create()
		if one.body["frame_count"] != 3.0 || one.body["quote_id"] != up.body["quote_id"] || one.body["status"] != "awaiting_submit" {
			t.Errorf("one: %v", one.body)
		}
		if two.body["frame_count"] != 3.0 || two.body["job_id"] == one.body["job_id"] || two.body["quote_id"] == one.body["quote_id"] {
			t.Errorf("two: %v", two.body)
		}
		if available, reserved := s.wallet(); available != 94 || reserved != 6 {
			t.Errorf("the wallet has %v and %v reserved", available, reserved)
		}
	})
}

func TestCancellingAnUnsubmittedRenderReleases(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
		path := "/v1/renders/" + s.put(nil, nil).text("job_id")
		for range 2 {
			if a := s.call("POST", path+"/cancel", s.account, body{}); a.status != 200 || a.text("status") != "cancelled" {
				t.Fatalf("cancelled: %d %v", a.status, a.body)
			}
		}
		if available, reserved := s.wallet(); available != 100 || reserved != 0 {
			t.Errorf("the wallet has %v and %v reserved", available, reserved)
		}
		if a := s.call("POST", path+"/submit", s.account, body{}); a.status != 409 || a.code() != fault.RenderNotSubmittable {
			t.Errorf("submit a cancelled one: %d %s", a.status, a.code())
		}
		kinds := []any{}
		for _, e := range s.call("GET", "/v1/wallet/transactions", s.account, body{}).body["transactions"].([]any) {
			kinds = append(kinds, e.(map[string]any)["kind"])
		}
		if !slices.Equal(kinds, []any{"release", "reserve", "credit"}) {
			t.Errorf("the ledger says %v", kinds)
		}
	})
}

func TestPreflightAndUploadCountFramesAlike(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
		rapid.Check(t, func(t *rapid.T) {
			fields := map[string]string{}
			parts := []string{`"filename":"scene.blend"`}
			for name, n := range map[string]*rapid.Generator[int]{
				"frame_start": rapid.IntRange(1, 5), "frame_end": rapid.IntRange(1, 9), "frame_count": rapid.IntRange(1, 6),
			} {
				if rapid.Bool().Draw(t, name) {
					value := strconv.Itoa(n.Draw(t, name+" value"))
					fields[name] = value
					parts = append(parts, `"`+name+`":`+value)
				}
			}
			planned := s.call("POST", "/v1/renders/preflight", s.account, jsonBody("{"+strings.Join(parts, ",")+"}"))
			made := s.put(fields, nil)
			if made.status != planned.status || made.code() != planned.code() {
				t.Fatalf("%v: preflight %d %s, upload %d %s", fields, planned.status, planned.code(), made.status, made.code())
			}
			if made.status != 200 {
				return
			}
			for _, name := range []string{"frame_start", "frame_end", "frame_count", "price_cents"} {
				if made.body[name] != planned.body[name] {
					t.Fatalf("%v: %s is %v at preflight and %v at upload", fields, name, planned.body[name], made.body[name])
				}
			}
			s.call("POST", "/v1/renders/"+made.text("job_id")+"/cancel", s.account, body{})
		})
	})
}

func TestBadRendersMeetTheirCode(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
		blend := demo.Scene()
		for name, c := range map[string]struct {
			path   string
			body   body
			status int
			code   fault.Code
		}{
			"preflight without a name":   {"/preflight", jsonBody(`{}`), 400, fault.InvalidRequest},
			"preflight of a picture":     {"/preflight", jsonBody(`{"filename":"a.png"}`), 400, fault.UnsupportedFile},
			"preflight elsewhere":        {"/preflight", jsonBody(`{"filename":"a.blend","renderer":"maya"}`), 400, fault.UnsupportedRenderer},
			"preflight from 0":           {"/preflight", jsonBody(`{"filename":"a.blend","frame_start":0}`), 400, fault.InvalidRequest},
			"preflight of too many":      {"/preflight", jsonBody(`{"filename":"a.blend","frame_count":10001}`), 400, fault.InvalidRequest},
			"preflight to 10001":         {"/preflight", jsonBody(`{"filename":"a.blend","frame_end":10001}`), 400, fault.FrameRangeTooLarge},
			"preflight that disagrees":   {"/preflight", jsonBody(`{"filename":"a.blend","frame_end":3,"frame_count":2}`), 400, fault.InvalidFrameRange},
			"preflight with more":        {"/preflight", jsonBody(`{"filename":"a.blend","price":1}`), 400, fault.InvalidRequest},
			"upload as text":             {"", body{"text/plain", []byte("x")}, 415, fault.UnsupportedMedia},
			"upload of nothing":          {"", s.form(nil, "", nil), 400, fault.InvalidRequest},
			"upload for another":         {"", s.form(map[string]string{"renderer": "maya"}, "a.blend", blend), 400, fault.UnsupportedRenderer},
			"upload with words":          {"", s.form(map[string]string{"frame_count": "many"}, "a.blend", blend), 400, fault.InvalidRequest},
			"upload beyond the wallet":   {"", s.form(map[string]string{"frame_count": "101"}, "a.blend", blend), 402, fault.InsufficientFunds},
			"upload by unknown id":       {"", jsonBody(`{"upload_id":"UPL-0"}`), 404, fault.UploadNotFound},
			"upload by no id":            {"", jsonBody(`{}`), 400, fault.InvalidRequest},
			"upload by more than the id": {"", jsonBody(`{"upload_id":"UPL-0","price_cents":1}`), 400, fault.InvalidRequest},
			"submit what is not there":   {"/JOB-0/submit", body{}, 404, fault.RenderNotFound},
		} {
			a := s.call("POST", "/v1/renders"+c.path, s.account, c.body)
			if a.status != c.status || a.code() != c.code {
				t.Errorf("%s: %d %s, want %d %s (%v)", name, a.status, a.code(), c.status, c.code, a.body)
			}
		}
		if available, reserved := s.wallet(); available != 100 || reserved != 0 {
			t.Errorf("the wallet has %v and %v reserved", available, reserved)
		}
	})
}

var nextLink = regexp.MustCompile(`^<(.+)>; rel="next"$`)

// TestPagesNeverSkipNorRepeat reads the list page by page while renders are
// added: those that were there at the first page come exactly once, in order.
func TestPagesNeverSkipNorRepeat(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
		var there []string
		add := func() { there = append([]string{s.put(nil, nil).text("job_id")}, there...) }
		rapid.Check(t, func(t *rapid.T) {
			for range rapid.IntRange(0, 2).Draw(t, "before") {
				if len(there) < 40 {
					add()
				}
			}
			want := slices.Clone(there)
			path := "/v1/workspace/renders?limit=" + strconv.Itoa(rapid.IntRange(1, 7).Draw(t, "limit"))
			var got []string
			for path != "" {
				page := s.call("GET", path, s.account, body{})
				for _, o := range page.body["renders"].([]any) {
					got = append(got, o.(map[string]any)["job_id"].(string))
				}
				link := nextLink.FindStringSubmatch(page.header.Get("Link"))
				if path = ""; link != nil {
					path = link[1]
				}
				if rapid.Bool().Draw(t, "add") && len(there) < 40 {
					add()
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("got %d renders, want %d:\n%v\n%v", len(got), len(want), got, want)
			}
		})
	})
}

func TestRendersAreListedByStatus(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
		one, two := s.put(nil, nil).text("job_id"), s.put(nil, nil).text("job_id")
		s.call("POST", "/v1/renders/"+one+"/cancel", s.account, body{})
		for status, want := range map[string]string{"cancelled": one, "awaiting_submit": two} {
			renders := s.call("GET", "/v1/workspace/renders?status="+status, s.account, body{}).body["renders"].([]any)
			if len(renders) != 1 || renders[0].(map[string]any)["job_id"] != want {
				t.Errorf("%s: %v", status, renders)
			}
		}
		for _, bad := range []string{"limit=0", "limit=201", "status=lost"} {
			if a := s.call("GET", "/v1/workspace/renders?"+bad, s.account, body{}); a.status != 400 || a.code() != fault.InvalidRequest {
				t.Errorf("%s: %d %s", bad, a.status, a.code())
			}
		}
	})
}

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
	each(t, func(s *service) {
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
	each(t, func(s *service) {
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
	each(t, func(s *service) {
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
	each(t, func(s *service) {
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
	each(t, func(s *service) {
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
	each(t, func(s *service) {
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

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(s *service) {
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
		for {
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
