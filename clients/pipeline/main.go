// Command pipeline is a pipeline's step in Go: it renders a scene, waits until the service
// calls, and publishes what it verified. pipeline.py and pipeline.mjs in the same folder do
// the same.
//
//	SVC_SERVER=https://render.example.com SVC_KEY=svc_agent_… \
//	HOOK_URL=https://pipeline.example/svc LISTEN=127.0.0.1:8000 \
//	pipeline scene.blend /published/shot-010
//
// HOOK_URL is where the service calls; a proxy with its certificate passes it on to LISTEN.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"svc.example/client"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: pipeline SCENE PUBLISHED")
	}
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, scene, published string) error {
	if _, err := os.Stat(published); err == nil {
		return fmt.Errorf("%s is there already", published)
	}
	c, err := client.New(os.Getenv("SVC_SERVER"), os.Getenv("SVC_KEY"))
	if err != nil {
		return err
	}
	secret, called := rand.Text(), make(chan string, 100)
	hook := &http.Server{Addr: os.Getenv("LISTEN"), ReadTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			return
		}
		event, err := client.VerifyWebhook(secret, r.Header, body, time.Now())
		if err != nil {
			http.Error(w, "not believed", http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		select {
		case called <- event.Type:
		default: // it is woken already
		}
	})}
	defer hook.Close()
	go func() { log.Print(hook.ListenAndServe()) }()

	job, err := order(ctx, c, scene, secret)
	// A call can come twice, and one can be missed: the job says how it is.
	for err == nil && !job.Terminal() {
		select {
		case kind := <-called:
			fmt.Println("called:", kind)
		case <-time.After(10 * time.Minute):
		}
		job, err = c.Job(ctx, job.JobID)
	}
	if err != nil {
		return err
	}
	if job.Status != client.StatusCompleted {
		return fmt.Errorf("the job is %s", job.Status)
	}
	return publish(ctx, c, job.JobID, published)
}

// order starts the render of a scene, at the quoted price.
func order(ctx context.Context, c *client.Client, scene, secret string) (*client.Job, error) {
	file, err := os.Open(scene)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	quote, err := c.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(scene), Body: file})
	if err != nil {
		return nil, err
	}
	fmt.Println(quote.FrameCount, "frames,", quote.PriceCents, "cents")
	return c.Start(ctx, quote, client.StartRequest{
		LegalAcceptance: client.LegalV1, WebhookURL: os.Getenv("HOOK_URL"), WebhookSecret: secret})
}

// publish has the verified ZIP and its receipt appear as a folder, whole or not at all.
func publish(ctx context.Context, c *client.Client, jobID, published string) error {
	if err := os.MkdirAll(filepath.Dir(published), 0o755); err != nil {
		return err
	}
	ready, err := os.MkdirTemp(filepath.Dir(published), ".ready-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(ready)
	path := filepath.Join(ready, "frames.zip")
	if _, err := c.Download(ctx, jobID, path, nil); err != nil {
		return err
	}
	receipt, err := c.Receipt(ctx, jobID)
	if err != nil {
		return err
	}
	keys, err := c.SigningKeys(ctx)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	checks, err := client.Verify(receipt, keys, bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	signed, err := json.Marshal(receipt)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(ready, "receipt.json"), signed, 0o600); err != nil {
		return err
	}
	if err := os.Rename(ready, published); err != nil {
		return err
	}
	fmt.Print("published, verified:")
	for _, check := range checks {
		if check.Status == "ok" {
			fmt.Print(" ", check.Name)
		}
	}
	fmt.Println()
	return nil
}
