package blender_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// spreadProject is a project whose .blend looks for none of its pictures where they are.
// whole is the hash of the frame with all pictures.
var spreadProject = sync.OnceValues(func() (made struct {
	files map[string][]byte
	whole string
}, err error) {
	folder, err := os.MkdirTemp("", "svc-project-")
	if err != nil {
		return made, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return made, err
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	found := fmt.Sprintf("import bpy, os\nfor i in bpy.data.images:\n    if i.name.isdigit(): i.filepath = os.path.join(%q, i.name + '.png')", folder)
	for _, args := range [][]string{
		{"--python-exit-code", "1", "--python", "../../../../scripts/scenes/aliases.py", "--", folder},
		{in("aliases.blend"), "--python-exit-code", "1", "--python-expr", found, "-o", in("frame_"), "-a"},
	} {
		output, err := exec.Command(program, append([]string{"--background", "--factory-startup", "-noaudio"}, args...)...).CombinedOutput()
		if err != nil {
			return made, fmt.Errorf("%q: %w\n%s", args, err, output)
		}
	}
	picture, err := os.ReadFile(in("frame_0001.png"))
	if err != nil {
		return made, err
	}
	seen, err := pixels.Read(bytes.NewReader(picture))
	if err != nil {
		return made, err
	}
	made.whole, made.files = seen.SHA256, map[string][]byte{}
	for path, name := range map[string]string{
		story.ProjectMain: "aliases.blend", "shots/tex/0.png": "0.png", "sent/above/1.png": "1.png", "shots/tex/2.png": "2.png",
		"shots/tex/3.png": "3.png", "shots/tex/4.png": "4.png", "film/5.png": "5.png",
	} {
		if made.files[path], err = os.ReadFile(in(name)); err != nil {
			return made, err
		}
	}
	return made, nil
})

// Files are rendered that the .blend looks for under names of another case, above the
// project, and at absolute paths of Linux and Windows.
func TestFilesOfAProjectAreWhereTheBlendLooksForThem(t *testing.T) {
	path := story.RealBlender(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		made, err := spreadProject()
		if err != nil {
			t.Fatal(err)
		}
		self, err := sandbox.Self()
		if err != nil {
			t.Fatal(err)
		}
		box, err := sandbox.Open(t.Context(), sandbox.Config{Self: self})
		if err != nil {
			t.Fatal(err)
		}
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path, Sandbox: box}, story.OnCPU)
		q := c.QuoteProject(svc.URL, made.files)
		var warned []string
		for _, w := range q.Warnings {
			warned = append(warned, string(w.Code))
		}
		if !slices.Equal(warned, []string{"paths_remapped"}) {
			t.Errorf("the warnings are %+v", q.Warnings)
		}
		job, err := c.Take(q)
		if err != nil {
			t.Fatal(err)
		}
		c.VerifiedZIP(c.Await(job.JobID, client.StatusCompleted))
		for _, f := range svc.Frames(job.JobID) {
			if f.PixelSha256 != made.whole {
				t.Error("the frame is not that of Blender with all pictures")
			}
		}
		svc.WantFilesInReceipt(job.JobID, made.files)
	})
}
