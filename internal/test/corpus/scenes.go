package corpus

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Scene is one .blend and the range that is its own.
type Scene struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`  // animation, picture, simulation, file or project
	About string `json:"about"` // what it shows
	// Why says what keeps its frames from being those of Blender; "" where nothing does.
	Why     string `json:"why,omitempty"`
	Missing string `json:"missing,omitempty"` // why this Blender has no such scene; "" when it has
	File    string `json:"file,omitempty"`    // the .blend, in a folder of its own
	Root    string `json:"root,omitempty"`    // folder of the files that it is sent with; "" where it is sent alone
	Start   int    `json:"start"`             // the scene's range; frames below 1 cannot be ordered
	End     int    `json:"end"`
	Step    int    `json:"step"`
	Alone   int    `json:"alone,omitempty"` // the frame that is ordered alone; 0 for the middle
}

// frames are those that can be ordered: of 1 and above.
func (s Scene) frames() (numbers []int) {
	for n := s.Start; n <= s.End; n += s.Step {
		if n >= 1 {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

//go:embed scenes/*.py
var scripts embed.FS

// Make makes the scenes whose names match a regular expression of Python's in a folder,
// in one run of Blender; where they were made before, it only lists them. A scene that
// this Blender cannot make is in the list, with Missing set.
func Make(ctx context.Context, blender, folder, only string) (made []Scene, err error) {
	if made, err = list(folder); !errors.Is(err, fs.ErrNotExist) {
		return made, err
	}
	script, err := writeScripts(folder)
	if err != nil {
		return nil, err
	}
	return made, runScript(ctx, blender, &made, filepath.Join(script, "make.py"), only, filepath.Join(folder, listName))
}

// Read describes the scenes of the .blend files in a folder, at any depth, that render with
// Cycles. It works on copies in the folder into, each next to copies of its neighbours: it
// makes them small, and their ranges short, so that a frame takes seconds. Where they were
// made small before, it only lists them. With projects, each folder in from is one, whose
// scenes are sent with their files and rendered with Cycles whatever their own engine is.
func Read(ctx context.Context, blender, from, into string, projects bool) (read []Scene, err error) {
	if read, err = list(into); !errors.Is(err, fs.ErrNotExist) {
		return read, err
	}
	script, err := writeScripts(into)
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(into, "files")
	if err := errors.Join(os.RemoveAll(copied), os.CopyFS(copied, os.DirFS(from))); err != nil {
		return nil, fmt.Errorf("copy the files: %w", err)
	}
	err = filepath.WalkDir(copied, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".blend" {
			return err
		}
		name, _ := filepath.Rel(copied, path) // path is below copied
		s := Scene{Name: filepath.ToSlash(name), Kind: "file", File: path}
		engine := ""
		if project, _, below := strings.Cut(s.Name, "/"); projects && below {
			s.Kind, s.Root, engine = "project", filepath.Join(copied, project), "CYCLES"
		}
		// Each file has a Blender of its own: some make it crash.
		var one Scene
		if err := runScript(ctx, blender, &one, filepath.Join(script, "reduce.py"), path, engine, path+".json"); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			one.Missing = "this Blender ends when it opens the file"
		}
		s.About, s.Missing, s.Start, s.End, s.Step = one.About, one.Missing, one.Start, one.End, one.Step
		read = append(read, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(read)
	if err != nil {
		return nil, err
	}
	return read, os.WriteFile(filepath.Join(into, listName), text, 0o600)
}

// listName is the file in a folder of scenes that lists them.
const listName = "scenes.json"

func list(folder string) (scenes []Scene, err error) {
	text, err := os.ReadFile(filepath.Join(folder, listName))
	if err != nil {
		return nil, err
	}
	return scenes, json.Unmarshal(text, &scenes)
}

// writeScripts lays the scripts of the scenes into a folder.
func writeScripts(folder string) (path string, err error) {
	path = filepath.Join(folder, "scripts")
	part, err := fs.Sub(scripts, "scenes")
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.RemoveAll(path), os.CopyFS(path, part)); err != nil { // a run before may have left some
		return "", fmt.Errorf("write the scripts of the scenes: %w", err)
	}
	return path, nil
}

// runScript runs a script in Blender and reads the JSON that it leaves in the file that
// its last argument names.
func runScript(ctx context.Context, blender string, result any, script string, args ...string) error {
	all := append([]string{"--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", script, "--"}, args...)
	if said, err := exec.CommandContext(ctx, blender, all...).CombinedOutput(); err != nil {
		return fmt.Errorf("run %s in Blender: %w\n%s", filepath.Base(script), err, lastLines(string(said), 20))
	}
	text, err := os.ReadFile(args[len(args)-1])
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
