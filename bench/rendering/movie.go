package rendering

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"svc.example/bench/rounds"
	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/render/blender"
	"svc.example/internal/work/worker"
)

// Rows of movies.
const (
	rowMovieTime  = "movie/24 frames as an MP4, order to last byte"
	rowMovieBytes = "movie/bytes of it"
)

// movieScene is light: samples, frames and size.
var movieScene = []string{"1", "24", "960", "540"}

// encodeByHand has Blender's sequencer encode the pictures of a folder with the service's settings.
const encodeByHand = `
import bpy, os
folder, to = %q, %q
scene = bpy.data.scenes.new("movie")
render = scene.render
render.image_settings.file_format = "FFMPEG"
render.ffmpeg.format, render.ffmpeg.codec = "MPEG4", "H264"
render.ffmpeg.constant_rate_factor, render.ffmpeg.ffmpeg_preset, render.ffmpeg.audio_codec = "HIGH", "GOOD", "NONE"
render.resolution_x, render.resolution_y, render.resolution_percentage = 960, 540, 100
render.dither_intensity, scene.view_settings.view_transform = 0, "Standard"
names = sorted(os.listdir(folder))
strip = scene.sequence_editor_create().sequences.new_image("frames", os.path.join(folder, names[0]), 1, 1)
for name in names[1:]:
    strip.elements.append(name)
strip.frame_final_duration = scene.frame_end = len(names)
render.filepath, render.use_file_extension = to, False
bpy.ops.render.render(animation=True, scene="movie")
`

// Movie measures how long a person waits for the movie of a completed job, and how large it is.
func Movie() rounds.Group {
	const byHand = "the same frames and settings by Blender's sequencer"
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: rowMovieTime, Unit: rounds.Duration, Baseline: byHand, Note: "960x540, H.264; the pause until an idle worker asks, the ZIP, Blender, the delivery and the client's pauses"},
			{Name: rowMovieBytes, Unit: rounds.Kilobytes, Baseline: byHand, Goal: rounds.RatioAtMost(1.01), Note: "no sound"},
		},
		Measure: measureMovie,
	}
}

func measureMovie(ctx context.Context, b *rounds.Run, into rounds.Record) (err error) {
	path, err := b.Scene(ctx, "movie.blend", "render_light.py", movieScene...)
	if err != nil {
		return err
	}
	pictures, err := b.Dir("pictures-")
	if err != nil {
		return err
	}
	if _, err := b.ByHand(ctx, "-b", path, "-o", filepath.Join(pictures, "frame_####"), "-a"); err != nil {
		return err
	}
	s, err := openService(ctx, b, worker.Blender{}, func(_ *service, c *app.Config) error {
		c.Embedded = &app.EmbeddedWorker{Renderer: worker.Blender{Path: b.Blender, Sandbox: b.Sandbox}, Device: blender.CPU, Denoise: blender.Keep, AllowBlenderVersion: true}
		return nil
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	return b.Rounds(ctx, into, func(r rounds.Record) error {
		jobID, err := s.completed(ctx, path)
		if err != nil {
			return err
		}
		var took, manual time.Duration
		var size, manualSize int64
		err = b.Turns(func() (err error) {
			took, size, err = s.movie(ctx, jobID)
			return err
		}, func() error {
			out, err := b.Dir("manual-")
			if err != nil {
				return err
			}
			to := filepath.Join(out, "movie.mp4")
			run, err := b.ByHand(ctx, "-b", "--factory-startup", "--python-exit-code", "3", "--python-expr", fmt.Sprintf(encodeByHand, pictures, to))
			if err != nil {
				return err
			}
			info, err := os.Stat(to)
			if err == nil {
				manual, manualSize = run.Took, info.Size()
			}
			return err
		})
		if err == nil {
			r.Add(rowMovieTime, took.Seconds(), manual.Seconds())
			r.Add(rowMovieBytes, float64(size), float64(manualSize))
		}
		return err
	})
}

// completed renders a file and returns the job.
func (s *service) completed(ctx context.Context, path string) (jobID string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	quote, err := s.client.Inspect(ctx, client.InspectRequest{Filename: filepath.Base(path), Body: file})
	if err != nil {
		return "", err
	}
	job, err := s.client.Start(ctx, quote, client.StartRequest{LegalAcceptance: client.LegalV1})
	if err == nil {
		job, err = s.client.Wait(ctx, job.JobID, nil)
	}
	if err != nil {
		return "", err
	}
	if job.Status != client.StatusCompleted {
		return "", fmt.Errorf("the job ended as %s: %+v", job.Status, job.Failure)
	}
	return job.JobID, nil
}

// movie orders the movie of a job and reads it to its end.
func (s *service) movie(ctx context.Context, jobID string) (took time.Duration, size int64, err error) {
	began := time.Now()
	movie, err := s.client.Movie(ctx, jobID)
	if err != nil {
		return 0, 0, err
	}
	size, err = io.Copy(io.Discard, movie)
	return time.Since(began), size, errors.Join(err, movie.Close())
}
