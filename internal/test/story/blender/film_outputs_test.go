package blender_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/apptest"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// filmWithOutputs is a scene of five File Output nodes and two view layers that writes a movie.
func filmWithOutputs(t *testing.T, blender string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "film.blend")
	err := os.WriteFile(path, madeOutputs(t, blender)("five.blend"), 0o600)
	if err == nil {
		err = story.Edit(blender, path, "s.frame_end = 2; s.render.image_settings.file_format = 'FFMPEG'; s.render.ffmpeg.format, s.render.ffmpeg.codec = 'MPEG4', 'MPEG4'")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// pictures is what a receipt says of the pictures of a job's frames, in one text. A multilayer
// OpenEXR has Cycles' times in its header, so that no two are equal to the byte.
func pictures(t *testing.T, p story.Proven) string {
	t.Helper()
	var said struct {
		Frames []struct {
			Frame   int
			Pixels  string `json:"pixel_sha256"`
			Outputs []struct{ Name, SHA256 string }
		}
	}
	if err := json.Unmarshal(p.Receipt.Members, &said); err != nil || len(said.Frames) != 2 || said.Frames[0].Pixels == "" || len(said.Frames[0].Outputs) != 6 {
		t.Fatalf("the receipt has %+v, %v", said, err)
	}
	for _, frame := range said.Frames {
		for i := range frame.Outputs {
			if output := &frame.Outputs[i]; strings.HasPrefix(output.Name, "multi/") {
				output.SHA256 = ""
			}
		}
	}
	return fmt.Sprint(said.Frames)
}

// A scene with five File Output nodes, two view layers and a movie is ordered by a program, by the
// command and in the console. Each order gives the same frames, the same further files and the
// movie, and svc, Python and TypeScript verify it.
func TestAFilmWithOutputsIsTheSameThroughEveryDoor(t *testing.T) {
	path := story.RealBlender(t)
	scene := filmWithOutputs(t, path)
	story.Each(t, func(t *testing.T, config app.Config) {
		if config.Blobs != "" {
			config.Blobs += "&links=workers" // a script on a page may fetch from its own service only
		}
		svc := story.Start(t, config)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		p := svc.Console(svc.Caller(story.Credit))
		rendered := filepath.Join(t.TempDir(), "rendered")
		byCommand := orderedByCommand(t, svc, p.Caller, scene, rendered)
		jobs := map[string]*client.Job{"program": orderedByProgram(t, p.Caller, scene), "command": p.Await(byCommand, client.StatusCompleted), "console": orderedInConsole(t, p, scene)}
		want := pictures(t, p.Proven(jobs["program"]))
		for door, job := range jobs {
			t.Run(door, func(t *testing.T) {
				proven, content := p.Proven(job), p.VerifiedZIP(job)
				if got := pictures(t, proven); got != want {
					t.Errorf("the pictures are\n%s, want\n%s", got, want)
				}
				wantVerified(t, proven, content)
				got, err := p.Movie(story.Patient(t), job.JobID)
				if err != nil {
					t.Fatal(err)
				}
				movie, err := io.ReadAll(got)
				_ = got.Close()
				if err != nil || !bytes.Contains(movie, []byte("mp4v")) {
					t.Errorf("the movie has %d bytes, %v", len(movie), err)
				}
				folder := filepath.Join(t.TempDir(), "synced")
				run(t, svc, p.Caller, "2 frames, 12 other files and the movie in ", "sync", job.JobID, folder)
				run(t, svc, p.Caller, "12 of 12 outputs are here", "verify", folder)
				if saved, err := os.ReadFile(filepath.Join(folder, "movie.mp4")); err != nil || !bytes.Equal(saved, movie) {
					t.Errorf("the folder's movie has %d bytes, %v", len(saved), err)
				}
			})
		}
		for _, said := range p.Said {
			t.Errorf("the browser says %q", said)
		}
	})
}

// run runs the command, which says something.
func run(t *testing.T, svc *story.Service, c story.Caller, want string, words ...string) string {
	t.Helper()
	command := exec.CommandContext(story.Patient(t), apptest.Binary(t), words...)
	command.Env = append(os.Environ(), "SVC_SERVER="+svc.URL, "SVC_KEY="+c.Agent.Secret)
	said, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(said), want) {
		t.Errorf("svc %s says %s, %v, want %q", words[0], said, err, want)
	}
	return string(said)
}

func orderedByProgram(t *testing.T, c story.Caller, scene string) *client.Job {
	t.Helper()
	content, err := os.ReadFile(scene)
	if err != nil {
		t.Fatal(err)
	}
	q, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: "film.blend", Body: bytes.NewReader(content)})
	if err != nil || len(q.Warnings) != 1 || q.Warnings[0].Code != "movie_output_as_png" {
		t.Fatalf("quoted %+v, %v", q, err)
	}
	started, err := c.Take(q)
	if err != nil {
		t.Fatal(err)
	}
	return c.Await(started.JobID, client.StatusCompleted)
}

func orderedByCommand(t *testing.T, svc *story.Service, c story.Caller, scene, folder string) (jobID string) {
	t.Helper()
	said := run(t, svc, c, "12 files besides the frames", "render", scene, "--yes", "--out", folder)
	run(t, svc, c, "2 of 2 frames are here", "verify", folder)
	if movie, err := os.ReadFile(filepath.Join(folder, "movie.mp4")); err != nil || !bytes.Contains(movie, []byte("mp4v")) {
		t.Errorf("the folder's movie has %d bytes, %v", len(movie), err)
	}
	words := strings.Fields(said)
	return words[slices.Index(words, "started")+1]
}

func orderedInConsole(t *testing.T, p *story.Console, scene string) *client.Job {
	t.Helper()
	p.Open("/console/new")
	p.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{scene}))
	p.Says("Before you pay", "Render 2 frames for $0.02")
	p.Run(`document.querySelector("[name=terms]").click(); document.querySelector("form[data-once] button.big").click()`)
	p.Until("every frame has come", `document.querySelector("#live .state.completed") !== null`)
	p.Says("also wrote 12 files")
	p.Until("the movie", `(async () => {
		const link = [...document.querySelectorAll("a.button")].find(a => a.textContent === "Download the movie");
		const answer = link && await fetch(link.href);
		return !!answer?.ok && (await answer.text()).includes("mp4v");
	})()`)
	return p.Await(filepath.Base(story.Look[string](p.Tab, t, "location.pathname")), client.StatusCompleted)
}

// wantVerified has the SDKs verify a receipt with its ZIP, and find a flipped bit of an output.
func wantVerified(t *testing.T, p story.Proven, content []byte) {
	t.Helper()
	var keys []map[string]string
	for _, key := range p.Keys {
		keys = append(keys, map[string]string{"key_id": key.KeyID, "public_key_pem": key.PublicKeyPEM})
	}
	flipped := bytes.Clone(content)
	flipped[bytes.Index(flipped, []byte("outputs/multi"))+100] ^= 1
	verified := judge(t, map[string]any{"receipt": []byte(p.Receipt.Envelope), "keys": keys, "zip": content}, map[string]any{"receipt": []byte(p.Receipt.Envelope), "keys": keys, "zip": flipped})
	for language, got := range verified {
		if got != "\nartifact\n" {
			t.Errorf("%s finds %q", language, got)
		}
	}
}
