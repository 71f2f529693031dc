package worker

import (
	"fmt"
	"strings"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
)

// frameDefect returns what is wrong with a rendered frame, nil for nothing. It must be the
// leased frame, in the rendered size, on the registered device, and Blender must not have
// logged a defect. The server judges the picture's content: it knows the neighbouring
// frames. The order matters: the first defect is the one that explains the others. A wrong
// device on a GPU worker is reported as gpu_unavailable, so that the server looks at the
// worker and not at the scene.
func frameDefect(wanted int, device string, f blender.Frame, p pixels.Picture) *blender.Error {
	bad := func(code, format string, args ...any) *blender.Error {
		return &blender.Error{Code: code, Message: fmt.Sprintf(format, args...), Log: f.Log}
	}
	switch {
	case f.Number != wanted:
		return bad(blender.FrameCheckFailed, "Blender rendered frame %d, not %d", f.Number, wanted)
	case f.Device != device && device == "GPU":
		return bad(blender.GPUUnavailable, "frame %d was rendered on the %s, not on the GPU", f.Number, f.Device)
	case f.Device != device:
		return bad(blender.FrameCheckFailed, "frame %d was rendered on the %s, not on the %s", f.Number, f.Device, device)
	case p.Width != f.Width || p.Height != f.Height:
		return bad(blender.FrameCheckFailed, "the picture of frame %d is %dx%d, not %dx%d", f.Number, p.Width, p.Height, f.Width, f.Height)
	}
	return loggedDefect(f)
}

// errorPattern is a text that Blender or Cycles logs when a frame is broken although the
// render succeeds. text is in lower case.
type errorPattern struct{ text, code string }

// errorPatterns are matched in this order, in lower case. Other lines with "Error:" do not
// count: Blender logs them for missing files, and inspect has warned of those. Memory
// comes before the APIs: a line may name both, and only out_of_memory helps the caller.
func errorPatterns() []errorPattern {
	return []errorPattern{
		{"system is out of gpu", blender.OutOfMemory},
		{"out of memory in", blender.OutOfMemory}, // "CUDA error: Out of memory in cuMemAlloc"
		{"refer to the cycles gpu rendering documentation", blender.GPUUnavailable},
		{"cuda error", blender.GPUUnavailable},
		{"optix error", blender.GPUUnavailable},
		{"hip error", blender.GPUUnavailable},
		{"oneapi error", blender.GPUUnavailable},
		{"openimagedenoise error", blender.FrameCheckFailed},
		{"render error (", blender.FrameCheckFailed}, // "(No space left on device) cannot save"
	}
}

// emptyOutput is what Blender 4 says when a File Output node has no picture, as that of a frame
// before its sequence begins: it writes no file then, and renders on. No call has failed.
const emptyOutput = "render error (success) cannot save"

// loggedDefect finds the first error pattern in Blender's log of a frame. The log holds at
// most blender.FrameLogBytes, so the search is bounded.
func loggedDefect(f blender.Frame) *blender.Error {
	for line := range strings.Lines(f.Log) {
		low := strings.ToLower(line)
		if strings.Contains(low, emptyOutput) {
			continue
		}
		for _, s := range errorPatterns() {
			if strings.Contains(low, s.text) {
				return &blender.Error{Code: s.code, Message: fmt.Sprintf("frame %d is broken, Blender said: %s", f.Number, strings.TrimSpace(line)), Log: f.Log}
			}
		}
	}
	return nil
}
