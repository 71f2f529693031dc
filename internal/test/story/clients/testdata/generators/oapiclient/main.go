// Command oapiclient renders a job with the client that oapi-codegen makes.
package main

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"time"

	"svc.example/tools/openapi/oa"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := oa.NewClientWithResponses(os.Getenv("SVC_URL"), oa.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("SVC_KEY"))
		return nil
	}))
	if err != nil {
		return err
	}
	scene, err := os.ReadFile(os.Getenv("SVC_SCENE"))
	if err != nil {
		return err
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "scene.blend")
	if err != nil {
		return err
	}
	_, _ = part.Write(scene) // into memory
	_ = form.WriteField("frame_start", "1")
	_ = form.WriteField("frame_end", "2")
	_ = form.Close()
	quote, err := client.InspectUploadWithBodyWithResponse(ctx, form.FormDataContentType(), &body)
	if err != nil || quote.JSON200 == nil {
		return fmt.Errorf("inspect: %+v, %w", quote, err)
	}
	started, err := client.StartUploadWithResponse(ctx, quote.JSON200.UploadId, nil, oa.StartRequest{QuoteId: quote.JSON200.QuoteId, LegalAcceptance: "SVC_LEGAL_V1"})
	if err != nil || started.JSON200 == nil {
		return fmt.Errorf("start: %+v, %w", started, err)
	}
	job := started.JSON200
	for job.Status != "completed" && job.Status != "failed" {
		<-time.After(1100 * time.Millisecond) // one request a second is what a client may send
		read, err := client.GetJobWithResponse(ctx, job.JobId)
		if err != nil || read.JSON200 == nil {
			return fmt.Errorf("read: %+v, %w", read, err)
		}
		job = read.JSON200
	}
	fmt.Println(job.JobId, job.Status)
	return nil
}
