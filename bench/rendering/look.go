package rendering

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/farmapi"
	"svc.example/internal/work/preview"
	"svc.example/internal/work/worker"
)

// Rows of free previews.
const (
	rowLookWarm = "look/free preview, order to picture, warm worker"
	rowLookCold = "look/the same, the worker starts at the order"
)

// lookScene is a light scene with more samples than a preview has: samples and frames.
var lookScene = []string{"48", "20"}

// Look measures how long a person waits for a free preview: from the order to the
// picture's last byte, by the SDK. The baseline is the same picture by hand: one frame of
// as many samples.
func Look() rounds.Group {
	const byHand = "blender -b FILE -f N by hand, 32 samples"
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowLookWarm, Unit: rounds.Duration, Baseline: byHand, Goal: rounds.Under(3, rounds.Duration), Note: "320x180, 32 samples, on the CPU; the file fetched, opened and rendered, and the client's pauses"},
			{Name: rowLookCold, Unit: rounds.Duration, Baseline: byHand, Note: "a worker that starts: its Blender, its registration, then as above"},
		},
		Measure: measureLook,
	}
}

// freely has a service render as many previews as are ordered: its limits are not what is
// measured.
func freely(c *app.Config) { c.FreePreviews = &preview.Limits{Upload: 10_000, Day: 10_000} }

func measureLook(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	path, err := b.Scene(ctx, "look.blend", "render_light.py", lookScene...)
	if err != nil {
		return err
	}
	scene, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	warm, err := openService(ctx, b, worker.Blender{}, func(s *service, c *app.Config) error {
		s.workers = 1
		freely(c)
		c.Embedded = &app.EmbeddedWorker{Renderer: s.watch, Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true}
		return nil
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, warm.stop()) }()
	cold, err := openService(ctx, b, worker.Blender{}, func(_ *service, c *app.Config) error { freely(c); return nil })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cold.stop()) }()
	frame := 0
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		frame++ // another one each round, so that no cache of Blender's helps
		var tookWarm, tookCold, manual time.Duration
		err := b.Turns(func() (err error) {
			if tookWarm, err = warm.look(ctx, scene, frame); err == nil {
				err = warm.ready(ctx)
			}
			if err == nil {
				tookCold, err = cold.coldLook(ctx, b, scene, frame)
			}
			return err
		}, func() error {
			out, err := b.Dir("manual-")
			if err != nil {
				return err
			}
			few := fmt.Sprintf("import bpy; bpy.context.scene.cycles.samples = %d", contract.PreviewSamples)
			run, err := b.ByHand(ctx, "-b", path, "--python-expr", few, "-o", filepath.Join(out, "frame_####"), "-f", fmt.Sprint(frame))
			manual = run.Took
			return err
		})
		if err == nil {
			r.Add(rowLookWarm, tookWarm.Seconds(), manual.Seconds())
			r.Add(rowLookCold, tookCold.Seconds(), manual.Seconds())
		}
		return err
	})
}

// look sends a file, orders a preview of one of its frames and fetches the picture. It
// returns the time from the order on.
func (s *service) look(ctx context.Context, scene []byte, frame int) (time.Duration, error) {
	quote, err := s.client.Inspect(ctx, client.InspectRequest{Filename: "look.blend", Body: bytes.NewReader(scene)})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	p, err := s.client.OrderPreview(ctx, quote.UploadID, frame)
	if err == nil {
		p, err = s.client.AwaitPreview(ctx, p, nil)
	}
	if err == nil && p.Status != client.PreviewReady {
		err = fmt.Errorf("the preview ended as %s: %+v", p.Status, p.Failure)
	}
	if err == nil {
		_, err = s.client.PreviewImage(ctx, p)
	}
	return time.Since(began), err
}

// coldLook is look with a worker that starts now, and ends afterwards.
func (s *service) coldLook(ctx context.Context, b *rounds.Run, scene []byte, frame int) (time.Duration, error) {
	key, err := s.nodeKey(ctx)
	if err != nil {
		return 0, err
	}
	work, err := b.Dir("worker-")
	if err != nil {
		return 0, err
	}
	w := worker.New(worker.Config{
		Farm: farmapi.NewClient(s.address, key), Renderer: s.watch, WorkDir: work, Name: "cold", Log: s.log,
		Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true,
	})
	working, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(working) }()
	took, err := s.look(ctx, scene, frame)
	end()
	return took, errors.Join(err, <-ended)
}
