package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"svc.example/internal/render/framename"
	"svc.example/internal/render/pixels"
)

// pictures are the files of each frame: its picture, or one for each view, and what File Output
// nodes wrote for it.
type pictures map[int][]picture

// picture is a file of a frame.
type picture struct {
	path string
	name string // in the ZIP, below outputs/, of what a File Output node wrote; otherwise ""
}

// absoluteName is the folder next to a made scene that its nodes name by its whole path.
const absoluteName = "absolute"

// reference renders a scene's whole range by hand, in a copy of its folder or project: a
// scene with a cache on disk writes there. With alone nothing but the .blend is copied. A film is
// written as pictures, as the service does.
func (c Config) reference(ctx context.Context, s Scene, movie, alone bool, into string) (pictures, error) {
	folder := filepath.Join(into, "scene")
	file, err := copyScene(folder, s, alone)
	if err != nil {
		return nil, fmt.Errorf("copy the scene: %w", err)
	}
	out, home := filepath.Join(into, "frames"), filepath.Join(into, "home")
	before, err := filesIn(into)
	if err == nil {
		err = os.Mkdir(home, 0o700)
	}
	if err != nil {
		return nil, err
	}
	args := []string{"--background", "--factory-startup", "-noaudio", "--threads", strconv.Itoa(c.Threads), file,
		"--render-output", filepath.Join(out, "frame_####")}
	if movie {
		args = append(args, "--render-format", "PNG")
	}
	args = append(args, "--frame-start", strconv.Itoa(s.Start), "--frame-end", strconv.Itoa(s.End), "--render-anim")
	command := exec.CommandContext(ctx, c.Blender, args...)
	// A home without settings, as a worker has.
	command.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "TMPDIR="+home)
	if said, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("render by hand: %w\n%s", err, lastLines(string(said), 10))
	}
	found, err := picturesIn(out)
	if err != nil {
		return nil, err
	}
	// Where a node has an absolute path, it wrote next to the scene itself, not to its copy.
	absolute := filepath.Join(into, absoluteName)
	err = os.Rename(filepath.Join(filepath.Dir(s.File), absoluteName), absolute)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	after, err := filesIn(into)
	if err != nil {
		return nil, err
	}
	for path := range after {
		if !before[path] && !within(out, path) && !within(home, path) {
			if err := found.addWritten(path, filepath.Dir(file), absolute); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// addWritten adds a file that a File Output node wrote by hand, with the name that the service
// gives it: by its path from the .blend's folder, without the folders above that, and without
// those of an absolute path.
func (p pictures) addWritten(path, folder, absolute string) error {
	if !isPicture(path) {
		return nil // a cache of a simulation
	}
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	number := lastNumber.FindStringSubmatch(stem)
	if number == nil {
		return fmt.Errorf("by hand Blender wrote %s, which names no frame", path)
	}
	n, err := strconv.Atoi(number[1])
	if err != nil {
		return err
	}
	if within(absolute, path) {
		folder = absolute
	}
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	for strings.HasPrefix(name, "../") {
		name = name[len("../"):]
	}
	var names framename.Names
	p[n] = append(p[n], picture{path: path, name: names.Take(name)})
	return nil
}

var lastNumber = regexp.MustCompile(`(\d+)\D*$`)

func within(folder, path string) bool {
	return strings.HasPrefix(path, folder+string(filepath.Separator))
}

// isPicture reports whether a file has the extension of a picture.
func isPicture(path string) bool {
	return slices.ContainsFunc(pixels.Formats(), func(f pixels.Format) bool { return slices.Contains(f.Extensions, filepath.Ext(path)) })
}

// filesIn lists the files in a folder, at any depth.
func filesIn(folder string) (files map[string]bool, err error) {
	files = map[string]bool{}
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files[path] = true
		}
		return err
	})
	return files, err
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
		found[n] = append(found[n], picture{path: filepath.Join(folder, e.Name())})
	}
	return found, nil
}
