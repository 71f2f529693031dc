package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
	"svc.example/internal/render/strips"
)

// Strips compares pictures that were joined of strips with those that were rendered in one piece.
type Strips struct {
	Blender string // the program
	Threads int
	// Device renders; GPU when empty. Pictures of GPUs may differ by pixels.GPUNoise.
	Device blender.Device
	Folder string // for scenes and pictures
	Scenes string // a script that makes further scenes in a folder: scripts/scenes/strips.py
	Report func(StripRow) error
}

// StripRow is what became of one frame of a scene.
type StripRow struct {
	Blender string `json:"blender"` // its version
	Scene   string `json:"scene"`
	Frame   int    `json:"frame"`
	Whole   string `json:"whole,omitempty"`  // why it is not cut: strips.Reason
	Equal   []int  `json:"equal,omitempty"`  // numbers of strips that gave the same pixels
	Differ  []int  `json:"differ,omitempty"` // those that gave others
	// Unsteady says that Blender makes two pictures of it in one piece.
	Unsteady bool   `json:"unsteady,omitempty"`
	Problem  string `json:"problem,omitempty"` // why there is no comparison
}

// Sound reports whether strips gave the whole picture, or are known not to.
func (r StripRow) Sound() bool { return r.Problem == "" && (len(r.Differ) == 0 || r.Unsteady) }

// divisions are the heights of strips, as costs of bands.
var divisions = [][]float64{{2, 1}, {1, 3, 2}, {3, 1, 2, 1, 2}}

// Run compares a frame of each scene whose name matches a regular expression of Python's.
// Nothing is denoised.
func (s Strips) Run(ctx context.Context, only string) error {
	scenes, err := s.scenes(ctx, only)
	if err != nil {
		return err
	}
	version, err := Version(ctx, s.Blender)
	if err != nil {
		return err
	}
	if s.Device == blender.GPU {
		version += ", GPU"
	}
	for _, scene := range scenes {
		if scene.Missing != "" || len(scene.frames()) == 0 {
			continue
		}
		frames := scene.frames()
		row := StripRow{Blender: version, Scene: scene.Name, Frame: frames[len(frames)/2]}
		if err := s.compare(ctx, scene, &row); err != nil {
			row.Problem = err.Error()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.Report(row); err != nil {
			return err
		}
	}
	return nil
}

// scenes makes those of the corpus, and those that were made for strips.
func (s Strips) scenes(ctx context.Context, only string) ([]Scene, error) {
	made, err := Make(ctx, s.Blender, filepath.Join(s.Folder, "made"), only)
	if err != nil {
		return nil, err
	}
	further := filepath.Join(s.Folder, "strips")
	if err := os.MkdirAll(further, 0o700); err != nil {
		return nil, err
	}
	said, err := exec.CommandContext(ctx, s.Blender, "--background", "--factory-startup", "-noaudio", "--python-exit-code", "3", "--python", s.Scenes, "--", further).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("run %s in Blender: %w\n%s", s.Scenes, err, lastLines(string(said), 20))
	}
	files, err := filepath.Glob(filepath.Join(further, "*.blend"))
	for _, file := range files {
		made = append(made, Scene{Name: "strips_" + strings.TrimSuffix(filepath.Base(file), ".blend"), File: file, Start: 7, End: 7, Step: 1})
	}
	return made, err
}

// compare fills in a row.
func (s Strips) compare(ctx context.Context, scene Scene, row *StripRow) error {
	dir, err := os.MkdirTemp(s.Folder, "strips-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, opened, err := s.open(ctx, scene, dir)
	if err != nil {
		return err
	}
	defer p.Close()
	if row.Whole, err = p.Undivided(ctx); err != nil || row.Whole != "" {
		return err
	}
	want, err := s.whole(ctx, scene, row.Frame)
	if err != nil {
		return err
	}
	for _, cost := range divisions {
		got, err := s.divided(ctx, p, row.Frame, opened.Rows, cost, dir)
		switch {
		case err != nil:
			return fmt.Errorf("in %d strips: %w", len(cost), err)
		case s.same(got, want):
			row.Equal = append(row.Equal, len(cost))
		default:
			row.Differ = append(row.Differ, len(cost))
		}
	}
	if len(row.Differ) > 0 {
		again, err := s.whole(ctx, scene, row.Frame)
		row.Unsteady = !s.same(again, want)
		return err
	}
	return nil
}

// open starts a Blender on a scene.
func (s Strips) open(ctx context.Context, scene Scene, dir string) (*blender.Process, blender.Opened, error) {
	p, err := blender.Start(ctx, blender.Options{Path: s.Blender, Temp: dir, Out: dir, Device: s.Device, Denoise: blender.Off, Threads: s.Threads})
	if err != nil {
		return nil, blender.Opened{}, err
	}
	opened, err := p.Open(ctx, blender.SingleFile(scene.File))
	if err != nil {
		return nil, opened, errors.Join(err, p.Close())
	}
	return p, opened, nil
}

// rendered is a picture that was rendered.
type rendered struct {
	sum  string // hash of its pixels
	file []byte // of a GPU
}

// same reports whether two pictures are, GPUs' but for their noise.
func (s Strips) same(a, b rendered) bool {
	if a.sum == b.sum || s.Device != blender.GPU {
		return a.sum == b.sum
	}
	difference, err := pixels.DifferenceOf(bytes.NewReader(a.file), bytes.NewReader(b.file))
	return err == nil && difference <= pixels.GPUNoise
}

// whole renders a frame in one piece, in a process of its own.
func (s Strips) whole(ctx context.Context, scene Scene, frame int) (none rendered, err error) {
	dir, err := os.MkdirTemp(s.Folder, "whole-")
	if err != nil {
		return none, err
	}
	defer os.RemoveAll(dir)
	p, _, err := s.open(ctx, scene, dir)
	if err != nil {
		return none, err
	}
	defer p.Close()
	f, err := p.Render(ctx, frame, nil)
	if err != nil {
		return none, err
	}
	return s.pixelsOf(f)
}

// divided renders a frame in strips, and finishes it.
func (s Strips) divided(ctx context.Context, p *blender.Process, frame, height int, cost []float64, dir string) (none rendered, err error) {
	var parts []strips.Strip
	defer func() {
		for _, part := range parts {
			_ = os.Remove(part.Path)
		}
	}()
	for i, rows := range strips.Cut(height, len(cost), cost, 0) {
		part := strips.Strip{Rows: rows, Held: rows.Wider(strips.OverlapAdaptive, height), Path: filepath.Join(dir, fmt.Sprintf("part_%d.exr", i)), GPU: s.Device == blender.GPU}
		f, err := p.Strip(ctx, frame, part.Held.From, part.Held.To, nil)
		if err != nil {
			return none, err
		}
		if err := os.Rename(f.Path, part.Path); err != nil {
			return none, err
		}
		parts = append(parts, part)
		if i > 0 {
			if err := strips.Seams(parts[i-1], part); err != nil {
				return none, err
			}
		}
	}
	joined := filepath.Join(dir, "joined.exr")
	if err := strips.Join(joined, parts); err != nil {
		return none, err
	}
	defer os.Remove(joined)
	f, err := p.Finish(ctx, frame, joined)
	if err != nil {
		return none, err
	}
	return s.pixelsOf(f)
}

// pixelsOf reads a picture, and removes it.
func (s Strips) pixelsOf(f blender.Frame) (r rendered, err error) {
	defer os.Remove(f.Path)
	if r.sum = f.PixelSHA256; r.sum != "" && s.Device != blender.GPU {
		return r, nil
	}
	if r.file, err = os.ReadFile(f.Path); err != nil || r.sum != "" {
		return r, err
	}
	picture, err := pixels.Read(bytes.NewReader(r.file))
	r.sum = picture.SHA256
	return r, err
}

// StripRows reads a file of rows: the last one of each scene and version.
func StripRows(path string) (rows []StripRow, err error) {
	all, err := readLines[StripRow](path)
	for _, r := range all {
		rows = slices.DeleteFunc(rows, func(other StripRow) bool { return other.Scene == r.Scene && other.Blender == r.Blender })
		rows = append(rows, r)
	}
	return rows, err
}

// AppendStripRow adds a row to a file of results.
func AppendStripRow(path string, r StripRow) error { return appendLine(path, r) }

// StripsPage prints rows as a section of the page, a line for each version.
func StripsPage(rows []StripRow) string {
	var b strings.Builder
	b.WriteString(`
## Strips

Each scene's middle frame in 2, 3 and 5 uneven strips, joined and finished ([stills](../stills.md)), without denoising. It is compared with the picture that another process rendered in one piece.

| Blender | cut | equal | differ | unsteady | not cut | no comparison |
|---|---|---|---|---|---|---|
`)
	versions := map[string][]StripRow{}
	var order []string
	for _, r := range rows {
		if versions[r.Blender] == nil {
			order = append(order, r.Blender)
		}
		versions[r.Blender] = append(versions[r.Blender], r)
	}
	slices.Sort(order)
	for _, version := range order {
		var cut, equal, differ, unsteady, whole, problem int
		for _, r := range versions[version] {
			switch {
			case r.Problem != "":
				problem++
			case r.Whole != "":
				whole++
			case r.Unsteady:
				cut, unsteady = cut+1, unsteady+1
			case len(r.Differ) > 0:
				cut, differ = cut+1, differ+1
			default:
				cut, equal = cut+1, equal+1
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", version, cut, equal, differ, unsteady, whole, problem)
	}
	for _, r := range rows {
		if !r.Sound() {
			fmt.Fprintf(&b, "\n%s with Blender %s: %s", r.Scene, r.Blender, strings.TrimSpace(fmt.Sprint(r.Problem, " ", r.Differ)))
		}
	}
	return b.String()
}
