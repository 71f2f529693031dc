package workers_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/blender"
	"svc.example/internal/test/story"
)

// A job says which frames to check, wherever it is shown, and its price stays.
func TestAJobTellsWhichFramesToLookAt(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		stuck := func(f *blender.Frame) error {
			picture, err := story.Paint(5)
			if err != nil {
				return err
			}
			return os.WriteFile(f.Path, picture, 0o600)
		}
		black := defects()["black"]
		p := &defectiveRenderer{chosen: func(frame int) bool { return frame < 3 || frame == 6 || frame == 7 }, defect: func(f *blender.Frame) error {
			if f.Number < 3 {
				return black(f)
			}
			return stuck(f)
		}}
		svc.Worker(p)
		job := c.Await(c.StartFrames(10).JobID, client.StatusCompleted)
		want := "black 1-2 2, repeated 6-7 2"
		shown := func(findings []client.Finding) string {
			var words []string
			for _, f := range findings {
				if f.Message == "" || f.SuggestedAction == "" {
					t.Errorf("%s has no words", f.Code)
				}
				words = append(words, fmt.Sprintf("%s %s %d", f.Code, f.Frames, f.FrameCount))
			}
			return strings.Join(words, ", ")
		}
		if got := shown(job.Findings); got != want {
			t.Errorf("the job has %q, want %q", got, want)
		}
		account := story.NewClient(t, svc.URL, c.Account.Secret)
		if other, err := account.Job(story.Patient(t), job.JobID); err != nil || shown(other.Findings) != want {
			t.Errorf("by the account key: %+v, %v", other, err)
		}
		for listed, err := range account.Jobs(story.Patient(t), client.JobsRequest{}) {
			if err != nil || shown(listed.Findings) != want {
				t.Errorf("in the list: %+v, %v", listed, err)
			}
		}
		// The listed frames can be passed to a rerender as they are.
		again, err := c.Rerender(story.Patient(t), job.JobID, job.Findings[0].Frames)
		if err != nil || again.FrameList != "1-2" {
			t.Errorf("the rerender of what is black: %+v, %v", again, err)
		}
		svc.SettledOnce(c, 10)
	})
}
