package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/await"
	"svc.example/internal/test/story"
	"svc.example/internal/work/synthetic"
)

// A scene whose output is a movie has it encoded without being asked, and all clients put it next
// to the frames. The job does not wait for it.
func TestTheMovieOfASceneComesWithItsFrames(t *testing.T) {
	binary := apptest.Binary(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		config.AllowSynthetic = true
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		scene := filepath.Join(t.TempDir(), "shot.blend")
		if err := os.WriteFile(scene, story.MovieScene(t), 0o600); err != nil {
			t.Fatal(err)
		}
		q := c.QuoteOf(story.MovieScene(t), 2)
		job, err := c.Take(q)
		if err != nil || job.MovieURL != "" {
			t.Fatalf("the job begins with the movie %q, %v", job.MovieURL, err)
		}
		w := svc.ManualWorker() // one that encodes nothing
		w.DeliverOutputs(t)
		w.DeliverOutputs(t)
		done := c.Await(job.JobID, client.StatusCompleted)
		if want := svc.URL + "/node/v1/jobs/" + job.JobID + "/movie"; done.MovieURL != want {
			t.Errorf("the movie is at %q, want %s", done.MovieURL, want)
		}
		svc.Worker(synthetic.Renderer{})
		await.Until(t, "a movie that nobody asked for", func() bool { return len(svc.Files("overviews/"+job.JobID+"/movie-")) == 1 })
		if other := c.Await(c.StartFrames(2).JobID, client.StatusCompleted); other.MovieURL != "" {
			t.Errorf("a scene that writes pictures has the movie %s", other.MovieURL)
		}

		inFolder := func(t *testing.T, folder string) {
			t.Helper()
			movie, err := os.ReadFile(filepath.Join(folder, "movie.mp4"))
			if err != nil || !strings.HasSuffix(string(movie), " synthetic frames") {
				t.Errorf("the movie is %q, %v", movie, err)
			}
			if checks, err := client.VerifyFolder(folder, nil); err != nil {
				t.Errorf("the folder: %v: %+v", err, checks)
			}
		}
		for name, s := range map[string]sdk{"Python": pythonSDK, "TypeScript": typescriptSDK} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				folder := filepath.Join(t.TempDir(), "out")
				var told struct{ Whole string }
				s.run(t, &told, strings.Replace(s.project, "project", "folder", 1), svc.URL, c.Agent.Secret, scene, folder)
				inFolder(t, folder)
			})
		}
		t.Run("Go", func(t *testing.T) {
			t.Parallel()
			r, err := c.Render(t.Context(), client.RenderRequest{Scene: scene, Folder: filepath.Join(t.TempDir(), "out"), Frames: "1-2", LegalAcceptance: client.LegalV1})
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range r.Frames(story.Patient(t)) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if r.Movie != filepath.Join(r.Folder, "movie.mp4") {
				t.Errorf("the movie is %q", r.Movie)
			}
			inFolder(t, r.Folder)
		})
		t.Run("commands", func(t *testing.T) {
			t.Parallel()
			rendered, synced := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
			for _, words := range [][]string{{"render", scene, "--yes", "--frames", "1-2", "--out", rendered}, {"render", scene, "--yes", "--frames", "1-2", "--out", rendered}, {"sync", job.JobID, synced}} {
				command := exec.CommandContext(story.Patient(t), binary, words...)
				command.Env = append(os.Environ(), "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret)
				said, err := command.CombinedOutput()
				if want := map[string]string{"render": "movie.mp4", "sync": "2 frames and the movie in "}[words[0]]; err != nil || !strings.Contains(string(said), want) {
					t.Errorf("%s says %s, %v", words[0], said, err)
				}
			}
			inFolder(t, rendered)
			inFolder(t, synced)
		})
	})
}
