// Package reading measures the inspection of a .blend, beside Blender opening it.
//
// What always holds: each inspection has a process of its own, so that time and memory
// are those of the inspection. Start reading at fileGroup.
package reading

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"svc.example/bench/rounds"
	"svc.example/internal/ground/blendfile"
)

// InspectFlag makes this program inspect one file and end: then its time and
// memory are those of a process that does nothing else, as Blender's are.
const InspectFlag = "inspect"

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

// InspectAlone reads the whole file, as the service does, and prints what it took.
func InspectAlone(path string, to io.Writer) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	var out inspected
	if out.BaseBytes, err = rounds.Memory(os.Getpid(), "VmRSS"); err != nil {
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
	if out.PeakBytes, err = rounds.Memory(os.Getpid(), "VmHWM"); err != nil {
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

// The goals on reading a file: it is to be far faster than asking Blender, and
// what blendfile promises of its memory is 16 MiB beside the decoder's window.
const (
	asBlender      = "blender printing the frame range"
	inspectBound   = 16 << 20
	smallFileShare = 0.1
)

// Small is a file whose reading is mostly the start of a process.
func Small() rounds.Group {
	return fileGroup("small", rounds.RatioAtMost(smallFileShare), inspectBound, "the light scene; whole processes, start included",
		func(ctx context.Context, b *rounds.Run) (string, error) { return b.LightScene(ctx) })
}

// Plain is an uncompressed file just below the most that may be uploaded.
func Plain() rounds.Group {
	return fileGroup("plain", rounds.Goal{}, inspectBound, "100 MiB",
		func(ctx context.Context, b *rounds.Run) (string, error) { return b.PlainFile(ctx) })
}

// Zstd is a compressed file that unpacks to three times its size.
func Zstd() rounds.Group {
	return fileGroup("zstd", rounds.Goal{}, inspectBound+float64(blendfile.DefaultMaxWindow), "100 MiB, 300 MiB unpacked",
		func(ctx context.Context, b *rounds.Run) (string, error) {
			return b.Scene(ctx, "zstd.blend", "bench_large.py", "300", "zstd")
		})
}

// fileGroup measures the reading of one file.
func fileGroup(kind string, time rounds.Goal, most float64, note string, file func(context.Context, *rounds.Run) (string, error)) rounds.Group {
	name := func(what string) string { return "blendfile/" + kind + " " + what }
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: name("against blender"), Unit: rounds.Duration, Baseline: asBlender, Goal: time, Note: note},
			{Name: name("against sha256sum"), Unit: rounds.Duration, Baseline: "sha256sum", Note: "likewise"},
			{Name: name("peak memory"), Unit: rounds.Size, Baseline: asBlender, Goal: rounds.Under(most, rounds.Size).Always(), Note: "above what the process has before; Blender's whole"},
		},
		Measure: func(ctx context.Context, b *rounds.Run, into rounds.Record) error {
			path, err := file(ctx, b)
			if err != nil {
				return err
			}
			return b.Rounds(ctx, into, func(r rounds.Record) error {
				var ours, theirs inspected
				var took, hashed float64
				err := b.Turns(func() (err error) {
					ours, took, err = inspectApart(ctx, path)
					return err
				}, func() (err error) {
					if theirs, err = askBlender(ctx, b, path); err == nil {
						hashed, err = rounds.SHA256Sum(ctx, path)
					}
					return err
				})
				if err != nil {
					return err
				}
				if ours.FrameStart != theirs.FrameStart || ours.FrameEnd != theirs.FrameEnd {
					return fmt.Errorf("we read frames %d to %d, Blender %d to %d", ours.FrameStart, ours.FrameEnd, theirs.FrameStart, theirs.FrameEnd)
				}
				r.Add(name("against blender"), took, theirs.Seconds)
				r.Add(name("against sha256sum"), took, hashed)
				r.Add(name("peak memory"), ours.PeakBytes-ours.BaseBytes, theirs.PeakBytes)
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
	command := exec.CommandContext(ctx, self, "-"+InspectFlag, path)
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
func askBlender(ctx context.Context, b *rounds.Run, path string) (out inspected, err error) {
	run, err := b.ByHand(ctx, "--background", "--factory-startup", "--python-exit-code", "1", path, "--python-expr", question)
	if err != nil {
		return out, err
	}
	out.Seconds = run.Took.Seconds()
	output := strings.Join(run.Lines, "\n")
	_, frames, found := strings.Cut(output, "frames ")
	if !found {
		return out, errors.New("no frame range is in what Blender prints")
	}
	if _, err := fmt.Sscan(frames, &out.FrameStart, &out.FrameEnd); err != nil {
		return out, fmt.Errorf("read Blender's frame range: %w", err)
	}
	out.PeakBytes, err = rounds.MemoryIn(output, "VmHWM")
	return out, err
}
