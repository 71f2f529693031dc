package blender_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"svc.example/client"
	"svc.example/internal/app"
	"svc.example/internal/test/story"
	"svc.example/internal/work/worker"
)

// filmed makes the scene one that writes a movie with sound; the tone lies next to it.
const filmed = `
import math, os, struct, wave
s.render.image_settings.file_format = 'FFMPEG'
s.render.ffmpeg.format, s.render.ffmpeg.codec, s.render.ffmpeg.audio_codec = 'MPEG4', 'MPEG4', 'AAC'
s.cycles.use_denoising = False
folder = os.path.dirname(bpy.data.filepath)
with wave.open(os.path.join(folder, 'tone.wav'), 'wb') as out:
    out.setparams((1, 2, 48000, 0, 'NONE', ''))
    out.writeframes(b''.join(struct.pack('<h', int(9000 * math.sin(i / 20))) for i in range(48000)))
sound = s.sequence_editor_create().sequences.new_sound('tone', os.path.join(folder, 'tone.wav'), 1, 1).sound
sound.filepath = '//tone.wav'`

// A scene that writes a movie has frames as its delivery, and a movie with its own codec and the
// sound of its sequencer. Where frames do not follow each other there is no sound.
func TestAMovieHasTheCodecAndTheSoundOfItsScene(t *testing.T) {
	path := story.RealBlender(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "shot.blend")
	scene, err := story.QuickScene()
	if err == nil {
		err = os.WriteFile(file, scene, 0o600)
	}
	if err == nil {
		err = story.Edit(path, file, filmed)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range []string{"shot.blend", "tone.wav"} {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(content)
	}
	story.Each(t, func(t *testing.T, config app.Config) {
		svc := story.Start(t, config)
		c := svc.Caller(story.Credit)
		svc.Worker(worker.Blender{Path: path}, story.OnCPU)
		whole, err := inspected(t, c, files, client.Settings{})
		if err != nil || len(whole.Warnings) != 1 || whole.Warnings[0].Code != "movie_output_as_png" {
			t.Fatalf("quoted %+v, %v", whole, err)
		}
		for frames, sounds := range map[string]bool{"1-2": true, "1-3x2": false} {
			q, err := c.Quote(story.Patient(t), whole.UploadID, frames)
			if err != nil {
				t.Fatal(err)
			}
			started, err := c.Take(q)
			if err != nil {
				t.Fatal(err)
			}
			job := c.Await(started.JobID, client.StatusCompleted)
			c.VerifiedZIP(job)
			got, err := c.Movie(story.Patient(t), job.JobID)
			if err != nil {
				t.Fatal(err)
			}
			movie, err := io.ReadAll(got)
			_ = got.Close()
			if err != nil || !bytes.Contains(movie, []byte("mp4v")) || bytes.Contains(movie, []byte("mp4a")) != sounds {
				t.Errorf("the movie of %s has %d bytes; MPEG-4 %t, sound %t: %v", frames, len(movie), bytes.Contains(movie, []byte("mp4v")), bytes.Contains(movie, []byte("mp4a")), err)
			}
		}
	})
}
