package causes

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blendfile"
	"svc.example/internal/render/scenefiles"
	"svc.example/internal/work/inspection"
	"svc.example/internal/work/quote"
)

//go:embed scenes
var scripts embed.FS

// Scene is a file with a cause of a warning.
type Scene struct {
	Name  string `json:"name"`
	About string `json:"about"` // how the scene has it
	Kind  string `json:"kind"`  // the warning's code, or Files
	File  string `json:"file"`
	Frame int    `json:"frame"`
	Also  []int  `json:"also,omitempty"` // frames that are painted, too

	// How the picture without the cause is painted.
	Scripts bool   `json:"scripts,omitempty"` // with Python
	Stays   bool   `json:"stays,omitempty"`   // the one with the cause is painted in the file's place, too
	Edit    string `json:"edit,omitempty"`    // after this Python
}

// Files is the kind of a real file that is painted without what it needs.
const Files = "files"

// codes are the warnings of a kind.
func (s Scene) codes() []quote.WarningCode {
	if s.Kind == Files {
		return []quote.WarningCode{quote.WarnMissingFiles, quote.WarnLinkedLibraries, quote.WarnMissingCache}
	}
	return []quote.WarningCode{quote.WarningCode(s.Kind)}
}

// Row is what became of a scene.
type Row struct {
	Scene   Scene
	Told    bool   // there is a warning
	Differs bool   // the pictures differ
	Problem string // why there is no result; "" if there is one
}

// FalseAlarm reports a warning without a difference.
func (r Row) FalseAlarm() bool { return r.Problem == "" && r.Told && !r.Differs }

// Missed reports a difference without a warning.
func (r Row) Missed() bool { return r.Problem == "" && r.Differs && !r.Told }

// Make makes the scenes in a folder that does not exist.
func Make(ctx context.Context, blender, folder string) (made []Scene, err error) {
	return made, run(ctx, blender, &made, "make.py", filepath.Join(folder, "scenes.json"), folder)
}

// Find lists the files of Cycles scenes in a folder, each with and without its files, and
// with and without Python.
func Find(folder string) (found []Scene, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".blend" {
			return err
		}
		facts, err := read(path)
		if err != nil || inspection.Renderable(facts, quote.Farm{}) != nil {
			return nil // no service renders it
		}
		name, _ := filepath.Rel(folder, path) // path is below folder
		files := Scene{Name: name, Kind: Files, File: path, Frame: facts.Scene.FrameStart, Also: []int{
			min(facts.Scene.FrameStart+4, facts.Scene.FrameEnd), min(facts.Scene.FrameStart+9, facts.Scene.FrameEnd), (facts.Scene.FrameStart + facts.Scene.FrameEnd) / 2, facts.Scene.FrameEnd,
		}}
		scripts := files
		scripts.Kind, scripts.Scripts, scripts.Stays = string(quote.WarnScriptsDisabled), true, true
		found = append(found, files, scripts)
		return nil
	})
	return found, err
}

// Compare paints scenes, all in one Blender if together is set, otherwise each in one of
// its own: some files make it crash. folder is for what is made, and does not exist.
func Compare(ctx context.Context, blender, folder string, scenes []Scene, together bool) ([]Row, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	rows := make([]Row, 0, len(scenes))
	size := 1
	if together {
		size = max(1, len(scenes))
	}
	for part := range slices.Chunk(scenes, size) {
		painted, err := paint(ctx, blender, folder, part)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && together {
			return nil, err
		}
		for i, s := range part {
			row := Row{Scene: s}
			if err != nil {
				row.Problem = "this Blender ends when it renders the file"
			} else {
				row.Differs, row.Problem = painted[i].Differ, painted[i].Problem
			}
			if row.Told, err = told(s); err != nil {
				return nil, err
			}
			if row.FalseAlarm() && s.Kind == Files && absent(s) {
				row.Problem = "what is named is not next to the file either"
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// result is what paint.py says of a scene.
type result struct {
	Differ  bool   `json:"differ"`
	Problem string `json:"problem"`
}

// paint paints scenes in one Blender.
func paint(ctx context.Context, blender, folder string, scenes []Scene) (painted []result, err error) {
	text, err := json.Marshal(scenes)
	if err != nil {
		return nil, err
	}
	list := filepath.Join(folder, "list.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return nil, err
	}
	err = run(ctx, blender, &painted, "paint.py", filepath.Join(folder, "result.json"), list, filepath.Join(folder, "result.json"))
	if err == nil && len(painted) != len(scenes) {
		err = fmt.Errorf("%d of %d scenes were painted", len(painted), len(scenes))
	}
	return painted, err
}

// told reports whether a scene's file has its warning.
func told(s Scene) (bool, error) {
	facts, err := read(s.File)
	if err != nil {
		return false, err
	}
	scene := inspection.SceneOf(facts, filepath.Base(s.File))
	for _, w := range quote.Envelope(contract.QualifiedPixelSamples).Warnings(scene, quote.Farm{}, quote.Selection{Frames: scene.Frames()}) {
		if slices.Contains(s.codes(), w.Code) {
			return true, nil
		}
	}
	return false, nil
}

// absent reports whether none of the files that are named as missing is there.
func absent(s Scene) bool {
	facts, err := read(s.File)
	if err != nil {
		return true
	}
	for _, m := range facts.MissingFiles {
		path := filepath.Join(filepath.Dir(s.File), filepath.FromSlash(strings.TrimPrefix(strings.ReplaceAll(m.Path, `\\`, "/"), "//")))
		if _, err := os.Stat(path); err == nil {
			return false
		}
	}
	return true
}

func read(path string) (*blendfile.Facts, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	facts, err := blendfile.Inspect(file, blendfile.Options{ReadAll: true})
	if err == nil {
		err = scenefiles.Complete(context.Background(), facts, filepath.Base(path), func() (io.ReadCloser, error) { return os.Open(path) }, scenefiles.Options{})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return facts, nil
}

// run runs a script in Blender and reads the JSON that it leaves.
func run(ctx context.Context, blender string, into any, script, leaves string, args ...string) error {
	folder, err := os.MkdirTemp("", "svc-causes-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := os.CopyFS(folder, scripts); err != nil {
		return err
	}
	all := append([]string{"--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", filepath.Join(folder, "scenes", script), "--"}, args...)
	if said, err := exec.CommandContext(ctx, blender, all...).CombinedOutput(); err != nil {
		return fmt.Errorf("run %s in Blender: %w\n%s", script, err, tail(string(said)))
	}
	text, err := os.ReadFile(leaves)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// Table counts rows by kind, in Markdown, and names what is not as it should be.
func Table(rows []Row) string {
	var out, names strings.Builder
	out.WriteString("| warning | scenes | told, and the picture differs | not told, and it does not | false alarms | missed | not to be said |\n|---|---|---|---|---|---|---|\n")
	var kinds []string
	for _, r := range rows {
		if !slices.Contains(kinds, r.Scene.Kind) {
			kinds = append(kinds, r.Scene.Kind)
		}
	}
	for _, kind := range kinds {
		var all, right, quiet, alarms, missed, unsaid int
		for _, r := range rows {
			if r.Scene.Kind != kind {
				continue
			}
			all++
			switch {
			case r.Problem != "":
				unsaid++
				fmt.Fprintf(&names, "%s: %s: %s\n", kind, r.Scene.Name, r.Problem)
			case r.FalseAlarm():
				alarms++
				fmt.Fprintf(&names, "%s: %s: false alarm\n", kind, r.Scene.Name)
			case r.Missed():
				missed++
				fmt.Fprintf(&names, "%s: %s: missed\n", kind, r.Scene.Name)
			case r.Told:
				right++
			default:
				quiet++
			}
		}
		fmt.Fprintf(&out, "| `%s` | %d | %d | %d | %d | %d | %d |\n", kind, all, right, quiet, alarms, missed, unsaid)
	}
	if names.Len() > 0 {
		out.WriteString("\n" + names.String())
	}
	return out.String()
}
