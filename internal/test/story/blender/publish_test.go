package blender_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// documented is the block of a page that a test runs.
func documented(t *testing.T, page, by string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "```sh by="+by+"\n")
	code, _, closed := strings.Cut(block, "```")
	if !found || !closed {
		t.Fatalf("docs/%s has no block of %s", page, by)
	}
	return code
}

// numbered is what AYON's publisher takes for a frame of a sequence: its library of sequences
// wants a point before the number, and the extension after it.
var numbered = regexp.MustCompile(`^(.+)\.(\d+)\.\D+\d?$`)

// The commands of docs/order-settings.md write a folder that pipeline tools publish: one sequence
// with the scene's own name, numbers and padding, and a movie for reviews.
func TestTheFolderForPipelineToolsIsWritten(t *testing.T) {
	path := story.RealBlender(t)
	scene, err := story.QuickScene()
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(t.TempDir(), "shot_010.blend")
	if err := os.WriteFile(made, scene, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := story.Edit(path, made, "s.frame_start, s.frame_end = 1001, 1003; s.render.filepath = '//render/shot_010.####'; s.cycles.use_denoising = False"); err != nil {
		t.Fatal(err)
	}
	if scene, err = os.ReadFile(made); err != nil {
		t.Fatal(err)
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "shot_010.blend"), scene, 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(story.Patient(t), "bash", "-euo", "pipefail", "-c", documented(t, "order-settings.md", "TestTheFolderForPipelineToolsIsWritten"))
		command.Dir = folder
		command.Env = append(os.Environ(), "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret, "PATH="+filepath.Dir(apptest.Binary(t))+":"+os.Getenv("PATH"))
		if said, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s", err, said)
		}
		found, err := os.ReadDir(filepath.Join(folder, "publish"))
		if err != nil {
			t.Fatal(err)
		}
		var frames, others []string
		for _, file := range found {
			if parts := numbered.FindStringSubmatch(file.Name()); parts != nil && parts[1] == "shot_010" {
				frames = append(frames, parts[2])
			} else {
				others = append(others, file.Name())
			}
		}
		if !slices.Equal(frames, []string{"1001", "1002", "1003"}) || !slices.Equal(others, []string{"shot_010.mp4"}) {
			t.Errorf("the folder has the frames %q and %q", frames, others)
		}
		if movie, err := os.ReadFile(filepath.Join(folder, "publish", "shot_010.mp4")); err != nil || len(movie) < 1000 || string(movie[4:8]) != "ftyp" {
			t.Errorf("the movie has %d bytes, %v", len(movie), err)
		}
	})
}
