package story

import (
	"context"

	"svc.example/client"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/await"
	"svc.example/internal/work/dispatch"
)

// AwaitIdle waits until so many workers are idle.
func (svc *Service) AwaitIdle(workers int64) {
	svc.T.Helper()
	await.Until(svc.T, "workers that are idle", func() (idle bool) {
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			online, err := dispatch.CountOnline(ctx, tx)
			idle = online[dispatch.WorkerIdle] == workers
			return err
		})
		return idle
	})
}

// QuotePreviewed quotes one frame of a scene after a test frame, so that the service knows how
// long it takes.
func (c Caller) QuotePreviewed(scene []byte) *client.Quote {
	c.T.Helper()
	quoted := c.QuoteOf(scene, 1)
	preview, err := c.OrderPreview(Patient(c.T), quoted.UploadID, 0)
	if err == nil {
		preview, err = c.AwaitPreview(Patient(c.T), preview, nil)
	}
	if err != nil || preview.Status != client.PreviewReady {
		c.T.Fatalf("the preview is %+v, %v", preview, err)
	}
	return quoted
}
