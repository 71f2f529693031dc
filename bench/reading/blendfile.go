// Package reading compares the inspection of a .blend with Blender opening it.
//
// What always holds: each inspection runs in a process of its own, so that its time and
// memory are those of the inspection; both readers must find the same frame range. Start
// reading at fileGroup.
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
	"svc.example/internal/render/blendfile"
)

// InspectFlag makes this program inspect one file and end. Its time and memory are then
// those of a process that does nothing else, as Blender's are.
const InspectFlag = "inspect"

// inspected is what such a process prints, and what is read from Blender's output.
type inspected struct {
	FrameStart int     `json:"frame_start"`
	FrameEnd   int     `json:"frame_end"`
	Seconds    float64 `json:"seconds"`     // of the inspection alone
	BaseBytes  float64 `json:"base_bytes"`  // resident before it
	PeakBytes  float64 `json:"peak_bytes"`  // resident at most
	WaitAfter  float64 `json:"wait_after"`  // seconds from the last byte to the facts
	TotalBytes int64   `json:"total_bytes"` // of the file
}

// InspectAlone reads the whole file, as the service does with an upload, and prints time
// and memory as JSON. It is the other end of inspectApart.
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

// clocked notes when the last bytes were read: what follows is the work that a caller
// waits for after an upload's last byte.
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

// The goals on reading a file: it must be far faster than asking Blender, and stay
// within the memory that blendfile promises, 16 MiB in addition to the decoder's
// window.
const (
	asBlender      = "blender printing the frame range"
	inspectBound   = 16 << 20 // bytes
	smallFileShare = 0.1      // of Blender's time
)

// Small measures a file that is small enough for the start of a process to take most of
// the time, on both sides.
func Small() rounds.Group {
	return fileGroup("small", rounds.RatioAtMost(smallFileShare), inspectBound, "the light scene; whole processes, start included",
		func(ctx context.Context, b *rounds.Run) (string, error) { return b.LightScene(ctx) })
}

// Plain measures an uncompressed file just below the largest upload.
func Plain() rounds.Group {
	return fileGroup("plain", rounds.Goal{}, inspectBound, "100 MiB",
		func(ctx context.Context, b *rounds.Run) (string, error) { return b.PlainFile(ctx) })
}

// Zstd measures a compressed file that unpacks to three times its size.
func Zstd() rounds.Group {
	return fileGroup("zstd", rounds.Goal{}, inspectBound+float64(blendfile.DefaultMaxWindow), "100 MiB, 300 MiB unpacked",
		func(ctx context.Context, b *rounds.Run) (string, error) {
			return b.Scene(ctx, "zstd.blend", "bench_large.py", "300", "zstd")
		})
}

// fileGroup measures the reading of one file. most bounds the memory of every round, in
// bytes above what the process has before it reads.
func fileGroup(kind string, time rounds.Goal, most float64, note string, file func(context.Context, *rounds.Run) (string, error)) rounds.Group {
	name := func(what string) string { return "blendfile/" + kind + " " + what }
	return rounds.Group{
		Rows: []rounds.Row{
			{Name: name("against blender"), Unit: rounds.Duration, Baseline: asBlender, Goal: time, Note: note},
			{Name: name("against sha256sum"), Unit: rounds.Duration, Baseline: "sha256sum", Note: "likewise"},
			{Name: name("peak memory"), Unit: rounds.Size, Baseline: asBlender, Goal: rounds.Under(most, rounds.Size).Always(), Note: "growth of the process; of Blender the whole process"},
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
					return fmt.Errorf("svc reads frames %d to %d, Blender %d to %d", ours.FrameStart, ours.FrameEnd, theirs.FrameStart, theirs.FrameEnd)
				}
				r.Add(name("against blender"), took, theirs.Seconds)
				r.Add(name("against sha256sum"), took, hashed)
				r.Add(name("peak memory"), ours.PeakBytes-ours.BaseBytes, theirs.PeakBytes)
				return nil
			})
		},
	}
}

// inspectApart inspects a file in a process of its own and also returns the seconds that
// the process took, its start included.
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

// question has Blender print what inspected holds. It prints plain text because loading
// Python's json would add to Blender's time.
const question = `import bpy; s = bpy.context.scene; print("frames", s.frame_start, s.frame_end); print(open("/proc/self/status").read())`

// askBlender has Blender open a file and print its frame range, in background mode and
// without the user's settings.
func askBlender(ctx context.Context, b *rounds.Run, path string) (out inspected, err error) {
	run, err := b.ByHand(ctx, "--background", "--factory-startup", "--python-exit-code", "1", path, "--python-expr", question)
	if err != nil {
		return out, err
	}
	out.Seconds = run.Took.Seconds()
	output := strings.Join(run.Lines, "\n")
	_, frames, found := strings.Cut(output, "frames ")
	if !found {
		return out, errors.New("no frame range in the output of Blender")
	}
	if _, err := fmt.Sscan(frames, &out.FrameStart, &out.FrameEnd); err != nil {
		return out, fmt.Errorf("read Blender's frame range: %w", err)
	}
	out.PeakBytes, err = rounds.MemoryIn(output, "VmHWM")
	return out, err
}
