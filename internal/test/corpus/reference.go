package corpus

import (
	"cmp"
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

// reference renders a scene's whole range by hand, in a copy of its folder or project: a
// scene with a cache on disk writes there. With alone nothing but the .blend is copied. A film is
// written as pictures, as the service does.
func (c Config) reference(ctx context.Context, s Scene, movie, alone bool, into string) (pictures, error) {
	folder := filepath.Join(into, "scene")
	file, err := copyScene(folder, s, alone)
	if err != nil {
		return nil, fmt.Errorf("copy the scene: %w", err)
	}
	out := filepath.Join(into, "frames")
	args := []string{"--background", "--factory-startup", "-noaudio", "--threads", strconv.Itoa(c.Threads), file,
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

// copyScene copies a scene into a folder, and returns where its .blend is then.
func copyScene(to string, s Scene, alone bool) (file string, err error) {
	if !alone {
		root := cmp.Or(s.Root, filepath.Dir(s.File))
		name, err := filepath.Rel(root, s.File)
		return filepath.Join(to, name), errors.Join(err, os.CopyFS(to, os.DirFS(root)))
	}
	text, err := os.ReadFile(s.File)
	if err != nil {
		return "", err
	}
	file = filepath.Join(to, filepath.Base(s.File))
	return file, errors.Join(os.MkdirAll(to, 0o700), os.WriteFile(file, text, 0o600))
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
