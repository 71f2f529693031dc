package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/fault"
	"svc.example/internal/render/pixels"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
)

// put uploads the demo scene by the older flow.
func (s *service) put(fields map[string]string, header map[string]string) answer {
	s.t.Helper()
	return s.callWith("POST", "/v1/renders", s.account, header, s.form(fields, "scene.blend", demo.Scene()))
}

// render renders all frames that wait, as a worker does.
func (s *service) render() {
	s.t.Helper()
	s.renderWith("4.1.1")
}

// renderWith is render by a worker with another version of Blender.
func (s *service) renderWith(version string) {
	s.t.Helper()
	ctx := s.t.Context()
	var key identity.NewKey
	err := s.app.DB.Write(ctx, func(tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "test")
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	door := farmapi.NewClient(s.base, key.Secret)
	me, err := door.Register(ctx, farmapi.RegisterRequest{
		Name: "test", BlenderVersion: version, BlenderBuildHash: "test", Device: "GPU", DeviceName: "Test GPU", Denoise: "keep",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		work, err := door.Lease(ctx, farmapi.LeaseRequest{WorkerID: me.WorkerID, Max: 8})
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
func paint(t *testing.T, l farmapi.Lease) ([]byte, farmapi.FrameResult) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 480, 270))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+3] = uint8(l.Frame), 255
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return b.Bytes(), farmapi.FrameResult{
		LeaseID: l.LeaseID, Attempt: l.Attempt, Frame: l.Frame, File: fmt.Sprintf("frame_%04d.png", l.Frame), SHA256: hex.EncodeToString(sum[:]),
		PixelSHA256: pixels.Of(img).SHA256, SizeBytes: int64(b.Len()), Width: 480, Height: 270, RenderSeconds: 0.5,
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
	eachAlone(t, func(t *testing.T, s *service) {
		job := s.put(map[string]string{"frame_start": "2", "frame_count": "3"}, nil)
		if job.status != 200 || job.text("status") != "awaiting_submit" || job.text("flow") != "public_v1" || job.body["submitted_at"] != nil ||
			job.body["frame_end"] != 4.0 || job.body["price_cents"] != 3.0 || job.body["reserved_cents"] != 3.0 || !job.body["cancellable"].(bool) {
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
		last := frames[2].(map[string]any)
		if got, whole := s.send("GET", path+"/frames/4/file", s.account, nil, nil, ""); got.StatusCode != 200 || got.Header.Get("Content-Disposition") == "" || hashOf(whole) != last["sha256"] || last["file_url"] != s.base+path+"/frames/4/file" {
			t.Errorf("file of a frame: %d, %v, %v", got.StatusCode, got.Header, last)
		}
		if a := s.call("GET", path+"/frames/5/file", s.account, body{}); a.status != 404 || a.code() != fault.FrameNotFound {
			t.Errorf("file of no frame: %d %s", a.status, a.code())
		}
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
		s.t.Fatalf("%s: %d %v: %.300s", url, res.StatusCode, err, text)
	}
	c := color.NRGBAModel.Convert(picture.At(100, 100)).(color.NRGBA)
	if size := picture.Bounds().Size(); size != image.Pt(480, 270) || int(c.R)-red > 3 || red-int(c.R) > 3 {
		s.t.Errorf("%s: %v with %v", url, size, c)
	}
	tag := res.Header.Get("ETag")
	if again, text := s.send("GET", url, s.account, map[string]string{"If-None-Match": tag}, nil, ""); again.StatusCode != 304 || len(text) > 0 || again.Header.Get("ETag") != tag {
		s.t.Errorf("%s again: %d with %d bytes and the tag %s, want 304 and %s", url, again.StatusCode, len(text), again.Header.Get("ETag"), tag)
	}
	if other, text := s.send("GET", url, s.account, map[string]string{"If-None-Match": `"of another picture"`}, nil, ""); other.StatusCode != 200 || len(text) == 0 {
		s.t.Errorf("%s with another tag: %d with %d bytes", url, other.StatusCode, len(text))
	}
	// A frame may be rendered again, so its picture must not be kept without
	// asking.
	if cache := res.Header.Get("Cache-Control"); cache != "private, no-cache" {
		s.t.Errorf("%s may be kept by %q", url, cache)
	}
}

func TestAnUploadByJSONTakesTheFramesOfItsQuote(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *service) {
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
	each(t, func(t *testing.T, s *service) {
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
	each(t, func(t *testing.T, s *service) {
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
	each(t, func(t *testing.T, s *service) {
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
	each(t, func(t *testing.T, s *service) {
		const most = 16 // more than two pages of the longest kind
		var there []string
		add := func() { there = append([]string{s.put(nil, nil).text("job_id")}, there...) }
		rapid.Check(t, func(t *rapid.T) {
			for range rapid.IntRange(0, 2).Draw(t, "before") {
				if len(there) < most {
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
				if rapid.Bool().Draw(t, "add") && len(there) < most {
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
	each(t, func(t *testing.T, s *service) {
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
