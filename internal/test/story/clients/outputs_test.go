package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
)

// Each SDK brings what File Output nodes wrote into the folder of the frames, under the names of the
// ZIP. The folder then proves itself, and no longer without an output or with another one.
func TestTheSDKsBringOutputsIntoTheFolder(t *testing.T) {
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		job, w := c.StartFrames(2), svc.ManualWorker()
		_, picture := w.DeliverOutputs(t, "passes/bäuty & 0001.png", "z0001.exr")
		w.DeliverOutputs(t, "passes/bäuty & 0002.png")
		c.Await(job.JobID, client.StatusCompleted)
		proven := func(t *testing.T, folder string) {
			t.Helper()
			if got, err := os.ReadFile(filepath.Join(folder, "outputs", "passes", "bäuty & 0001.png")); err != nil || !slices.Equal(got, picture) {
				t.Errorf("an output has %d bytes, %v", len(got), err)
			}
			checks, err := client.VerifyFolder(folder, nil)
			text := ""
			for _, check := range checks {
				text += check.Name + " " + check.Status + ": " + check.Text + "\n"
			}
			if err != nil || !strings.Contains(text, "2 of 2 frames are here; 3 of 3 outputs are here") || strings.Contains(text, "artifact skipped") {
				t.Errorf("%v:\n%s", err, text)
			}
		}
		for name, s := range map[string]sdk{"Python": pythonSDK, "TypeScript": typescriptSDK} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				folder := filepath.Join(t.TempDir(), "out")
				var told struct {
					Frames, Again   []int
					Same            bool
					Whole           string
					WithoutAnOutput string `json:"without_an_output"`
					WithAnother     string `json:"with_another"`
				}
				s.run(t, &told, strings.Replace(s.project, "project", "outputs", 1), svc.URL, c.Agent.Secret, job.JobID, folder)
				if slices.Sort(told.Frames); !slices.Equal(told.Frames, []int{1, 2}) || len(told.Again) != 2 || !told.Same || told.Whole != "" || told.WithoutAnOutput != "artifact" || told.WithAnother != "pictures" {
					t.Errorf("the folder: %+v", told)
				}
				proven(t, folder)
			})
		}
		t.Run("command", func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "out")
			for _, words := range [][]string{{"sync", job.JobID, folder}, {"sync", job.JobID, folder}, {"verify", folder}} {
				command := exec.CommandContext(story.Patient(t), apptest.Binary(t), words...)
				command.Env = append(os.Environ(), "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret)
				said, err := command.CombinedOutput()
				if want := map[string]string{"sync": "2 frames and 3 other files in ", "verify": "3 of 3 outputs are here"}[words[0]]; err != nil || !strings.Contains(string(said), want) || strings.Contains(string(said), "not checked") {
					t.Errorf("%s says %s, %v", words[0], said, err)
				}
			}
			proven(t, folder)
		})
		t.Run("Go", func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "out")
			var told []client.FrameSaved
			if _, err := c.Sync(t.Context(), job.JobID, folder, func(f client.FrameSaved) { told = append(told, f) }, nil); err != nil {
				t.Fatal(err)
			}
			if len(told) != 2 || len(told[0].Outputs)+len(told[1].Outputs) != 3 {
				t.Errorf("told %+v", told)
			}
			if err := c.SaveProof(t.Context(), job.JobID, folder); err != nil {
				t.Fatal(err)
			}
			proven(t, folder)
		})
	})
}
