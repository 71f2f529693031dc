package rendering

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/worker"
)

const rowKept = "kept/a job's files from the cache to an open scene"

// keptFiles is how many files the scene has next to it, of keptBytes each.
const (
	keptFiles = 312
	keptBytes = 128 << 10
)

// Kept measures how soon a warm worker that has kept all files of a project has the scene
// open: from asking which files the job has until its Blender has loaded the main one.
func Kept() rounds.Group {
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowKept, Unit: rounds.Duration, Baseline: "cp -rl of the files", Goal: rounds.Under(0.3, rounds.Duration), Note: fmt.Sprintf("%d files; Blender loads the scene in that time, too", keptFiles+1)},
		},
		Measure: measureKept,
	}
}

// askedFarm notes when a worker asked for the files of a job.
type askedFarm struct {
	worker.Farm
	asked atomic.Int64 // nanoseconds since 1970
}

func (f *askedFarm) Project(ctx context.Context, workerID, jobID string) (farmapi.Project, error) {
	f.asked.Store(time.Now().UnixNano())
	return f.Farm.Project(ctx, workerID, jobID)
}

func measureKept(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	folder, paths, err := keptProject(ctx, b)
	if err != nil {
		return err
	}
	s, err := openFarm(ctx, b, worker.Blender{}, blender.CPU, 0, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	s.workers = 1
	key, err := s.nodeKey(ctx)
	if err != nil {
		return err
	}
	work, err := b.Dir("worker-")
	if err != nil {
		return err
	}
	farm := &askedFarm{Farm: farmapi.NewClient(s.address, key)}
	w := worker.New(worker.Config{
		Farm: farm, Renderer: s.watch, WorkDir: work, Name: "kept", Log: s.log,
		Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true,
	})
	s.farm.Go(func() { _ = w.Run(s.serving) }) // the log has why it ended
	if err := s.ready(ctx); err != nil {
		return err
	}
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		var took, linked time.Duration
		err := b.Turns(func() error {
			if err := s.renderProject(ctx, folder, paths); err != nil {
				return err
			}
			took = s.watch.lastOpened().Sub(time.Unix(0, farm.asked.Load()))
			return s.ready(ctx)
		}, func() (err error) {
			linked, err = linkTree(ctx, folder)
			return err
		})
		if err == nil {
			r.Add(rowKept, took.Seconds(), linked.Seconds())
		}
		return err
	})
}

// keptProject makes a folder with a light scene and many files next to it.
func keptProject(ctx context.Context, b *rounds.Run) (folder string, paths []string, err error) {
	scene, err := b.LightScene(ctx)
	if err != nil {
		return "", nil, err
	}
	content, err := os.ReadFile(scene)
	if err != nil {
		return "", nil, err
	}
	if folder, err = b.Dir("kept-"); err != nil {
		return "", nil, err
	}
	paths = []string{"scene.blend"}
	err = os.WriteFile(filepath.Join(folder, paths[0]), content, 0o600)
	for i := range keptFiles {
		name := fmt.Sprintf("tex/%03d.bin", i)
		paths = append(paths, name)
		file := make([]byte, keptBytes)
		copy(file, name) // each has a hash of its own
		err = errors.Join(err, os.MkdirAll(filepath.Join(folder, "tex"), 0o700), os.WriteFile(filepath.Join(folder, name), file, 0o600))
	}
	return folder, paths, err
}

// renderProject sends a project, orders its first frame and waits for the end.
func (s *service) renderProject(ctx context.Context, folder string, paths []string) error {
	p, err := client.ListProject(ctx, os.DirFS(folder), paths[0], paths, nil)
	if err != nil {
		return err
	}
	one := 1
	quote, err := s.client.InspectProject(ctx, client.ProjectRequest{Project: p, FrameStart: &one, FrameEnd: &one})
	if err != nil {
		return err
	}
	job, err := s.client.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err == nil {
		job, err = s.client.Wait(ctx, job.JobID, nil)
	}
	if err == nil && job.Status != client.StatusCompleted {
		err = fmt.Errorf("the job ended as %s: %+v", job.Status, job.Failure)
	}
	return err
}

// linkTree makes a second tree of the files by hard links, and removes it.
func linkTree(ctx context.Context, folder string) (time.Duration, error) {
	to := folder + "-linked"
	began := time.Now()
	out, err := exec.CommandContext(ctx, "cp", "-rl", folder, to).CombinedOutput()
	took := time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("cp: %w: %s", err, out)
	}
	return took, os.RemoveAll(to)
}
