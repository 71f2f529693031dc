package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// pictures are the files of each frame: one, or one for each view.
type pictures map[int][]string

// reference renders a scene's whole range by hand, in a copy of its folder: a scene with
// a cache on disk writes there. With alone nothing but the .blend is copied. A film is
// written as pictures, as the service does.
func (c Config) reference(ctx context.Context, s Scene, movie, alone bool, into string) (pictures, error) {
	folder := filepath.Join(into, "scene")
	if err := copyScene(folder, s.File, alone); err != nil {
		return nil, fmt.Errorf("copy the scene: %w", err)
	}
	out := filepath.Join(into, "frames")
	args := []string{"--background", "--factory-startup", "-noaudio", "--threads", strconv.Itoa(c.Threads), filepath.Join(folder, filepath.Base(s.File)),
		"--render-output", filepath.Join(out, "frame_####")}
	if movie {
		args = append(args, "--render-format", "PNG")
	}
	args = append(args, "--frame-start", strconv.Itoa(s.Start), "--frame-end", strconv.Itoa(s.End), "--render-anim")
	command := exec.CommandContext(ctx, c.Blender, args...)
	// A home without settings, as a worker has.
	command.Env = append(os.Environ(), "HOME="+into, "XDG_CONFIG_HOME="+into, "TMPDIR="+into)
	if said, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("render by hand: %w\n%s", err, lastLines(string(said), 10))
	}
	return picturesIn(out)
}

func copyScene(to, file string, alone bool) error {
	if !alone {
		return os.CopyFS(to, os.DirFS(filepath.Dir(file)))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o600))
}

var frameFile = regexp.MustCompile(`^frame_(-?\d+)(.*)\.[a-z]+$`)

// picturesIn finds the pictures of a folder.
func picturesIn(folder string) (pictures, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the pictures: %w", err)
	}
	found := pictures{}
	for _, e := range entries {
		m := frameFile.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, err
		}
		found[n] = append(found[n], filepath.Join(folder, e.Name()))
	}
	return found, nil
}
