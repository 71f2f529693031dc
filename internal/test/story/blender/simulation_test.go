package blender_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/demo"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/test/story"
	"svc.example/internal/work/wallet"
	"svc.example/internal/work/worker"
)

const simulatedFrames = 12

// clothScene is a cloth that falls on a ball, and the hash of the pixels of each of its
// frames as `blender -a` writes them, made once for all stories.
var clothScene = sync.OnceValues(func() (made struct {
	file   []byte
	frames map[int]string
}, err error) {
	folder, err := os.MkdirTemp("", "svc-scene-")
	if err != nil {
		return made, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	program, err := blender.Find(os.Getenv("SVC_BLENDER"), blender.DataHome())
	if err != nil {
		return made, err
	}
	file := filepath.Join(folder, "cloth_kept.blend")
	for _, args := range [][]string{
		{"--python-exit-code", "1", "--python", "../../../../scripts/scenes/simulations.py", "--", folder, "cloth_kept"},
		{file, "-o", filepath.Join(folder, "frame_"), "-s", "1", "-e", fmt.Sprint(simulatedFrames), "-a"},
	} {
		if output, err := exec.Command(program, append([]string{"--background", "--factory-startup", "-noaudio"}, args...)...).CombinedOutput(); err != nil {
			return made, fmt.Errorf("%q: %w\n%s", args, err, output)
		}
	}
	if made.file, err = os.ReadFile(file); err != nil {
		return made, err
	}
	made.frames = map[int]string{}
	for n := 1; n <= simulatedFrames; n++ {
		picture, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("frame_%04d.png", n)))
		if err != nil {
			return made, err
		}
		seen, err := pixels.Read(bytes.NewReader(picture))
		if err != nil {
			return made, err
		}
		made.frames[n] = seen.SHA256
	}
	return made, nil
})

// hooked calls before ahead of each frame.
type hooked struct {
	worker.Renderer
	before func()
}

func (h hooked) Start(ctx context.Context, options blender.Options) (worker.Session, error) {
	s, err := h.Renderer.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	return hookedSession{s, h.before}, nil
}

type hookedSession struct {
	worker.Session
	before func()
}

func (s hookedSession) Render(ctx context.Context, frame int, progress func(float64)) (blender.Frame, error) {
	s.before()
	return s.Session.Render(ctx, frame, progress)
}

// Frames of a simulation are those of the whole animation: of a job divided between two
// workers, one of whose Blenders is killed in the middle, of one frame alone, and of a
// part.
func TestFramesOfASimulationAreThoseOfTheAnimation(t *testing.T) {
	path := story.RealBlender(t)
	story.Each(t, func(t *testing.T, config app.Config) {
		scene, err := clothScene()
		if err != nil {
			t.Fatal(err)
		}
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		folder := t.TempDir()
		var renders atomic.Int64
		svc.Worker(hooked{worker.Blender{Path: path}, func() {
			if renders.Add(1) == 3 {
				killBlender(t, folder)
			}
		}}, story.OnCPU, func(w *worker.Config) { w.WorkDir = folder })
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		paid := int64(0)
		for _, frames := range [][2]int{{1, simulatedFrames}, {simulatedFrames, simulatedFrames}, {6, 9}} {
			q, err := c.Inspect(story.Patient(t), client.InspectRequest{Filename: demo.Filename, Body: bytes.NewReader(scene.file), FrameStart: &frames[0], FrameEnd: &frames[1]})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(q.Warnings, func(w client.Warning) bool { return w.Code == "unbaked_simulation" }) {
				t.Errorf("the quote does not warn of the simulation: %+v", q.Warnings)
			}
			job, err := c.Take(q)
			if err != nil {
				t.Fatal(err)
			}
			c.Await(job.JobID, client.StatusCompleted)
			rendered := svc.Frames(job.JobID)
			for _, f := range rendered {
				if f.PixelSha256 != scene.frames[int(f.Frame)] {
					t.Errorf("frame %d of %v is not that of the animation (attempt %d of %s)", f.Frame, frames, f.Attempt, f.WorkerID)
				}
			}
			if want := frames[1] - frames[0] + 1; len(rendered) != want {
				t.Errorf("%d frames of %v, want %d", len(rendered), frames, want)
			}
			paid += int64(len(rendered))
		}
		svc.WantMoney(c.Workspace, story.Credit-paid, wallet.Credited, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Captured, wallet.Reserved, wallet.Captured)
	})
}
