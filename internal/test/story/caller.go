package story

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/work/identity"
	"svc.example/internal/work/receipt"
)

// Completed has a job of two frames rendered by a worker that it brings.
func (svc *Service) Completed(c Caller) *client.Job {
	svc.T.Helper()
	stop := svc.Worker(&Painter{})
	defer stop()
	return c.Completed()
}

// Completed has a job of two frames rendered.
func (c Caller) Completed() *client.Job {
	c.T.Helper()
	job := c.Await(c.StartFrames(2).JobID, client.StatusCompleted)
	c.Fetch(job, 2)
	return job
}

// Credit is what a caller's wallet begins with, in cents.
const Credit = 100

// Caller is a person with a workspace, keys and money.
type Caller struct {
	*client.Client
	T         *testing.T
	Workspace string
	Agent     identity.NewKey
	Account   identity.NewKey
}

// Caller makes a workspace with so many cents, and a caller of it.
func (svc *Service) Caller(cents int64) Caller {
	svc.T.Helper()
	made := (&apptest.World{App: svc.App}).Workspace(svc.T, cents)
	c := Caller{T: svc.T, Workspace: made.ID, Agent: made.Agent, Account: made.Account}
	c.Client = NewClient(svc.T, svc.URL, c.Agent.Secret)
	return c
}

// NewClient gives a client that comes back quickly and does not give up.
func NewClient(t *testing.T, url, key string) *client.Client {
	t.Helper()
	if url == "" {
		return nil // the service does not serve yet
	}
	c, err := client.New(url, key, client.WithAttempts(1000), client.WithWait(func(ctx context.Context, d time.Duration) error {
		timer := time.NewTimer(min(d, 50*time.Millisecond))
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Patient is a context for one wait.
func Patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	t.Cleanup(cancel)
	return ctx
}

// QuoteFrames uploads the scene and has frames 1 to n priced.
func (c Caller) QuoteFrames(n int) *client.Quote {
	c.T.Helper()
	return c.QuoteOf(demo.Scene(), n)
}

// QuoteOf is quote of another scene.
func (c Caller) QuoteOf(scene []byte, n int) *client.Quote {
	c.T.Helper()
	first := 1
	q, err := c.Inspect(Patient(c.T), client.InspectRequest{
		Filename: demo.Filename, Body: bytes.NewReader(scene), FrameStart: &first, FrameEnd: &n,
	})
	if err != nil {
		c.T.Fatal(err)
	}
	if q.FrameCount != n || q.PriceCents != int64(n) {
		c.T.Fatalf("the quote is for %d frames at %d cents, want %d", q.FrameCount, q.PriceCents, n)
	}
	return q
}

// Take starts a quote.
func (c Caller) Take(q *client.Quote) (*client.Job, error) {
	return c.Start(Patient(c.T), q, client.StartRequest{LegalAcceptance: client.LegalV1})
}

// StartFrames has frames 1 to n rendered.
func (c Caller) StartFrames(n int) *client.Job {
	c.T.Helper()
	job, err := c.Take(c.QuoteFrames(n))
	if err != nil {
		c.T.Fatal(err)
	}
	return job
}

// Await follows a job until it has ended, which must be with that status.
func (c Caller) Await(jobID, status string) *client.Job {
	c.T.Helper()
	job, err := c.Wait(Patient(c.T), jobID, nil)
	if err != nil {
		c.T.Fatal(err)
	}
	if job.Status != status {
		c.T.Fatalf("the job is %s (failure %+v), want %s", job.Status, job.Failure, status)
	}
	return job
}

// AwaitFrames follows a job until n of its frames are accepted.
func (c Caller) AwaitFrames(jobID string, n int) {
	c.T.Helper()
	for e, err := range c.Follow(Patient(c.T), jobID, "") {
		if err != nil {
			c.T.Fatal(err)
		}
		if e.Frame != nil && e.Frame.FramesCompleted >= n {
			return
		}
	}
	c.T.Fatalf("the job ended before %d frames were accepted", n)
}

// VerifiedZIP downloads a completed job and checks that ZIP, receipt and job agree.
func (c Caller) VerifiedZIP(job *client.Job) []byte {
	c.T.Helper()
	ctx := Patient(c.T)
	path := filepath.Join(c.T.TempDir(), "job.zip")
	artifact, err := c.Download(ctx, job.JobID, path, nil)
	if err != nil {
		c.T.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		c.T.Fatal(err)
	}
	c.Verify(ctx, job, content, artifact.SHA256)
	return content
}

// Fetch downloads a completed job of frames 1 to n and checks that ZIP, receipt
// and job agree, and that each picture is what a painter paints.
func (c Caller) Fetch(job *client.Job, n int) {
	c.T.Helper()
	content := c.VerifiedZIP(job)
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		c.T.Fatal(err)
	}
	if len(archive.File) != n+2 { // and the manifest and the log
		c.T.Errorf("the ZIP has %d entries, want %d", len(archive.File), n+2)
	}
	for frame := 1; frame <= n; frame++ {
		if err := SameAsPainted(archive, frame); err != nil {
			c.T.Errorf("frame %d: %v", frame, err)
		}
	}
	if job.ChargedCents != int64(n) || job.FramesCompleted != n {
		c.T.Errorf("the job charged %d cents for %d frames, want %d", job.ChargedCents, job.FramesCompleted, n)
	}
}

// Verify checks the receipt, and that the ZIP's hash is the same everywhere.
func (c Caller) Verify(ctx context.Context, job *client.Job, content []byte, promised string) {
	c.T.Helper()
	receipt, err := c.Receipt(ctx, job.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	keys, err := c.SigningKeys(ctx)
	if err != nil {
		c.T.Fatal(err)
	}
	if checks, err := client.Verify(receipt, keys, bytes.NewReader(content), int64(len(content))); err != nil {
		c.T.Errorf("the receipt does not verify: %v, %+v", err, checks)
	}
	var members struct {
		JobID        string `json:"job_id"`
		ChargedCents int64  `json:"charged_cents"`
		Artifact     struct {
			SHA256 string `json:"sha256"`
		} `json:"artifact"`
	}
	if err := json.Unmarshal(receipt.Members, &members); err != nil {
		c.T.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if got := hex.EncodeToString(sum[:]); got != promised || got != members.Artifact.SHA256 {
		c.T.Errorf("the ZIP's hash is %s, the download promised %s, the receipt says %s", got, promised, members.Artifact.SHA256)
	}
	if members.JobID != job.JobID || members.ChargedCents != job.ChargedCents {
		c.T.Errorf("the receipt is of %s over %d cents, the job is %s over %d", members.JobID, members.ChargedCents, job.JobID, job.ChargedCents)
	}
}

// SameAsPainted checks that a frame of a ZIP is the picture that was painted.
func SameAsPainted(archive *zip.Reader, frame int) error {
	entry, err := archive.Open(fmt.Sprintf("output/frame_%04d.png", frame))
	if err != nil {
		return err
	}
	defer func() { _ = entry.Close() }()
	content, err := io.ReadAll(entry)
	if err != nil {
		return err
	}
	painted, err := Paint(frame)
	if err == nil && !bytes.Equal(content, painted) {
		err = errors.New("it is not the picture that was painted")
	}
	return err
}

// WantRefusal checks that err is the server's refusal of that code.
func WantRefusal(t *testing.T, err error, status int, code string) *client.Error {
	t.Helper()
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok {
		t.Fatalf("got %v, want the refusal %s", err, code)
	}
	if refusal.Status != status || refusal.Code != code {
		t.Errorf("refused with %d %s (%s), want %d %s", refusal.Status, refusal.Code, refusal.Message, status, code)
	}
	return refusal
}

// Personal is part of every name that the story's workspace gives to something.
const Personal = "annas-kitchen"

// Post sends JSON with a key, under an idempotency key, and returns the answer.
func (c Caller) Post(path, secret, body string) (answer map[string]any) {
	c.T.Helper()
	return c.PostOnce(path, secret, Personal, body)
}

// PostOnce is Post under an idempotency key of its own.
func (c Caller) PostOnce(path, secret, key, body string) (answer map[string]any) {
	c.T.Helper()
	r, err := http.NewRequestWithContext(Patient(c.T), http.MethodPost, path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "Idempotency-Key": {key}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode >= 300 {
		c.T.Fatalf("%s: %d, %v, %v", path, res.StatusCode, answer, err)
	}
	return answer
}

// Loads are the seconds that each frame of a job's receipt waited for its file to be opened.
func (c Caller) Loads(job *client.Job) (all []float64) {
	c.T.Helper()
	signed, err := c.Receipt(Patient(c.T), job.JobID)
	if err != nil {
		c.T.Fatal(err)
	}
	var members struct {
		Frames []receipt.Frame `json:"frames"`
	}
	if err := json.Unmarshal(signed.Members, &members); err != nil {
		c.T.Fatal(err)
	}
	for _, f := range members.Frames {
		all = append(all, f.Times.Load)
	}
	return all
}

// UploadRender makes a render of one frame by the older flow.
func (svc *Service) UploadRender(c Caller) (jobID string) {
	svc.T.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", demo.Filename)
	if err != nil {
		svc.T.Fatal(err)
	}
	_, _ = part.Write(demo.Scene())
	_ = w.Close()
	r, err := http.NewRequestWithContext(Patient(svc.T), http.MethodPost, svc.URL+"/v1/renders", &form)
	if err != nil {
		svc.T.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Authorization", "Bearer "+c.Account.Secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		svc.T.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var job struct {
		JobID  string `json:"job_id"`
		Status string `json:"status"`
	}
	if err := json.NewDecoder(res.Body).Decode(&job); err != nil || job.Status != "awaiting_submit" {
		svc.T.Fatalf("upload: %d %+v %v", res.StatusCode, job, err)
	}
	return job.JobID
}

// Texts are the entries of a job's ZIP other than its pictures.
func (c Caller) Texts(jobID string) map[string]string {
	c.T.Helper()
	path := c.T.TempDir() + "/job.zip"
	if _, err := c.Download(Patient(c.T), jobID, path, nil); err != nil {
		c.T.Fatal(err)
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		c.T.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	out := map[string]string{}
	for _, entry := range archive.File {
		if strings.HasPrefix(entry.Name, "output/") {
			continue
		}
		r, err := entry.Open()
		if err != nil {
			c.T.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			c.T.Fatal(err)
		}
		out[entry.Name] = string(text)
	}
	return out
}

// Clock moves the clock of test mode, and returns its answer.
func (c Caller) Clock(url, body string) (status int, answer struct {
	Now   time.Time `json:"now"`
	Moved float64   `json:"moved_seconds"`
	Error struct {
		Code string `json:"code"`
	} `json:"error"`
}) {
	c.T.Helper()
	r := Request(c.T, "POST", url+"/v1/test/clock", c.Agent.Secret, body)
	status = Send(c.T, r, &answer)
	return status, answer
}
