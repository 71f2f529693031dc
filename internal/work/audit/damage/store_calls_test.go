package damage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"svc.example/client"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/db/query"
	"svc.example/internal/ground/demo"
	"svc.example/internal/ground/id"
	"svc.example/internal/ground/lease"
	"svc.example/internal/ground/links"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/work/dispatch"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/framecheck"
	"svc.example/internal/work/frames"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/reuse"
	"svc.example/internal/work/synthetic"
)

// caller is a person with a workspace, keys and money.
type caller struct {
	*store
	*client.Client
	workspace string
	account   identity.NewKey
}

func (s *store) caller(cents int64) caller {
	s.Helper()
	made := (&apptest.World{App: s.app}).Workspace(s.T, cents)
	c, err := client.New(s.url, made.Agent.Secret)
	if err != nil {
		s.Fatal(err)
	}
	return caller{s, c, made.ID, made.Account}
}

// quote uploads a scene and prices frames of it.
func (c caller) quote(scene []byte, first, last, step int) *client.Quote {
	c.Helper()
	q, err := c.Inspect(c.Context(), client.InspectRequest{
		Filename: demo.Filename, Body: bytes.NewReader(scene), FrameStart: &first, FrameEnd: &last, FrameStep: &step,
	})
	if err != nil {
		c.Fatal(err)
	}
	return q
}

// start has frames of a scene rendered.
func (c caller) start(scene []byte, r client.StartRequest, first, last, step int) (jobID string) {
	c.Helper()
	q := c.quote(scene, first, last, step)
	r.LegalAcceptance = client.LegalV1
	job, err := c.Start(c.Context(), q, r)
	if err != nil {
		c.Fatal(err)
	}
	return job.JobID
}

// share makes a link of a job, which somebody opens and comments on.
func (c caller) share(jobID string) {
	c.Helper()
	link := c.call(http.MethodPost, links.RendersPath+"/"+jobID+"/share", nil, "application/json", []byte(`{"comments":true}`))
	page, _ := link["share_url"].(string)
	_, path, _ := strings.Cut(page, "/s/")
	res, err := http.Get(c.url + "/s/" + path)
	if err != nil {
		c.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		c.Fatalf("%s: %s", page, res.Status)
	}
	res, err = http.PostForm(c.url+"/s/"+path+"/comments", url.Values{"frame": {"1"}, "comment": {"The hand clips."}, "name": {"Ada"}})
	if err != nil {
		c.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		c.Fatalf("a comment: %s", res.Status)
	}
}

// await follows a job to its end, which must be with that status.
func (c caller) await(jobID, status string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), await.Patience)
	defer cancel()
	if job, err := c.Wait(ctx, jobID, nil); err != nil || job.Status != status {
		c.Fatalf("the job ended as %+v, %v, want %s", job, err, status)
	}
}

// endpoint makes a webhook endpoint of the workspace, and rotates its secret.
func (c caller) endpoint(path string) (endpointID string) {
	c.Helper()
	made := c.call(http.MethodPost, "/v1/webhook-endpoints", nil, "application/json", []byte(`{"url":"`+c.receiver.URL+path+`"}`))
	endpointID = made["endpoint_id"].(string)
	c.call(http.MethodPost, "/v1/webhook-endpoints/"+endpointID+"/rotate-secret", nil, "application/json", []byte(`{}`))
	return endpointID
}

func (c caller) delete(endpointID string) {
	c.Helper()
	c.call(http.MethodDelete, "/v1/webhook-endpoints/"+endpointID, nil, "", nil)
}

// upload sends the demo scene by the older flow, whose job waits for its submit.
func (c caller) upload(fields map[string]string) {
	c.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		_ = form.WriteField(name, value)
	}
	part, err := form.CreateFormFile("file", demo.Filename)
	if err != nil {
		c.Fatal(err)
	}
	_, _ = part.Write(demo.Scene())
	_ = form.Close()
	c.call(http.MethodPost, links.RendersPath, nil, form.FormDataContentType(), body.Bytes())
}

// call makes a request with the account key, which must succeed.
func (c caller) call(method, path string, header map[string]string, kind string, body []byte) (answer map[string]any) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, bytes.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.account.Secret)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 || json.Unmarshal(text, &answer) != nil {
		c.Fatalf("%s %s: %d %s, %v", method, path, res.StatusCode, text, err)
	}
	return answer
}

// farmWorker plays a worker.
type farmWorker struct {
	*store
	*farmapi.Client
	me        farmapi.RegisterRequest
	id, keyID string
	asked     bool // it renders as the scene asks, and switches nothing
}

func (s *store) worker(device, renderer string) farmWorker {
	s.Helper()
	var key identity.NewKey
	s.write(func(ctx context.Context, tx *db.Tx) (err error) {
		key, err = identity.CreateNodeKey(ctx, tx, "farm")
		return err
	})
	w := farmWorker{s, farmapi.NewClient(s.url, key.Secret), farmapi.RegisterRequest{
		Name: "farm", Renderer: renderer, BlenderVersion: "4.1.1", BlenderBuildHash: "e1743a0317bc", Device: device, DeviceName: "Test " + device, Denoise: "keep", Sandbox: "none",
	}, "", key.KeyID, false}
	reply, err := w.Register(s.Context(), w.me)
	if err != nil {
		s.Fatal(err)
	}
	w.id = reply.WorkerID
	return w
}

// claimed is one frame that a worker holds.
type claimed struct {
	farmapi.Lease
	jobID string
}

// claim takes a frame of a job. It waits for one whose next attempt is due later.
func (w farmWorker) claim(jobID string) claimed {
	w.Helper()
	got, err := w.Lease(w.Context(), farmapi.LeaseRequest{WorkerID: w.id, Max: 1, WaitSeconds: 10})
	if err != nil || got.Job == nil || (jobID != "" && got.Job.JobID != jobID) {
		w.Fatalf("claimed %+v, %v, want a frame of %s", got, err, jobID)
	}
	return claimed{got.Leases[0], got.Job.JobID}
}

// picture paints a frame and describes it.
func (w farmWorker) picture(c claimed) ([]byte, farmapi.FrameResult) {
	w.Helper()
	content, err := synthetic.Paint(c.Frame, image.Pt(480, 270))
	if err != nil {
		w.Fatal(err)
	}
	seen, err := pixels.ReadAtMost(bytes.NewReader(content), 480*270)
	if err != nil {
		w.Fatal(err)
	}
	sum := sha256.Sum256(content)
	switched := []string{"denoise_off"}
	if w.asked {
		switched = nil
	}
	return content, farmapi.FrameResult{
		WorkerID: w.id, JobID: c.jobID, LeaseID: c.LeaseID, Attempt: c.Attempt, Frame: c.Frame, File: fmt.Sprintf("frame_%04d.png", c.Frame),
		SHA256: hex.EncodeToString(sum[:]), PixelSHA256: seen.SHA256, SizeBytes: int64(len(content)), Width: 480, Height: 270,
		RenderSeconds: 0.5 + float64(c.Frame), Device: w.me.Device, DeviceName: w.me.DeviceName, BlenderVersion: w.me.BlenderVersion,
		BlenderBuildHash: w.me.BlenderBuildHash, Switched: switched, Log: "Saved: 'frame'",
	}
}

// reuse has frames rendered, and taken over by another job. take starts one more.
func (s *store) reuse(scene []byte) (take func(last int) string) {
	s.Helper()
	c, as := s.caller(500), s.cpu
	as.asked = true
	take = func(last int) string {
		first := 3
		q, err := c.Inspect(s.Context(), client.InspectRequest{Filename: demo.Filename, Body: bytes.NewReader(scene), FrameStart: &first, FrameEnd: &last, Reuse: true})
		if err != nil {
			s.Fatal(err)
		}
		started, err := c.Start(s.Context(), q, client.StartRequest{LegalAcceptance: client.LegalV1})
		if err != nil {
			s.Fatal(err)
		}
		return started.JobID
	}
	class := reuse.Class{Renderer: contract.RendererID, Device: contract.RenderDevice, DeviceName: "a card", BlenderVersion: "4.1.1", BuildHash: "e1743a0317bc"}
	s.write(func(ctx context.Context, tx *db.Tx) error {
		_, same := reuse.Compared(ctx, tx, class, true)
		_, different := reuse.Compared(ctx, tx, class, false)
		told := tx.OperatorAlertAdd(ctx, query.OperatorAlertAddParams{Name: "no_worker", Now: tx.Now})
		return errors.Join(same, different, told)
	})
	for last := 3; last < 5; last++ { // one frame of its own each
		job := take(last)
		as.render(job, 1)
		c.await(job, client.StatusCompleted)
	}
	return take
}

// deliver delivers a frame, with outputs of some names.
func (w farmWorker) deliver(c claimed, outputs ...string) {
	w.Helper()
	content, result := w.picture(c)
	var files []io.Reader
	for _, name := range outputs {
		result.Outputs = append(result.Outputs, farmapi.Output{Name: name, SHA256: result.SHA256, SizeBytes: result.SizeBytes})
		files = append(files, bytes.NewReader(content))
	}
	if err := w.Deliver(w.Context(), result, bytes.NewReader(content), files...); err != nil {
		w.Fatal(err)
	}
}

// render renders n frames of a job.
func (w farmWorker) render(jobID string, n int) {
	w.Helper()
	for range n {
		w.deliver(w.claim(jobID))
	}
}

// fail claims a frame and fails it.
func (w farmWorker) fail(code string, final bool) {
	w.Helper()
	c := w.claim("")
	err := w.Fail(w.Context(), farmapi.FailRequest{
		WorkerID: w.id, LeaseID: c.LeaseID, Attempt: c.Attempt, Code: code, Message: "It failed.", Log: "last words", Final: final,
	})
	if err != nil {
		w.Fatal(err)
	}
}

// claimPreview takes a free preview.
func (w farmWorker) claimPreview() claimed {
	w.Helper()
	got, err := w.Lease(w.Context(), farmapi.LeaseRequest{WorkerID: w.id, Max: 1, WaitSeconds: 10, Previews: true})
	if err != nil || got.Job == nil || got.Job.Preview == nil {
		w.Fatalf("claimed %+v, %v, want a preview", got, err)
	}
	return claimed{got.Leases[0], got.Job.JobID}
}

// deliverPreview renders a free preview.
func (w farmWorker) deliverPreview() {
	w.Helper()
	content, result := w.picture(w.claimPreview())
	result.Full = &farmapi.FullFrame{Width: 960, Height: 540, Samples: 128, LeastSamples: 64, SamplingSeconds: 0.25}
	if err := w.Deliver(w.Context(), result, bytes.NewReader(content)); err != nil {
		w.Fatal(err)
	}
}

// failPreview claims a free preview and fails it for good.
func (w farmWorker) failPreview(code string) {
	w.Helper()
	c := w.claimPreview()
	err := w.Fail(w.Context(), farmapi.FailRequest{
		WorkerID: w.id, LeaseID: c.LeaseID, Attempt: c.Attempt, Code: code, Message: "It failed.", Log: "last words", Final: true,
	})
	if err != nil {
		w.Fatal(err)
	}
}

// accept takes in a frame while the service does not serve: its job is not packed. A
// frame of the sample waits for another worker's picture.
func (w farmWorker) accept(c claimed, sample frames.Sample) {
	w.Helper()
	content, result := w.picture(c)
	key := fmt.Sprintf("frames/%s/%s-%s", c.jobID, id.New(""), result.File)
	blob, err := w.app.Blobs.Create(w.Context(), key)
	if err != nil {
		w.Fatal(err)
	}
	defer blob.Abort()
	if _, err := blob.Write(content); errors.Join(err, blob.Commit()) != nil {
		w.Fatal(err)
	}
	small, err := pixels.Thumbnail(bytes.NewReader(content), frames.SmallSide)
	if err != nil {
		w.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	in := frames.Frames{DB: w.app.DB, Jobs: w.app.Jobs(w.app.Links(w.url)), Workers: &dispatch.Workers{DB: w.app.DB, Log: log}, LeaseLife: time.Hour, DoubleRender: sample, Log: log}
	kept, err := in.Accept(w.Context(), frames.Picture{
		Picture: framecheck.Picture{
			Holder: w.id, File: result.File, PixelSHA256: result.PixelSHA256, Width: result.Width, Height: result.Height,
			Device: result.Device, Registered: result.Device, Renderer: w.me.Renderer, Log: result.Log,
			Seen: &pixels.Picture{Format: "png", Width: result.Width, Height: result.Height, SHA256: result.PixelSHA256, Decoded: true, Comparable: true},
		},
		Small: small, Lease: lease.Ref{ID: c.LeaseID, Holder: w.id, Attempt: int64(c.Attempt)}, JobID: c.jobID, Frame: c.Frame, BlobKey: key, SHA256: result.SHA256, SizeBytes: result.SizeBytes,
		RenderTime: time.Second, DeviceName: result.DeviceName, Version: result.BlenderVersion, BuildHash: result.BlenderBuildHash,
	})
	if err != nil || !kept {
		w.Fatalf("the frame was not taken: %v", err)
	}
}
