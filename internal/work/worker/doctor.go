package worker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"svc.example/internal/ground/blender"
	"svc.example/internal/ground/contract"
	"svc.example/internal/ground/farmapi"
	"svc.example/internal/ground/sandbox"
)

// Verdict is what a finding means for a worker.
type Verdict string

// A worker with a Bad finding does not start, or fails its frames. With a Doubtful
// one it works with less than it could have, or an operator should know something
// about its results.
const (
	Good     Verdict = "ok"
	Doubtful Verdict = "warn"
	Bad      Verdict = "FAIL"
)

// Finding is the result of one check of Examine.
type Finding struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	Do      string  `json:"do,omitempty"` // what helps; "" when it is ok
}

// Examination describes the worker that would be started.
type Examination struct {
	Blender    string // its path, or the text of blender.Find's error
	BlenderErr error
	Sandbox    *sandbox.Sandbox
	SandboxErr error // of sandbox.Open
	Device     blender.Device
	Denoise    blender.Denoise
	// AllowBlenderVersion admits a Blender of another version than the contract's.
	AllowBlenderVersion bool
	WorkDir             string
	Server              string // address of the service; "" skips its check
	Farm                Farm   // calls the server with the worker's key; nil without a key
	Now                 func() time.Time
}

// Free space that a work folder should have, in bytes.
const (
	minDisk    = 2 << 30
	enoughDisk = 20 << 30
)

// Examine runs every check that a worker makes before its first job, and renders one
// frame of a built-in scene. It does not register.
func (e Examination) Examine(ctx context.Context) []Finding {
	found := []Finding{e.user(), e.disk(), e.sandbox()}
	if e.BlenderErr != nil {
		found = append(found, Finding{"blender", Bad, e.BlenderErr.Error(), "run scripts/install-blender, or name one with --blender PATH"})
	} else if e.SandboxErr == nil {
		found = append(found, e.blender(ctx)...)
	} else {
		found = append(found, Finding{"blender", Doubtful, e.Blender + ", not started: no sandbox to start it in", "mend the sandbox first"})
	}
	if e.Server != "" {
		found = append(found, e.server(ctx)...)
	}
	return found
}

func (Examination) user() Finding {
	if os.Geteuid() == 0 {
		return Finding{"user", Doubtful, "root", "run the worker as a user of its own, who is in the groups that own the GPU's device nodes"}
	}
	return Finding{"user", Good, fmt.Sprintf("user %d, not root", os.Geteuid()), ""}
}

func (e Examination) disk() Finding {
	var fs syscall.Statfs_t
	if err := os.MkdirAll(e.WorkDir, 0o700); err != nil {
		return Finding{"work folder", Bad, err.Error(), "name a folder that this user may write to with --work"}
	}
	if err := syscall.Statfs(e.WorkDir, &fs); err != nil {
		return Finding{"work folder", Bad, err.Error(), "name another folder with --work"}
	}
	free := int64(fs.Bavail) * fs.Bsize
	f := Finding{"work folder", Good, fmt.Sprintf("%s, %s free", e.WorkDir, sandbox.Size(free)), ""}
	switch {
	case free < minDisk:
		f.Verdict, f.Do = Bad, "make room: a job's file, its pictures and Blender's temporary files lie there"
	case free < enoughDisk:
		f.Verdict, f.Do = Doubtful, "20 GiB are enough for most scenes"
	}
	return f
}

func (e Examination) sandbox() Finding {
	if e.SandboxErr != nil {
		return Finding{"sandbox", Bad, e.SandboxErr.Error(), "install bubblewrap and allow it namespaces (docs/sandbox.md), or choose --sandbox auto or off"}
	}
	r := e.Sandbox.Report()
	f := Finding{"sandbox", Good, r.String(), ""}
	if !r.Whole() {
		f.Verdict, f.Found, f.Do = Doubtful, r.String()+"; without "+strings.Join(r.Lacking, "; without "), "docs/sandbox.md says what each layer is for"
	}
	return f
}

// blender starts Blender and renders the trial frame.
func (e Examination) blender(ctx context.Context) []Finding {
	kernels := filepath.Join(e.WorkDir, kernelFolder)
	opts := blender.Options{Device: e.Device, Kernels: kernels, MakeKernels: true}
	if err := os.MkdirAll(kernels, 0o700); err != nil {
		return []Finding{{"blender", Bad, err.Error(), "make the work folder writable"}}
	}
	t, err := try(ctx, Blender{Path: e.Blender, Sandbox: e.Sandbox}, opts, e.WorkDir)
	if t.Started == 0 {
		return []Finding{{"blender", Bad, fmt.Sprintf("%s does not start: %v", e.Blender, err), "start it by hand with --background; where it runs there, the sandbox lacks something it reads"}}
	}
	found := []Finding{e.version(t), e.device(t.Info), e.denoiser(t.Info)}
	if f, needed := e.compiler(t.Info); needed {
		found = append(found, f)
	}
	return append(found, e.trial(t, err))
}

func (e Examination) version(t Trial) Finding {
	f := Finding{"blender", Good, fmt.Sprintf("%s, %s, ready in %s", t.Info.Version, e.Blender, t.Started.Round(10*time.Millisecond)), ""}
	if t.Info.Version != contract.BlenderVersion {
		f.Verdict = Bad
		f.Do = fmt.Sprintf("the contract's is %s: scripts/install-blender gets it; --allow-blender-version works with this one, which every receipt then says", contract.BlenderVersion)
		if e.AllowBlenderVersion {
			f.Verdict, f.Do = Doubtful, fmt.Sprintf("the contract's is %s; --allow-blender-version lets this one in, and every receipt says so", contract.BlenderVersion)
		}
	}
	return f
}

func (e Examination) device(info blender.Info) Finding {
	var seen []string
	for _, d := range info.Devices {
		seen = append(seen, d.Type+" "+d.Name)
	}
	f := Finding{"device", Good, "", ""}
	kind, name, ok := info.Choose(e.Device)
	f.Found = fmt.Sprintf("%s %s (Cycles sees %s)", kind, name, strings.Join(seen, ", "))
	switch {
	case !ok:
		f.Verdict, f.Found = Bad, "no GPU; Cycles sees "+strings.Join(seen, ", ")
		f.Do = "install the GPU's driver (docs/gpu.md); --device cpu renders on the CPU, which every receipt then says"
	case e.Device == blender.CPU:
		f.Verdict, f.Do = Doubtful, "--device cpu: every receipt says CPU"
	}
	return f
}

func (e Examination) denoiser(info blender.Info) Finding {
	switch {
	case e.Denoise == blender.Off:
		return Finding{"denoiser", Doubtful, "switched off in every scene", "--denoise off: every receipt says so"}
	case !info.Denoiser:
		return Finding{"denoiser", Doubtful, "this Blender is built without OpenImageDenoise", "scenes that ask for denoising fail as denoiser_unavailable; --denoise off renders them without"}
	}
	return Finding{"denoiser", Good, "OpenImageDenoise", ""}
}

// compiler reports whether nvcc is installed, for a Blender without compiled kernels
// for an NVIDIA GPU. needed is false when that Blender needs no compiler.
func (e Examination) compiler(info blender.Info) (f Finding, needed bool) {
	nvidia := slices.ContainsFunc(info.Devices, func(d blender.DeviceInfo) bool { return d.Type == "CUDA" || d.Type == "OPTIX" })
	if e.Device != blender.GPU || !nvidia || shipsKernels(e.Blender) {
		return f, false
	}
	for _, name := range []string{"nvcc", "/usr/local/cuda/bin/nvcc"} {
		if path, err := exec.LookPath(name); err == nil {
			return Finding{"nvcc", Good, path + " (this Blender compiles its GPU kernels itself, once)", ""}, true
		}
	}
	return Finding{"nvcc", Bad, "not found, and this Blender ships no compiled GPU kernels", "install the CUDA toolkit (Debian: nvidia-cuda-toolkit), or take Blender's own build by scripts/install-blender"}, true
}

// shipsKernels looks for compiled CUDA kernels in the folders where Blender's own
// builds and the distributions put the Cycles add-on.
func shipsKernels(path string) bool {
	program, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, scripts := range []string{filepath.Join(filepath.Dir(program), "*", "scripts"), "/usr/share/blender/scripts", "/usr/share/blender/*/scripts"} {
		for _, kernel := range []string{"*.cubin*", "*.ptx*", "*.fatbin*"} {
			if found, _ := filepath.Glob(filepath.Join(scripts, "addons*", "cycles", "lib", kernel)); len(found) > 0 { // the patterns are well-formed
				return true
			}
		}
	}
	return false
}

func (e Examination) trial(t Trial, err error) Finding {
	switch {
	case err != nil:
		return Finding{"trial frame", Bad, err.Error(), "Blender's own words are in the message; start it by hand with the same device to see more"}
	case t.Frame.Path == "":
		return Finding{"trial frame", Bad, "not rendered: there is no device to render on", "see device"}
	case t.Picture.Width != t.Frame.Width || t.Picture.Height != t.Frame.Height:
		return Finding{"trial frame", Bad, fmt.Sprintf("%dx%d pixels instead of %dx%d", t.Picture.Width, t.Picture.Height, t.Frame.Width, t.Frame.Height), "try another Blender"}
	}
	return Finding{"trial frame", Good, fmt.Sprintf("%dx%d in %.2f s on %s %s", t.Frame.Width, t.Frame.Height, t.Frame.Seconds, t.Frame.Device, t.Frame.DeviceName), ""}
}

// serverTime bounds the service's answer.
const serverTime = 10 * time.Second

// clockApart is the difference between two clocks from which their logs confuse a
// reader. Leases use only the server's clock.
const clockApart = 30 * time.Second

func (e Examination) server(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	unreachable := func(err error) []Finding {
		return []Finding{{"server", Bad, err.Error(), "is --server right, and may this machine call it?"}}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(e.Server, "/")+"/v1/health", nil)
	if err != nil {
		return unreachable(err)
	}
	sent := e.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return unreachable(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return unreachable(fmt.Errorf("%s answers %s", e.Server, res.Status))
	}
	return []Finding{{"server", Good, e.Server, ""}, e.clock(sent, res.Header.Get("Date")), e.key(ctx)}
}

func (Examination) clock(here time.Time, date string) Finding {
	there, err := http.ParseTime(date)
	if err != nil {
		return Finding{"clock", Doubtful, "the server sends no Date header", ""}
	}
	if apart := here.Sub(there).Abs().Round(time.Second); apart > clockApart {
		return Finding{"clock", Doubtful, apart.String() + " away from the server's", "set the clock (NTP): leases do not need it, TLS and whoever reads both logs do"}
	}
	return Finding{"clock", Good, "within " + clockApart.String() + " of the server's", ""}
}

// key tests the worker's key with a heartbeat for an unknown worker: the server
// checks the key first, and the call changes nothing.
func (e Examination) key(ctx context.Context) Finding {
	if e.Farm == nil {
		return Finding{"node key", Doubtful, "none given", "--key, from svc admin key create --kind node"}
	}
	_, err := e.Farm.Heartbeat(ctx, farmapi.HeartbeatRequest{WorkerID: "doctor"})
	var refused *farmapi.Error
	switch {
	case errors.As(err, &refused) && refused.Code == "worker_not_registered":
		return Finding{"node key", Good, "accepted", ""}
	case unauthorized(err):
		return Finding{"node key", Bad, "not accepted: " + err.Error(), "make one on the service's machine: svc admin key create --kind node"}
	case err == nil:
		err = errors.New("an unknown worker was accepted")
	}
	return Finding{"node key", Bad, err.Error(), "is --server the address of svc?"}
}
