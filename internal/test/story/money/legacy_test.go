package money_test

import (
	"context"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
)

// TestAnUploadNobodySubmitsGivesItsMoneyBack lets a day pass over a render of
// the older flow.
func TestAnUploadNobodySubmitsGivesItsMoneyBack(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		jobID := svc.UploadRender(c)
		svc.Stop()
		pass(contract.SubmitWindow + time.Second)
		svc.Serve()
		awaitRender(svc, jobID, "cancelled", "submit_expired")
		svc.WantMoney(c.Workspace, story.Credit, wallet.Credited, wallet.Reserved, wallet.Released)
	})
}

// awaitRender waits until a job has a status, and checks why it was cancelled.
func awaitRender(svc *story.Service, jobID, status, reason string) {
	svc.T.Helper()
	wake, stop := svc.App.DB.Listen("job:" + jobID)
	defer stop()
	ctx := story.Patient(svc.T)
	for {
		var seen, why string
		svc.Read(func(ctx context.Context, tx *db.Tx) error {
			job, err := tx.JobGet(ctx, jobID)
			seen, why = job.Status, job.CancelReason
			return err
		})
		if seen == status {
			if why != reason {
				svc.T.Errorf("the job is %s by %q, want %q", seen, why, reason)
			}
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			svc.T.Fatalf("the job is %s, want %s", seen, status)
		}
	}
}
