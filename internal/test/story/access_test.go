package story_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
)

// completed has a job of two frames rendered by a worker that it brings.
func (svc *service) completed(c caller) *client.Job {
	svc.t.Helper()
	stop := svc.worker(&painter{})
	defer stop()
	return c.completed()
}

// completed has a job of two frames rendered.
func (c caller) completed() *client.Job {
	c.t.Helper()
	job := c.await(c.start(2).JobID, client.StatusCompleted)
	c.fetch(job, 2)
	return job
}

func TestADownloadLinkAuthorisesItselfForAWhile(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		pass := moved(&config)
		svc := start(t, config)
		c := svc.caller(credit)
		job := svc.completed(c)
		whole := get(t, http.MethodGet, job.DownloadURL, nil)
		whole.want(t, http.StatusOK, "")
		if name := whole.header.Get("Content-Disposition"); !strings.Contains(name, job.JobID+".zip") {
			t.Errorf("the file is called %q", name)
		}

		part := get(t, http.MethodGet, job.DownloadURL, http.Header{"Range": {"bytes=10-29"}})
		part.want(t, http.StatusPartialContent, "")
		if !bytes.Equal(part.body, whole.body[10:30]) {
			t.Error("the range holds other bytes than the whole")
		}
		head := get(t, http.MethodHead, job.DownloadURL, nil)
		head.want(t, http.StatusOK, "")
		if length := head.header.Get("Content-Length"); length != fmt.Sprint(len(whole.body)) || len(head.body) != 0 {
			t.Errorf("HEAD tells of %s bytes and sends %d, the ZIP has %d", length, len(head.body), len(whole.body))
		}

		for name, change := range map[string]func(q url.Values){
			"signature": func(q url.Values) { q.Set("signature", flipped(q.Get("signature"))) },
			"time":      func(q url.Values) { q.Set("expires", q.Get("expires")+"0") },
		} {
			forged, err := url.Parse(job.DownloadURL)
			if err != nil {
				t.Fatal(err)
			}
			q := forged.Query()
			change(q)
			forged.RawQuery = q.Encode()
			t.Logf("forged %s", name)
			get(t, http.MethodGet, forged.String(), nil).want(t, http.StatusUnauthorized, "unauthenticated")
		}
		pass(time.Hour + time.Second)
		get(t, http.MethodGet, job.DownloadURL, nil).want(t, http.StatusUnauthorized, "unauthenticated")
		again, err := c.Artifact(patient(t), job.JobID)
		if err != nil {
			t.Fatal(err)
		}
		get(t, http.MethodGet, again.URL, nil).want(t, http.StatusOK, "")
		svc.settledOnce(c, 2)
	})
}

// flipped changes the first digit of a hexadecimal text.
func flipped(text string) string {
	if text[0] == '0' {
		return "1" + text[1:]
	}
	return "0" + text[1:]
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func get(t *testing.T, method, address string, header http.Header) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(patient(t), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, body}
}

func (a answer) want(t *testing.T, status int, code string) {
	t.Helper()
	if a.status != status || !strings.Contains(string(a.body), code) {
		t.Errorf("answered %d %.200s, want %d %s", a.status, a.body, status, code)
	}
}

func TestAnotherWorkspacesThingsAreNotThere(t *testing.T) {
	eachShared(t, func(t *testing.T, svc *service) {
		owner, stranger := svc.caller(credit), svc.caller(credit)
		job := owner.completed()
		ctx, id := patient(t), job.JobID
		for name, ask := range map[string]func() error{
			"read":     func() error { _, err := stranger.Job(ctx, id); return err },
			"cancel":   func() error { _, err := stranger.Cancel(ctx, id); return err },
			"download": func() error { _, err := stranger.Artifact(ctx, id); return err },
			"receipt":  func() error { _, err := stranger.Receipt(ctx, id); return err },
			"proof":    func() error { _, err := stranger.Proof(ctx, id); return err },
			"events":   func() error { _, err := stranger.Follow(ctx, id, nil); return err },
		} {
			t.Log(name)
			wantRefusal(t, ask(), http.StatusNotFound, "render_not_found")
		}
		theirs, own := owner.quote(1), stranger.quote(1)
		_, err := stranger.Quote(ctx, theirs.UploadID, client.Range{Start: 1, End: 1})
		wantRefusal(t, err, http.StatusNotFound, "upload_not_found")
		_, err = stranger.take(theirs)
		wantRefusal(t, err, http.StatusNotFound, "upload_not_found")
		_, err = stranger.take(&client.Quote{UploadID: own.UploadID, QuoteID: theirs.QuoteID})
		wantRefusal(t, err, http.StatusNotFound, "quote_not_found")
		svc.wantMoney(stranger.workspace, credit, "credit")
		svc.settledOnce(owner, 2)
	})
}

func TestEachKindOfKeyOpensItsOwnDoorOnly(t *testing.T) {
	eachShared(t, func(t *testing.T, svc *service) {
		c := svc.caller(credit)
		job := c.completed()
		for kind, secret := range map[string]string{"account": c.account.Secret, "node": svc.nodeKey().Secret, "unknown": c.agent.Secret[:10] + flipped(c.agent.Secret[10:]), "no": ""} {
			t.Logf("with the %s key", kind)
			get(t, http.MethodGet, svc.url+"/node/v1/jobs/"+job.JobID, http.Header{"Authorization": {"Bearer " + secret}}).want(t, http.StatusUnauthorized, "unauthenticated")
		}
		for kind, secret := range map[string]string{"account": c.account.Secret, "agent": c.agent.Secret} {
			t.Logf("with the %s key", kind)
			_, err := farmapi.NewClient(svc.url, secret).Register(t.Context(), farmapi.RegisterRequest{Name: "stranger", Device: "CPU"})
			if err == nil || !strings.Contains(err.Error(), "401 unauthenticated") {
				t.Errorf("the workers' API answered %v, want 401", err)
			}
		}
	})
}

// TestARevokedKeyEndsAtOnceEverywhere revokes a key through one process while
// another one, where the database allows two, has just taken it.
func TestARevokedKeyEndsAtOnceEverywhere(t *testing.T) {
	eachShared(t, func(t *testing.T, svc *service) {
		c := svc.caller(credit)
		job := c.completed()
		doors := []string{svc.url}
		if svc.app.DB.Engine() == "postgres" {
			second := launch(t, serverRole, serverConfig{Listen: freeAddress(t), Data: svc.config.Data, Database: svc.config.Database, Blobs: svc.config.Blobs, NoWorker: true})
			url, ok := second.await(patient(t), "listens")
			if !ok {
				t.Fatal("the second server did not start")
			}
			doors = append(doors, url)
		}
		for _, door := range doors {
			if _, err := newClient(t, door, c.agent.Secret).Job(patient(t), job.JobID); err != nil {
				t.Fatal(err)
			}
		}
		svc.write(func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, c.agent.KeyID) })
		for _, door := range doors {
			_, err := newClient(t, door, c.agent.Secret).Job(patient(t), job.JobID)
			wantRefusal(t, err, http.StatusUnauthorized, "unauthenticated")
		}
	})
}

// TestARevokedKeyEndsWhatItHasOpen revokes the keys of a worker that waits for frames and
// of a caller that watches a job, while both wait in silence.
func TestARevokedKeyEndsWhatItHasOpen(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		svc := start(t, config)
		c := svc.caller(credit)
		job := c.start(1)
		node := svc.nodeKey()
		worker := farmapi.NewClient(svc.url, node.Secret)
		registered, err := worker.Register(patient(t), farmapi.RegisterRequest{Name: "revoked", BlenderVersion: "4.1.1", BlenderBuildHash: "story", Device: "GPU", DeviceName: "Story GPU", Denoise: "keep"})
		if err != nil {
			t.Fatal(err)
		}
		wait := farmapi.LeaseRequest{WorkerID: registered.WorkerID, Max: 1, WaitSeconds: 60}
		if got, err := worker.Lease(patient(t), wait); err != nil || len(got.Leases) != 1 {
			t.Fatalf("leased %+v, %v", got, err)
		}
		polled, watched, begun := make(chan error, 1), make(chan struct{}), make(chan struct{})
		go func() {
			_, err := worker.Lease(context.WithoutCancel(t.Context()), wait)
			polled <- err
		}()
		go func() {
			defer close(watched)
			first := sync.OnceFunc(func() { close(begun) })
			c.listen(svc.url, job.JobID, "", func(streamEvent) bool { first(); return false })
		}()
		await.Next(t, begun, "the first event")
		svc.write(func(ctx context.Context, tx *db.Tx) error {
			if err := identity.Revoke(ctx, tx, node.KeyID); err != nil {
				return err
			}
			return identity.Revoke(ctx, tx, c.account.KeyID)
		})
		if refusal, ok := errors.AsType[*farmapi.Error](await.Next(t, polled, "the end of the poll")); !ok || refusal.Status != http.StatusUnauthorized {
			t.Errorf("the poll ended with %v", refusal)
		}
		await.Next(t, watched, "the end of the stream")
	})
}
