package clients_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	"svc.example/internal/test/story"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/identity"
)

func TestADownloadLinkAuthorisesItselfForAWhile(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job := svc.Completed(c)
		whole := story.Get(t, http.MethodGet, job.DownloadURL, nil)
		whole.Want(t, http.StatusOK, "")
		if name := whole.Header.Get("Content-Disposition"); !strings.Contains(name, job.JobID+".zip") {
			t.Errorf("the file is called %q", name)
		}

		part := story.Get(t, http.MethodGet, job.DownloadURL, http.Header{"Range": {"bytes=10-29"}})
		part.Want(t, http.StatusPartialContent, "")
		if !bytes.Equal(part.Body, whole.Body[10:30]) {
			t.Error("the range holds other bytes than the whole")
		}
		head := story.Get(t, http.MethodHead, job.DownloadURL, nil)
		head.Want(t, http.StatusOK, "")
		if length := head.Header.Get("Content-Length"); length != fmt.Sprint(len(whole.Body)) || len(head.Body) != 0 {
			t.Errorf("HEAD announces %s bytes and sends %d, the ZIP has %d", length, len(head.Body), len(whole.Body))
		}

		for name, change := range map[string]func(q url.Values){
			"signature": func(q url.Values) { q.Set("signature", story.Flipped(q.Get("signature"))) },
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
			story.Get(t, http.MethodGet, forged.String(), nil).Want(t, http.StatusUnauthorized, "unauthenticated")
		}
		pass(time.Hour + time.Second)
		story.Get(t, http.MethodGet, job.DownloadURL, nil).Want(t, http.StatusUnauthorized, "unauthenticated")
		again, err := c.Artifact(story.Patient(t), job.JobID)
		if err != nil {
			t.Fatal(err)
		}
		story.Get(t, http.MethodGet, again.URL, nil).Want(t, http.StatusOK, "")
		svc.SettledOnce(c, 2)
	})
}

func TestAnotherWorkspacesThingsAreNotThere(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		owner, stranger := svc.Caller(story.Credit), svc.Caller(story.Credit)
		job := owner.Completed()
		ctx, id := story.Patient(t), job.JobID
		for name, ask := range map[string]func() error{
			"read":     func() error { _, err := stranger.Job(ctx, id); return err },
			"cancel":   func() error { _, err := stranger.Cancel(ctx, id); return err },
			"pause":    func() error { _, err := stranger.Pause(ctx, id); return err },
			"resume":   func() error { _, err := stranger.Resume(ctx, id); return err },
			"priority": func() error { _, err := stranger.SetPriority(ctx, id, 80); return err },
			"tags":     func() error { _, err := stranger.SetTags(ctx, id, []string{"mine"}); return err },
			"download": func() error { _, err := stranger.Artifact(ctx, id); return err },
			"receipt":  func() error { _, err := stranger.Receipt(ctx, id); return err },
			"proof":    func() error { _, err := stranger.Proof(ctx, id); return err },
			"events":   func() error { _, err := stranger.Wait(ctx, id, nil); return err },
		} {
			t.Log(name)
			story.WantRefusal(t, ask(), http.StatusNotFound, "render_not_found")
		}
		theirs, own := owner.QuoteFrames(1), stranger.QuoteFrames(1)
		_, err := stranger.Quote(ctx, theirs.UploadID, "1")
		story.WantRefusal(t, err, http.StatusNotFound, "upload_not_found")
		_, err = stranger.Take(theirs)
		story.WantRefusal(t, err, http.StatusNotFound, "upload_not_found")
		_, err = stranger.Take(&client.Quote{UploadID: own.UploadID, QuoteID: theirs.QuoteID})
		story.WantRefusal(t, err, http.StatusNotFound, "quote_not_found")
		svc.WantMoney(stranger.Workspace, story.Credit, "credit")
		svc.SettledOnce(owner, 2)
	})
}

func TestEachKindOfKeyOpensItsOwnDoorOnly(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		job := c.Completed()
		for kind, secret := range map[string]string{"account": c.Account.Secret, "node": svc.NodeKey().Secret, "unknown": c.Agent.Secret[:10] + story.Flipped(c.Agent.Secret[10:]), "no": ""} {
			t.Logf("with the %s key", kind)
			story.Get(t, http.MethodGet, svc.URL+"/node/v1/jobs/"+job.JobID, http.Header{"Authorization": {"Bearer " + secret}}).Want(t, http.StatusUnauthorized, "unauthenticated")
		}
		for kind, secret := range map[string]string{"account": c.Account.Secret, "agent": c.Agent.Secret} {
			t.Logf("with the %s key", kind)
			_, err := farmapi.NewClient(svc.URL, secret).Register(t.Context(), farmapi.RegisterRequest{Name: "stranger", Device: "CPU"})
			if err == nil || !strings.Contains(err.Error(), "401 unauthenticated") {
				t.Errorf("the workers' API answered %v, want 401", err)
			}
		}
	})
}

// TestARevokedKeyEndsAtOnceEverywhere revokes a key through one process while
// another one, where the database allows two, has just taken it.
func TestARevokedKeyEndsAtOnceEverywhere(t *testing.T) {
	story.EachShared(t, func(t *testing.T, svc *story.Service) {
		c := svc.Caller(story.Credit)
		job := c.Completed()
		doors := []string{svc.URL}
		if svc.App.DB.Engine() == "postgres" {
			second := story.Launch(t, story.ServerRole, story.ServerConfig{Listen: story.FreeAddress(t), Data: svc.Config.Data, Database: svc.Config.Database, Blobs: svc.Config.Blobs, NoWorker: true})
			url, ok := second.Await(story.Patient(t), "listens")
			if !ok {
				t.Fatal("the second server did not start")
			}
			doors = append(doors, url)
		}
		for _, door := range doors {
			if _, err := story.NewClient(t, door, c.Agent.Secret).Job(story.Patient(t), job.JobID); err != nil {
				t.Fatal(err)
			}
		}
		svc.Write(func(ctx context.Context, tx *db.Tx) error { return identity.Revoke(ctx, tx, c.Agent.KeyID) })
		for _, door := range doors {
			_, err := story.NewClient(t, door, c.Agent.Secret).Job(story.Patient(t), job.JobID)
			story.WantRefusal(t, err, http.StatusUnauthorized, "unauthenticated")
		}
	})
}

// TestARevokedKeyEndsWhatItHasOpen revokes the keys of a worker that waits for frames and
// of a caller that watches a job, while both wait in silence.
func TestARevokedKeyEndsWhatItHasOpen(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job := c.StartFrames(1)
		node := svc.NodeKey()
		worker := farmapi.NewClient(svc.URL, node.Secret)
		registered, err := worker.Register(story.Patient(t), farmapi.RegisterRequest{Name: "revoked", BlenderVersion: "4.1.1", BlenderBuildHash: "story", Device: "GPU", DeviceName: "Story GPU", Denoise: "keep"})
		if err != nil {
			t.Fatal(err)
		}
		wait := farmapi.LeaseRequest{WorkerID: registered.WorkerID, Max: 1, WaitSeconds: 60}
		if got, err := worker.Lease(story.Patient(t), wait); err != nil || len(got.Leases) != 1 {
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
			c.Listen(svc.URL, job.JobID, "", func(story.StreamEvent) bool { first(); return false })
		}()
		await.Next(t, begun, "the first event")
		svc.Write(func(ctx context.Context, tx *db.Tx) error {
			if err := identity.Revoke(ctx, tx, node.KeyID); err != nil {
				return err
			}
			return identity.Revoke(ctx, tx, c.Account.KeyID)
		})
		if refusal, ok := errors.AsType[*farmapi.Error](await.Next(t, polled, "the end of the poll")); !ok || refusal.Status != http.StatusUnauthorized {
			t.Errorf("the poll ended with %v", refusal)
		}
		await.Next(t, watched, "the end of the stream")
	})
}
