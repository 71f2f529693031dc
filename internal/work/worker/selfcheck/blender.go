package selfcheck

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc.example/internal/ground/contract"
	"svc.example/internal/render/blender"
	"svc.example/internal/render/buildoption"
	"svc.example/internal/render/gpu"
	"svc.example/internal/work/worker"
)

// blender starts Blender, renders the trial frame and judges what both show. It compiles
// the GPU kernels if this Blender ships none, so that the first start of the worker does
// not have to. Without a start there is nothing else to report.
func (e Examination) blender(ctx context.Context) []Finding {
	kernels := filepath.Join(e.WorkDir, worker.KernelFolder)
	opts := blender.Options{Device: e.Device, Kernels: kernels, MakeKernels: true}
	if err := os.MkdirAll(kernels, 0o700); err != nil {
		return []Finding{{"blender", Fail, err.Error(), "make the work folder writable"}}
	}
	t, err := worker.Try(ctx, worker.Blender{Path: e.Blender, Sandbox: e.Sandbox}, opts, e.WorkDir)
	if t.Started == 0 {
		return []Finding{{"blender", Fail, fmt.Sprintf("%s does not start: %v", e.Blender, err), "start it by hand with --background; where it runs there, the sandbox lacks something it reads"}}
	}
	device := e.device(t.Info)
	if device.Verdict == Fail && e.Sandbox != nil {
		device.Do = e.outside(ctx, opts, device.Do)
	}
	found := []Finding{auditHook(), e.version(t), device, e.denoiser(t.Info)}
	if f, needed := parts(t.Info); needed {
		found = append(found, f)
	}
	if f, needed := e.compiler(ctx, t.Info); needed {
		found = append(found, f)
	}
	found = append(found, e.trial(t, err))
	if e.Equal != "" && err == nil && t.Frame.Path != "" {
		found = append(found, e.rows(ctx, opts))
	}
	return found
}

// auditHook reports the layer inside Blender, which does not start without it.
func auditHook() Finding {
	return Finding{"audit hook", OK, "Python that is not Blender's is refused", ""}
}

// version compares Blender's version with the contract's. Frames of one job may come
// from several workers, and another version may give other pixels.
func (e Examination) version(t worker.Trial) Finding {
	f := Finding{"blender", OK, fmt.Sprintf("%s, %s, ready in %s", t.Info.Version, e.Blender, t.Started.Round(10*time.Millisecond)), ""}
	if t.Info.Version != contract.BlenderVersion {
		f.Verdict = Fail
		f.Do = fmt.Sprintf("the contract's is %s: scripts/install-blender gets it; --allow-blender-version works with this one, which every receipt then says", contract.BlenderVersion)
		if e.AllowBlenderVersion {
			f.Verdict, f.Do = Warn, fmt.Sprintf("the contract's is %s; --allow-blender-version lets this one in, and every receipt says so", contract.BlenderVersion)
		}
	}
	return f
}

// device names what Cycles would render on, and everything else that it sees: a GPU that
// is missing from the list has a problem with its driver, not with the worker.
func (e Examination) device(info blender.Info) Finding {
	var seen []string
	for _, d := range info.Devices {
		seen = append(seen, d.Type+" "+d.Name)
	}
	f := Finding{"device", OK, "", ""}
	kind, name, ok := info.Choose(e.Device)
	f.Found = fmt.Sprintf("%s %s (Cycles sees %s)", kind, name, strings.Join(seen, ", "))
	switch {
	case !ok:
		f.Verdict, f.Found = Fail, "no GPU; Cycles sees "+strings.Join(seen, ", ")
		f.Do = "install the GPU's driver (docs/gpu.md); --device cpu renders on the CPU, which every receipt then says"
	case e.Device == blender.CPU:
		f.Verdict, f.Do = Warn, "--device cpu: every receipt says CPU"
	}
	return f
}

// outside says what helps where Blender finds no GPU in the sandbox, otherwise do: it starts
// one without, which opens no file, and sees what that finds.
func (e Examination) outside(ctx context.Context, opts blender.Options, do string) string {
	opts.Temp, opts.Out = e.WorkDir, e.WorkDir
	session, err := worker.Blender{Path: e.Blender}.Start(ctx, opts)
	if err != nil {
		return do
	}
	info := session.Info()
	if err := session.Close(); err != nil {
		return do
	}
	if _, name, ok := info.Choose(e.Device); ok {
		return fmt.Sprintf("outside of the sandbox Blender finds %s: the driver needs something that the sandbox hides (docs/sandbox.md). Please report it. --sandbox off works where every file is your own", name)
	}
	return do
}

// denoiser reports whether scenes that ask for denoising can be rendered. A missing
// denoiser is a warning only: such a worker still renders all other scenes.
func (e Examination) denoiser(info blender.Info) Finding {
	switch {
	case e.Denoise == blender.Off:
		return Finding{"denoiser", Warn, "switched off in every scene", "--denoise off: every receipt says so"}
	case !info.Denoiser:
		return Finding{"denoiser", Warn, "this Blender is built without OpenImageDenoise", "scenes that ask for denoising fail as denoiser_unavailable; --denoise off renders them without"}
	}
	return Finding{"denoiser", OK, "OpenImageDenoise", ""}
}

// parts reports what this Blender was built without. needed is false where it is nothing.
func parts(info blender.Info) (f Finding, needed bool) {
	if len(info.Lacks) == 0 {
		return f, false
	}
	return Finding{"parts", Warn, "this Blender is built without " + buildoption.List(info.Lacks), "scenes that need them go to other workers; Blender's own build has all (scripts/install-blender)"}, true
}

// compiler reports whether nvcc is installed, for a Blender without compiled kernels
// for an NVIDIA GPU, and whether their source is for that GPU. needed is false when that
// Blender needs no compiler.
func (e Examination) compiler(ctx context.Context, info blender.Info) (f Finding, needed bool) {
	nvidia := slices.ContainsFunc(info.Devices, func(d blender.DeviceInfo) bool { return d.Type == "CUDA" || d.Type == "OPTIX" })
	if e.Device != blender.GPU || !nvidia || shipsKernels(e.Blender) {
		return f, false
	}
	card, err := e.GPUs.Capability(ctx, os.Getenv(gpu.VisibleDevices))
	if most := sourceLimit(scriptFolders(e.Blender)); err == nil && most > 0 && card > most {
		return Finding{"nvcc", Fail, fmt.Sprintf("this Blender ships the source of its GPU kernels alone, and that is for compute capability %d.%d at most; the GPU has %d.%d", most/100, most/10%10, card/100, card/10%10), "take Blender's own build by scripts/install-blender"}, true
	}
	for _, name := range []string{"nvcc", "/usr/local/cuda/bin/nvcc"} {
		if path, err := exec.LookPath(name); err == nil {
			return Finding{"nvcc", OK, path + " (this Blender compiles its GPU kernels itself, once)", ""}, true
		}
	}
	return Finding{"nvcc", Fail, "not found, and this Blender ships no compiled GPU kernels", "install the CUDA toolkit (Debian: nvidia-cuda-toolkit), or take Blender's own build by scripts/install-blender"}, true
}

// shipsKernels looks for compiled CUDA kernels.
func shipsKernels(path string) bool {
	for _, folder := range scriptFolders(path) {
		for _, kernel := range []string{"*.cubin*", "*.ptx*", "*.fatbin*"} {
			if found, _ := filepath.Glob(filepath.Join(folder, "addons*", "cycles", "lib", kernel)); len(found) > 0 { // the patterns are well-formed
				return true
			}
		}
	}
	return false
}

// scriptFolders are the patterns of folders where Blender's own builds and the distributions
// have the Cycles add-on.
func scriptFolders(path string) []string {
	program, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	return []string{filepath.Join(filepath.Dir(program), "*", "scripts"), "/usr/share/blender/scripts", "/usr/share/blender/*/scripts"}
}

// archOf is how the source of the kernels names the last GPUs that it has settings for.
var archOf = regexp.MustCompile(`__CUDA_ARCH__ <= (\d{3,4})`)

// sourceLimit is the highest compute capability that the kernels' source is for, 899 for 8.x; 0
// where there is none.
func sourceLimit(folders []string) (most int) {
	for _, folder := range folders {
		found, _ := filepath.Glob(filepath.Join(folder, "addons*", "cycles", "source", "kernel", "device", "cuda", "config.h")) // the patterns are well-formed
		for _, path := range found {
			text, _ := os.ReadFile(path) // what cannot be read limits nothing
			for _, m := range archOf.FindAllSubmatch(text, -1) {
				n, _ := strconv.Atoi(string(m[1])) // it is a number
				most = max(most, n)
			}
		}
	}
	return most
}

// trial judges the frame that was rendered. Whether its pixels are right is not
// checked: devices differ in noise, and the benchmark compares pictures.
func (e Examination) trial(t worker.Trial, err error) Finding {
	switch {
	case err != nil:
		return Finding{"trial frame", Fail, err.Error(), "Blender's own words are in the message; start it by hand with the same device to see more"}
	case t.Frame.Path == "":
		return Finding{"trial frame", Fail, "not rendered: there is no device to render on", "see device"}
	case t.Picture.Width != t.Frame.Width || t.Picture.Height != t.Frame.Height:
		return Finding{"trial frame", Fail, fmt.Sprintf("%dx%d pixels instead of %dx%d", t.Picture.Width, t.Picture.Height, t.Frame.Width, t.Frame.Height), "try another Blender"}
	}
	return Finding{"trial frame", OK, fmt.Sprintf("%dx%d in %.2f s on %s %s", t.Frame.Width, t.Frame.Height, t.Frame.Seconds, t.Frame.Device, t.Frame.DeviceName), ""}
}
