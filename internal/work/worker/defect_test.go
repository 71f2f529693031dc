package worker

import (
	"strings"
	"testing"

	"svc.example/internal/render/blender"
	"svc.example/internal/render/pixels"
)

func TestBrokenFrameIsRejected(t *testing.T) {
	t.Parallel()
	sound := blender.Frame{Number: 7, Width: 8, Height: 6, Device: "GPU", Log: "Fra:7 Mem:10M | Finished\nSaved: 'frame_0007.png'"}
	seen := pixels.Picture{Width: 8, Height: 6}
	for name, c := range map[string]struct {
		device string
		spoil  func(*blender.Frame, *pixels.Picture)
		code   string // "" for sound
	}{
		"sound":           {spoil: func(*blender.Frame, *pixels.Picture) {}},
		"another frame":   {spoil: func(f *blender.Frame, _ *pixels.Picture) { f.Number = 8 }, code: blender.FrameCheckFailed},
		"fell back":       {spoil: func(f *blender.Frame, _ *pixels.Picture) { f.Device = "CPU" }, code: blender.GPUUnavailable},
		"of another kind": {device: "CPU", spoil: func(*blender.Frame, *pixels.Picture) {}, code: blender.FrameCheckFailed},
		"too small":       {spoil: func(_ *blender.Frame, p *pixels.Picture) { p.Height = 3 }, code: blender.FrameCheckFailed},
		"no numbers":      {spoil: func(_ *blender.Frame, p *pixels.Picture) { p.Defects.NotFinite = true }}, // the server has another worker confirm it
		"pink":            {spoil: func(_ *blender.Frame, p *pixels.Picture) { p.Defects.Pink = 1 }},         // the server knows what inspect said
		"out of memory":   {spoil: say("CUDA error: Out of memory in cuMemAlloc(&device_pointer, size)"), code: blender.OutOfMemory},
		"host memory too": {spoil: say("System is out of GPU and shared host memory"), code: blender.OutOfMemory},
		"driver fault":    {spoil: say("Illegal address in CUDA queue synchronize\nRefer to the Cycles GPU rendering documentation for possible solutions:"), code: blender.GPUUnavailable},
		"OptiX":           {spoil: say("OptiX error OPTIX_ERROR_LAUNCH_FAILURE in optixLaunch, line 412"), code: blender.GPUUnavailable},
		"denoiser":        {spoil: say("OpenImageDenoise error: out of something"), code: blender.FrameCheckFailed},
		"disk full":       {spoil: say("Render error (No space left on device) cannot save: 'frame_0007.png'"), code: blender.FrameCheckFailed},
		"empty output":    {spoil: say("Error: Render error (Success) cannot save: 'output_2_late_0001.png'")},
		"missing library": {spoil: say("Error: Cannot find lib 'props.blend'")}, // inspect has warned of it
	} {
		f, p, device := sound, seen, c.device
		if device == "" {
			device = "GPU"
		}
		c.spoil(&f, &p)
		got := frameDefect(7, device, f, p)
		switch {
		case (got == nil) != (c.code == ""):
			t.Errorf("%s: %v, want %q", name, got, c.code)
		case got != nil && (got.Code != c.code || got.Final || got.Log != f.Log || strings.Contains(got.Message, "\n")):
			t.Errorf("%s: %+v, want %s", name, got, c.code)
		}
	}
}

func say(line string) func(*blender.Frame, *pixels.Picture) {
	return func(f *blender.Frame, _ *pixels.Picture) { f.Log += "\n" + line + "\nFra:7 | Finished" }
}
