package blender_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc.example/internal/render/blender"
)

// filmed makes a scene that writes a movie with the sound of a strip and of a speaker: its sequencer
// shows colours that change, by a view transform whose exposure changes too. hostile has numbers that
// no movie should have.
const filmed = `
import bpy, math, os, struct, sys, wave
folder, codec, audio, hostile = sys.argv[-4:]
for name, pitch, seconds in (("tone", 20, 1), ("speech", 7, 2)):
    with wave.open(os.path.join(folder, name + ".wav"), "wb") as out:
        out.setparams((1, 2, 48000, 0, "NONE", ""))
        out.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(i / pitch))) for i in range(48000 * seconds)))
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.name = "Filmed"
scene.render.engine = "CYCLES"
scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 96, 64, 100
scene.render.fps, scene.frame_start, scene.frame_end = 10, 4, 11
scene.render.image_settings.file_format = "FFMPEG"
movie = scene.render.ffmpeg
movie.format, movie.codec, movie.audio_codec = "MKV", codec, audio
movie.constant_rate_factor, movie.gopsize, movie.use_autosplit = "NONE", 4, True
movie.video_bitrate = movie.maxrate = 3000
scene.view_settings.view_transform = "Filmic"
for frame, value in ((4, 0.0), (11, 1.0)):
    scene.view_settings.exposure = value
    scene.view_settings.keyframe_insert("exposure", frame=frame)
strips = scene.sequence_editor_create().sequences
shade = strips.new_effect("shade", "COLOR", channel=2, frame_start=1, frame_end=20)
for frame, value in ((4, (0.1, 0.2, 0.7)), (11, (0.7, 0.3, 0.1))):
    shade.color = value
    shade.keyframe_insert("color", frame=frame)
sound = strips.new_sound("tone", os.path.join(folder, "tone.wav"), 5, 6)
for frame, value in ((6, 0.2), (11, 1.0)):
    sound.volume = value
    sound.keyframe_insert("volume", frame=frame)
camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
scene.collection.objects.link(camera)
scene.camera = camera
bpy.ops.object.speaker_add(location=(0, 0, -2))
bpy.context.object.data.sound = bpy.data.sounds.load(os.path.join(folder, "speech.wav"))
if hostile == "1":
    movie.video_bitrate = movie.maxrate = 2**31 - 1
    movie.gopsize, movie.muxrate = 500, 2**31 - 1
    shade.channel = 128
bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "film.blend"))
bpy.ops.file.make_paths_relative()
bpy.ops.wm.save_mainfile()
`

// heard writes what a movie has: its length and speed, and how loud its sound is in each frame.
const heard = `
import sys, numpy, aud, bpy
path = sys.argv[-1]
scene = bpy.context.scene
strip = scene.sequence_editor_create().sequences.new_movie("movie", path, 1, 1)
print("has", strip.frame_duration, "frames at", round(strip.fps, 3))
if path.endswith(".mp4") and b"mp4a" not in open(path, "rb").read():
    print("sound none")
else:
    samples = numpy.abs(aud.Sound(path).data()).max(axis=1)
    rate = aud.Sound(path).specs[0]
    parts = [samples[int(i * rate / 10):int((i + 1) * rate / 10)] for i in range(8)]
    print("sound", " ".join("%.2f" % (part.max() if len(part) else 0) for part in parts))
`

// python runs a script in Blender by hand, and returns what it said.
func python(t *testing.T, script string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.py")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	all := append([]string{"--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", file, "--"}, args...)
	said, err := exec.CommandContext(t.Context(), find(t), all...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return string(said)
}

// film makes the scene, and renders it by hand: as pictures, and as an MP4. The scene itself writes
// an MKV, whose sound Blender reads 20 ms later than that of an MP4.
func film(t *testing.T, codec, audio, hostile string) (own blender.Input, frames []blender.File, movie string) {
	t.Helper()
	folder := t.TempDir()
	python(t, filmed, folder, codec, audio, hostile)
	main := filepath.Join(folder, "film.blend")
	for _, format := range []string{"PNG", "FFMPEG"} {
		if format == "FFMPEG" && hostile == "1" {
			continue
		}
		said, err := exec.CommandContext(t.Context(), find(t), "--background", "--factory-startup", "-noaudio", main,
			"--python-expr", "import bpy; bpy.context.scene.render.ffmpeg.format = 'MPEG4'", "-o", filepath.Join(folder, format+"_####"), "-F", format, "-a").CombinedOutput()
		if err != nil {
			t.Fatalf("render by hand: %v: %s", err, said)
		}
	}
	for number := 4; number <= 11; number++ {
		name := fmt.Sprintf("PNG_%04d.png", number)
		frames = append(frames, blender.File{Name: name, Path: filepath.Join(folder, name)})
	}
	found, _ := filepath.Glob(filepath.Join(folder, "FFMPEG_*")) // the pattern is well-formed
	if len(found) > 0 {
		movie = found[0]
	}
	own = blender.Input{Main: "film.blend", Scene: "Filmed", Files: []blender.File{{Name: "film.blend", Path: main}, {Name: "tone.wav", Path: filepath.Join(folder, "tone.wav")}, {Name: "speech.wav", Path: filepath.Join(folder, "speech.wav")}}}
	return own, frames, movie
}

// facts are the lines that begin with a word.
func facts(said, word string) (lines []string) {
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, word) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// shown decodes a movie by Blender.
func shown(t *testing.T, movie string) (sums []string) {
	t.Helper()
	folder := t.TempDir()
	python(t, decode, movie, folder, "96", "64", "8")
	for number := 1; number <= 8; number++ {
		sums = append(sums, picture(t, filepath.Join(folder, fmt.Sprintf("%04d.png", number))).SHA256)
	}
	return sums
}

// TestAMovieIsTheOneThatItsSceneWrites compares the movie of delivered frames with the one that a
// command line writes: each decoded picture, the speed, and the sound with its fading.
func TestAMovieIsTheOneThatItsSceneWrites(t *testing.T) {
	t.Parallel()
	own, frames, byHand := film(t, "MPEG4", "MP3", "0")
	path, err := start(t, blender.Options{}).Movie(t.Context(), blender.Movie{Frames: frames, FPS: 10, Width: 96, Height: 64, Own: &own, First: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(t, path), shown(t, byHand); !slices.Equal(got, want) || slices.Equal(got[:1], got[7:]) {
		t.Errorf("the pictures are %q, by hand %q", got, want)
	}
	got, want := python(t, heard, path), python(t, heard, byHand)
	if !slices.Equal(facts(got, "has"), facts(want, "has")) || !slices.Equal(facts(got, "sound"), facts(want, "sound")) || strings.Contains(got, "sound none") {
		t.Errorf("it is %s, by hand %s", facts(got, ""), facts(want, ""))
	}
}

// A movie without sound, which is what Blender saves by default, has the scene's codec and rates too.
func TestAMovieWithoutSoundIsTheOneThatItsSceneWrites(t *testing.T) {
	t.Parallel()
	own, frames, byHand := film(t, "MPEG4", "NONE", "0")
	path, err := start(t, blender.Options{}).Movie(t.Context(), blender.Movie{Frames: frames, FPS: 10, Width: 96, Height: 64, Own: &own, First: 4})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || !strings.Contains(string(content), "mp4v") {
		t.Errorf("it has %d bytes, and is not MPEG-4: %v", len(content), err)
	}
	if got, want := shown(t, path), shown(t, byHand); !slices.Equal(got, want) {
		t.Errorf("the pictures are %q, by hand %q", got, want)
	}
}

// Frames with gaps do not follow the sound, so there is none.
func TestAMovieOfFramesWithGapsHasNoSound(t *testing.T) {
	t.Parallel()
	own, frames, _ := film(t, "H264", "AAC", "0")
	path, err := start(t, blender.Options{}).Movie(t.Context(), blender.Movie{Frames: []blender.File{frames[0], frames[3], frames[7]}, FPS: 5, Width: 96, Height: 64, Own: &own})
	if err != nil {
		t.Fatal(err)
	}
	if got := python(t, heard, path); !slices.Equal(facts(got, "has"), []string{"has 3 frames at 5.0"}) || !slices.Equal(facts(got, "sound"), []string{"sound none"}) {
		t.Errorf("it is %s", got)
	}
}

// What an MP4 cannot carry is replaced, and numbers of a file have bounds.
func TestAMovieIsAnMP4WhateverItsSceneSays(t *testing.T) {
	t.Parallel()
	own, frames, _ := film(t, "FFV1", "PCM", "1")
	path, err := start(t, blender.Options{}).Movie(t.Context(), blender.Movie{Frames: frames, FPS: 10, Width: 96, Height: 64, Own: &own, First: 4})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(content[4:]), "ftyp") || len(content) > 1<<20 || !strings.Contains(string(content), "avc1") || !strings.Contains(string(content), "mp4a") {
		t.Errorf("it has %d bytes, and is no small MP4 with H.264 and AAC: %v", len(content), err)
	}
	if got := python(t, heard, path); !slices.Equal(facts(got, "has"), []string{"has 8 frames at 10.0"}) || slices.Equal(facts(got, "sound"), []string{"sound none"}) {
		t.Errorf("it is %s", got)
	}
}
