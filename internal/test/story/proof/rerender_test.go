package proof_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
	"svc.example/internal/work/receipt"
	"svc.example/internal/work/wallet"
)

// receiptText is the signed receipt of a job, as it is served.
func receiptText(c story.Caller, jobID string) string {
	c.T.Helper()
	r, err := c.Receipt(story.Patient(c.T), jobID)
	if err != nil {
		c.T.Fatal(err)
	}
	return string(r.Envelope)
}

func TestRerenderedFramesAreProvenLikeAnyJob(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		pass := story.Moved(&config)
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		p := &story.Painter{}
		stop := svc.Worker(p)
		first := c.Await(c.StartFrames(9).JobID, client.StatusCompleted)
		proven := receiptText(c, first.JobID)
		quoted, err := c.Rerender(story.Patient(t), first.JobID, "3,7-9")
		if err != nil {
			t.Fatal(err)
		}
		started, err := c.Take(quoted)
		if err != nil {
			t.Fatal(err)
		}
		again := c.Await(started.JobID, client.StatusCompleted)
		if again.RerenderOf != first.JobID || again.FrameList != "3,7-9" || again.ChargedCents != 4 || again.FramesCompleted != 4 {
			t.Errorf("the rerender is %+v", again)
		}
		content := c.VerifiedZIP(again)
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range []int{3, 7, 8, 9} {
			if err := story.SameAsPainted(archive, frame); err != nil {
				t.Errorf("frame %d: %v", frame, err)
			}
		}
		if want := []int{1, 2, 3, 3, 4, 5, 6, 7, 7, 8, 8, 9, 9}; !slices.Equal(p.Frames(), want) {
			t.Errorf("painted %v, want %v", p.Frames(), want)
		}
		signed, err := c.Receipt(story.Patient(t), again.JobID)
		if err != nil {
			t.Fatal(err)
		}
		var members receipt.Receipt
		if err := json.Unmarshal(signed.Members, &members); err != nil || members.FrameList != "3,7-9" || members.FrameStart != 3 || members.FrameEnd != 9 || members.FrameCount != 4 {
			t.Errorf("the receipt lists %q, %+v, %v", members.FrameList, members, err)
		}
		if now := receiptText(c, first.JobID); now != proven {
			t.Error("the receipt of the job that had ended has changed")
		}
		unchanged, err := c.Job(story.Patient(t), first.JobID)
		if err != nil {
			t.Fatal(err)
		}
		unchanged.DownloadURL, first.DownloadURL = "", "" // each read makes a new one
		if !reflect.DeepEqual(unchanged, first) {
			t.Errorf("the job that had ended was %+v, is %+v", first, unchanged)
		}
		svc.WantMoney(c.Workspace, story.Credit-13, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Captured)

		// The upload stays for a week after the last job over it, and not longer.
		pass(6 * 24 * time.Hour)
		if _, err := c.Rerender(story.Patient(t), first.JobID, "1"); err != nil {
			t.Errorf("after six days: %v", err)
		}
		stop()
		pass(25 * time.Hour)
		awaitGone(svc, c, first.JobID)
	})
}

// awaitGone waits until the upload of a job is removed.
func awaitGone(svc *story.Service, c story.Caller, jobID string) {
	svc.T.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx := story.Patient(svc.T)
	for {
		_, err := c.Rerender(ctx, jobID, "1")
		if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == "upload_not_found" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			svc.T.Fatalf("the upload is still there: %v", err)
		}
	}
}
