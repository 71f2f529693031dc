package client_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"svc.example/client"
)

// A file goes in, a proven ZIP comes out.
func Example() {
	ctx := context.Background()
	c, err := client.New("https://render.example", os.Getenv("SVC_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	file, err := os.Open("scene.blend")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()

	quote, err := c.Inspect(ctx, client.InspectRequest{Filename: "scene.blend", Body: file})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d frames cost %d cents\n", quote.FrameCount, quote.PriceCents)

	job, err := c.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err != nil {
		log.Fatal(err)
	}
	job, err = c.Wait(ctx, job.JobID, func(e client.Event) {
		if e.Frame != nil {
			fmt.Printf("frame %d is there\n", e.Frame.Frame)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	if job.Status != client.StatusCompleted {
		log.Fatalf("job %s: %s", job.JobID, job.Status)
	}
	if _, err := c.Download(ctx, job.JobID, "scene.zip", nil); err != nil {
		log.Fatal(err)
	}
}
