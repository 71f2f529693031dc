package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/blendfile"
)

// inspectFlag makes this program inspect one file and end: then its time and
// memory are those of a process that does nothing else, as Blender's are.
const inspectFlag = "inspect"

// inspected is what such a process prints.
type inspected struct {
	FrameStart int     `json:"frame_start"`
	FrameEnd   int     `json:"frame_end"`
	Seconds    float64 `json:"seconds"`     // of the inspection alone
	BaseBytes  float64 `json:"base_bytes"`  // resident before it
	PeakBytes  float64 `json:"peak_bytes"`  // resident at most
	WaitAfter  float64 `json:"wait_after"`  // seconds from the last byte to the facts
	TotalBytes int64   `json:"total_bytes"` // of the file
}

// inspectAlone reads the whole file, as the service does, and tells what it took.
func inspectAlone(path string, to io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	var out inspected
	if out.BaseBytes, err = memory(os.Getpid(), "VmRSS"); err != nil {
		return err
	}
	in := &clocked{Reader: file}
	began := time.Now()
	facts, err := blendfile.Inspect(in, blendfile.Options{ReadAll: true})
	if err != nil {
		return err
	}
	if facts.Scene == nil {
		return fmt.Errorf("%s has no scene", path)
	}
	out.Seconds, out.WaitAfter, out.TotalBytes = time.Since(began).Seconds(), time.Since(in.last).Seconds(), in.n
	out.FrameStart, out.FrameEnd = facts.Scene.FrameStart, facts.Scene.FrameEnd
	if out.PeakBytes, err = memory(os.Getpid(), "VmHWM"); err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(out)
}

// clocked notes when the last bytes were handed out.
type clocked struct {
	io.Reader
	n    int64
	last time.Time
}

func (c *clocked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if n > 0 {
		c.n += int64(n)
		c.last = time.Now()
	}
	return n, err
}

// memory reads a figure of a process, in bytes: VmRSS is what is resident now,
// VmHWM the most that was.
func memory(pid int, what string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return memoryIn(string(status), what)
}

func memoryIn(status, what string) (float64, error) {
	for line := range strings.Lines(status) {
		words := strings.Fields(line)
		if len(words) == 3 && words[0] == what+":" {
			kib, err := strconv.ParseFloat(words[1], 64)
			return kib * 1024, err
		}
	}
	return 0, fmt.Errorf("the system does not tell %s", what)
}

// The goals on reading a file: it is to be far faster than asking Blender, and
// what blendfile promises of its memory is 16 MiB beside the decoder's window.
const (
	asBlender      = "blender printing the frame range"
	inspectBound   = 16 << 20
	smallFileShare = 0.1
)

func smallFileGroup() group {
	return fileGroup("small", ratioAtMost(smallFileShare), inspectBound, "the light scene; whole processes, start included",
		func(ctx context.Context, b *bench) (string, error) { return lightScene(ctx, b) })
}

func plainFileGroup() group {
	return fileGroup("plain", goal{}, inspectBound, "100 MiB",
		func(ctx context.Context, b *bench) (string, error) { return plainFile(ctx, b) })
}

func zstdFileGroup() group {
	return fileGroup("zstd", goal{}, inspectBound+float64(blendfile.DefaultMaxWindow), "100 MiB, 300 MiB unpacked",
		func(ctx context.Context, b *bench) (string, error) {
			return b.scene(ctx, "zstd.blend", "bench_large.py", "300", "zstd")
		})
}

func lightScene(ctx context.Context, b *bench) (string, error) {
	return b.scene(ctx, "light.blend", "render_light.py")
}

// plainFile is just below the most that may be uploaded.
func plainFile(ctx context.Context, b *bench) (string, error) {
	return b.scene(ctx, "plain.blend", "bench_large.py", "97", "plain")
}

// fileGroup measures the reading of one file.
func fileGroup(kind string, time goal, most float64, note string, file func(context.Context, *bench) (string, error)) group {
	name := func(what string) string { return "blendfile/" + kind + " " + what }
	return group{
		rows: []row{
			{name: name("against blender"), unit: duration, baseline: asBlender, goal: time, note: note},
			{name: name("against sha256sum"), unit: duration, baseline: "sha256sum", note: "likewise"},
			{name: name("peak memory"), unit: size, baseline: asBlender, goal: under(most, size).always(), note: "above what the process has before; Blender's whole"},
		},
		measure: func(ctx context.Context, b *bench, into record) error {
			path, err := file(ctx, b)
			if err != nil {
				return err
			}
			return b.rounds(ctx, into, func(r record) error {
				var ours, theirs inspected
				var took, hashed float64
				err := b.turns(func() (err error) {
					ours, took, err = inspectApart(ctx, path)
					return err
				}, func() (err error) {
					if theirs, err = b.askBlender(ctx, path); err == nil {
						hashed, err = sha256sum(ctx, path)
					}
					return err
				})
				if err != nil {
					return err
				}
				if ours.FrameStart != theirs.FrameStart || ours.FrameEnd != theirs.FrameEnd {
					return fmt.Errorf("we read frames %d to %d, Blender %d to %d", ours.FrameStart, ours.FrameEnd, theirs.FrameStart, theirs.FrameEnd)
				}
				r.add(name("against blender"), took, theirs.Seconds)
				r.add(name("against sha256sum"), took, hashed)
				r.add(name("peak memory"), ours.PeakBytes-ours.BaseBytes, theirs.PeakBytes)
				return nil
			})
		},
	}
}

// inspectApart inspects a file in a process of its own, and returns the seconds
// that process took as well.
func inspectApart(ctx context.Context, path string) (out inspected, took float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return out, 0, err
	}
	command := exec.CommandContext(ctx, self, "-"+inspectFlag, path)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	began := time.Now()
	answer, err := command.Output()
	took = time.Since(began).Seconds()
	if err != nil {
		return out, took, fmt.Errorf("inspect %s: %w: %s", path, err, stderr.String())
	}
	return out, took, json.Unmarshal(answer, &out)
}

// question has Blender print what inspected holds, without its Python's json.
const question = `import bpy; s = bpy.context.scene; print("frames", s.frame_start, s.frame_end); print(open("/proc/self/status").read())`

// askBlender has Blender open a file and print its frame range.
func (b *bench) askBlender(ctx context.Context, path string) (out inspected, err error) {
	run, err := b.byHand(ctx, "--background", "--factory-startup", "--python-exit-code", "1", path, "--python-expr", question)
	if err != nil {
		return out, err
	}
	out.Seconds = run.took.Seconds()
	said := strings.Join(run.lines, "\n")
	_, frames, found := strings.Cut(said, "frames ")
	if !found {
		return out, errors.New("no frame range is in what Blender prints")
	}
	if _, err := fmt.Sscan(frames, &out.FrameStart, &out.FrameEnd); err != nil {
		return out, fmt.Errorf("read Blender's frame range: %w", err)
	}
	out.PeakBytes, err = memoryIn(said, "VmHWM")
	return out, err
}
