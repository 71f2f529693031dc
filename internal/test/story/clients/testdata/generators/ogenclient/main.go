// Command ogenclient renders a job with the client that ogen makes.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/ogenerrors"

	"svc.example/tools/openapi/og"
)

// key is the only credential that the program has.
type key string

func (k key) AgentKey(context.Context, og.OperationName) (og.AgentKey, error) {
	return og.AgentKey{Token: string(k)}, nil
}

func (key) AccountKey(context.Context, og.OperationName) (og.AccountKey, error) {
	return og.AccountKey{}, ogenerrors.ErrSkipClientSecurity
}

func (key) Session(context.Context, og.OperationName) (og.Session, error) {
	return og.Session{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := og.NewClient(os.Getenv("SVC_URL"), key(os.Getenv("SVC_KEY")))
	if err != nil {
		return err
	}
	scene, err := os.ReadFile(os.Getenv("SVC_SCENE"))
	if err != nil {
		return err
	}
	inspected, err := client.InspectUpload(ctx, &og.InspectUploadReq{
		File: ht.MultipartFile{Name: "scene.blend", File: bytes.NewReader(scene)}, FrameStart: og.NewOptInt(1), FrameEnd: og.NewOptInt(2),
	})
	quote, ok := inspected.(*og.LockedQuote)
	if !ok {
		return fmt.Errorf("inspect: %+v, %w", inspected, err)
	}
	started, err := client.StartUpload(ctx, &og.StartRequest{QuoteID: quote.QuoteID, LegalAcceptance: og.StartRequestLegalAcceptanceSVCLEGALV1}, og.StartUploadParams{UploadID: quote.UploadID})
	job, ok := started.(*og.RenderObject)
	if !ok {
		return fmt.Errorf("start: %+v, %w", started, err)
	}
	for job.Status != og.RenderObjectStatusCompleted && job.Status != og.RenderObjectStatusFailed {
		<-time.After(1100 * time.Millisecond) // one request a second is what a client may send
		read, err := client.GetJob(ctx, og.GetJobParams{JobID: job.JobID})
		if job, ok = read.(*og.RenderObject); !ok {
			return fmt.Errorf("read: %+v, %w", read, err)
		}
	}
	fmt.Println(job.JobID, job.Status)
	return nil
}
