package story_test

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
	"os"
	"path/filepath"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/ground/demo"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/work/identity"
)

// credit is what a caller's wallet begins with, in cents.
const credit = 100

// caller is somebody with a workspace, keys and money.
type caller struct {
	*client.Client
	t         *testing.T
	workspace string
	agent     identity.NewKey
	account   identity.NewKey
}

func (svc *service) caller(cents int64) caller {
	svc.t.Helper()
	made := (&apptest.World{App: svc.app}).Workspace(svc.t, cents)
	c := caller{t: svc.t, workspace: made.ID, agent: made.Agent, account: made.Account}
	c.Client = newClient(svc.t, svc.url, c.agent.Secret)
	return c
}

// newClient gives a client that comes back quickly and does not give up.
func newClient(t *testing.T, url, key string) *client.Client {
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

// patient is a context for one wait.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	t.Cleanup(cancel)
	return ctx
}

// quote uploads the scene and has frames 1 to n priced.
func (c caller) quote(n int) *client.Quote {
	c.t.Helper()
	return c.quoteOf(demo.Scene(), n)
}

// quoteOf is quote of another scene.
func (c caller) quoteOf(scene []byte, n int) *client.Quote {
	c.t.Helper()
	first := 1
	q, err := c.Inspect(patient(c.t), client.InspectRequest{
		Filename: demo.Filename, Body: bytes.NewReader(scene), FrameStart: &first, FrameEnd: &n,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if q.FrameCount != n || q.PriceCents != int64(n) {
		c.t.Fatalf("the quote is for %d frames at %d cents, want %d", q.FrameCount, q.PriceCents, n)
	}
	return q
}

// take starts a quote.
func (c caller) take(q *client.Quote) (*client.Job, error) {
	return c.Start(patient(c.t), q.UploadID, q.QuoteID, client.StartRequest{LegalAcceptance: client.LegalV1})
}

// start has frames 1 to n rendered.
func (c caller) start(n int) *client.Job {
	c.t.Helper()
	job, err := c.take(c.quote(n))
	if err != nil {
		c.t.Fatal(err)
	}
	return job
}

// await follows a job until it has ended, which must be with that status.
func (c caller) await(jobID, status string) *client.Job {
	c.t.Helper()
	job, err := c.Follow(patient(c.t), jobID, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if job.Status != status {
		c.t.Fatalf("the job is %s (failure %+v), want %s", job.Status, job.Failure, status)
	}
	return job
}

// awaitFrames follows a job until n of its frames are accepted.
func (c caller) awaitFrames(jobID string, n int) {
	c.t.Helper()
	for e, err := range c.Events(patient(c.t), jobID, "") {
		if err != nil {
			c.t.Fatal(err)
		}
		if e.Frame != nil && e.Frame.FramesCompleted >= n {
			return
		}
	}
	c.t.Fatalf("the job ended before %d frames were accepted", n)
}

// verifiedZIP downloads a completed job and checks that ZIP, receipt and job agree.
func (c caller) verifiedZIP(job *client.Job) []byte {
	c.t.Helper()
	ctx := patient(c.t)
	path := filepath.Join(c.t.TempDir(), "job.zip")
	artifact, err := c.Download(ctx, job.JobID, path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	c.verify(ctx, job, content, artifact.SHA256)
	return content
}

// fetch downloads a completed job of frames 1 to n and checks that ZIP, receipt
// and job agree, and that each picture is what a painter paints.
func (c caller) fetch(job *client.Job, n int) {
	c.t.Helper()
	content := c.verifiedZIP(job)
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		c.t.Fatal(err)
	}
	if len(archive.File) != n+2 { // and the manifest and the log
		c.t.Errorf("the ZIP has %d entries, want %d", len(archive.File), n+2)
	}
	for frame := 1; frame <= n; frame++ {
		if err := sameAsPainted(archive, frame); err != nil {
			c.t.Errorf("frame %d: %v", frame, err)
		}
	}
	if job.ChargedCents != int64(n) || job.FramesCompleted != n {
		c.t.Errorf("the job charged %d cents for %d frames, want %d", job.ChargedCents, job.FramesCompleted, n)
	}
}

// verify checks the receipt, and that the ZIP's hash is the same everywhere.
func (c caller) verify(ctx context.Context, job *client.Job, content []byte, promised string) {
	c.t.Helper()
	receipt, err := c.Receipt(ctx, job.JobID)
	if err != nil {
		c.t.Fatal(err)
	}
	keys, err := c.SigningKeys(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	if checks, err := client.Verify(receipt, keys, bytes.NewReader(content), int64(len(content))); err != nil {
		c.t.Errorf("the receipt does not verify: %v, %+v", err, checks)
	}
	var members struct {
		JobID        string `json:"job_id"`
		ChargedCents int64  `json:"charged_cents"`
		Artifact     struct {
			SHA256 string `json:"sha256"`
		} `json:"artifact"`
	}
	if err := json.Unmarshal(receipt.Members, &members); err != nil {
		c.t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if got := hex.EncodeToString(sum[:]); got != promised || got != members.Artifact.SHA256 {
		c.t.Errorf("the ZIP's hash is %s, the download promised %s, the receipt says %s", got, promised, members.Artifact.SHA256)
	}
	if members.JobID != job.JobID || members.ChargedCents != job.ChargedCents {
		c.t.Errorf("the receipt is of %s over %d cents, the job is %s over %d", members.JobID, members.ChargedCents, job.JobID, job.ChargedCents)
	}
}

func sameAsPainted(archive *zip.Reader, frame int) error {
	entry, err := archive.Open(fmt.Sprintf("output/frame_%04d.png", frame))
	if err != nil {
		return err
	}
	defer func() { _ = entry.Close() }()
	content, err := io.ReadAll(entry)
	if err != nil {
		return err
	}
	painted, err := paint(frame)
	if err == nil && !bytes.Equal(content, painted) {
		err = errors.New("it is not the picture that was painted")
	}
	return err
}

// wantRefusal checks that err is the server's refusal of that code.
func wantRefusal(t *testing.T, err error, status int, code string) *client.Error {
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
