package story_test

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"testing"
	"time"

	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/db"
	"svc.example/internal/ground/demo"
	"svc.example/internal/work/wallet"
)

// TestAnUploadNobodySubmitsGivesItsMoneyBack lets a day pass over a render of
// the older flow.
func TestAnUploadNobodySubmitsGivesItsMoneyBack(t *testing.T) {
	each(t, func(t *testing.T, config app.Config) {
		pass := moved(&config)
		svc := start(t, config)
		c := svc.caller(credit)
		jobID := svc.uploadRender(c)
		svc.stop()
		pass(contract.SubmitWindow + time.Second)
		svc.serve()
		svc.await(jobID, "cancelled", "submit_expired")
		svc.wantMoney(c.workspace, credit, wallet.Credited, wallet.Reserved, wallet.Released)
	})
}

// uploadRender makes a render of one frame by the older flow.
func (svc *service) uploadRender(c caller) (jobID string) {
	svc.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", demo.Filename)
	if err != nil {
		svc.t.Fatal(err)
	}
	_, _ = part.Write(demo.Scene())
	_ = w.Close()
	r, err := http.NewRequestWithContext(patient(svc.t), http.MethodPost, svc.url+"/v1/renders", &form)
	if err != nil {
		svc.t.Fatal(err)
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Authorization", "Bearer "+c.account.Secret)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		svc.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var job struct {
		JobID  string `json:"job_id"`
		Status string `json:"status"`
	}
	if err := json.NewDecoder(res.Body).Decode(&job); err != nil || job.Status != "awaiting_submit" {
		svc.t.Fatalf("upload: %d %+v %v", res.StatusCode, job, err)
	}
	return job.JobID
}

// await waits until a job has a status, and checks why it was cancelled.
func (svc *service) await(jobID, status, reason string) {
	svc.t.Helper()
	wake, stop := svc.app.DB.Listen("job:" + jobID)
	defer stop()
	ctx := patient(svc.t)
	for {
		var seen, why string
		svc.read(func(ctx context.Context, tx *db.Tx) error {
			job, err := tx.JobGet(ctx, jobID)
			seen, why = job.Status, job.CancelReason
			return err
		})
		if seen == status {
			if why != reason {
				svc.t.Errorf("the job is %s by %q, want %q", seen, why, reason)
			}
			return
		}
		select {
		case <-wake:
		case <-ctx.Done():
			svc.t.Fatalf("the job is %s, want %s", seen, status)
		}
	}
}
