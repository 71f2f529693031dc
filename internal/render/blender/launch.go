package blender

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"svc.example/internal/ground/sandbox"
	"svc.example/internal/render/gpu"
	"svc.example/internal/render/scenefiles/alias"
)

// driver is what Blender runs to take commands. It is embedded, so that the binary
// needs no file other than a Blender.
//
//go:embed driver.py kept.py movies.py outputs.py strips.py
var driver embed.FS

// driverName is the file of it that Blender runs. The others are its modules.
const driverName = "driver.py"

// pythonExit is the exit status of a Blender whose driver raised an error.
const pythonExit = 70

// passed names the environment variables that Blender inherits: where libraries and
// programs are, and which GPUs it may use. All others, which may hold keys, never
// reach a process that opens customers' files.
var passed = [...]string{
	"PATH", "LD_LIBRARY_PATH",
	gpu.VisibleDevices, "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ONEAPI_DEVICE_SELECTOR",
}

// launch writes the driver, starts Blender with it, and starts the goroutines that
// read its pipes. On an error no process is left, but p.dir may have contents.
func (p *Process) launch() error {
	for _, dir := range []string{p.home(), p.in(), p.out()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make a folder for Blender: %w", err)
		}
	}
	if p.root() != "" {
		for _, name := range alias.Roots {
			if err := os.MkdirAll(filepath.Join(p.root(), name), 0o700); err != nil {
				return fmt.Errorf("make a root for Blender: %w", err)
			}
		}
	}
	if err := p.writeDriver(); err != nil {
		return fmt.Errorf("write Blender's driver: %w", err)
	}
	if c := p.opts.Colours; c != nil {
		var err error
		if p.placed, err = p.place(*c); err != nil { // by the job's names, as in Open
			return &Error{Code: Crashed, Message: err.Error()}
		}
	}
	settings, err := json.Marshal(map[string]any{
		"out": p.inside(p.out()), "device": p.opts.Device, "denoise": p.opts.Denoise, "uncompressed": p.opts.Uncompressed, "whole": p.opts.Whole,
	})
	if err != nil {
		return fmt.Errorf("write Blender's settings: %w", err)
	}
	program, err := filepath.EvalSymlinks(p.opts.Path)
	if err != nil {
		return fmt.Errorf("find Blender %s: %w", p.opts.Path, err)
	}
	return p.startPiped(p.command(program, p.inside(filepath.Join(p.in(), driverName)), string(settings)))
}

// writeDriver writes the driver, with what a test has it do first.
func (p *Process) writeDriver() error {
	if err := os.CopyFS(p.in(), driver); err != nil || p.opts.attack == "" {
		return err
	}
	const start = "main()\n"
	own, err := driver.ReadFile(driverName)
	if err != nil {
		return err
	}
	attacked := slices.Concat(bytes.TrimSuffix(own, []byte(start)), []byte(p.opts.attack), []byte(start))
	return os.WriteFile(filepath.Join(p.in(), driverName), attacked, 0o600)
}

// command returns the command line of Blender in its sandbox. Factory settings and
// disabled autoexec keep the machine's and the file's scripts from running. It may
// read its own program's folder and write only its home, its pictures and, as a
// maker, the kernels. Those have the same names inside on every machine.
func (p *Process) command(program, script, settings string) sandbox.Command {
	installed, home := filepath.Dir(program), p.inside(p.home())
	c := sandbox.Command{
		Path: program,
		Args: []string{"--background", "--factory-startup", "--disable-autoexec", "-noaudio", "--threads", strconv.Itoa(p.opts.Threads),
			// Blender evaluates its arguments in order, so these come before the
			// script.
			"--python-exit-code", strconv.Itoa(pythonExit), "--python", script, "--", settings},
		Dir: home, Env: environment(home, p.opts.Card), CPUs: p.opts.CPUs,
		Read:   append(libraries(), installed, p.in()),
		Write:  []string{p.home(), p.out()},
		Inside: map[string]string{},
		Root:   p.root(),
		GPU:    p.opts.Device == GPU,
	}
	if p.root() != "" {
		for _, folder := range []string{p.home(), p.in(), p.out()} {
			c.Inside[folder] = p.inside(folder)
		}
		if !strings.HasPrefix(installed, "/usr/") { // which is there as a whole
			c.Inside[installed] = ownFolder + "blender"
			c.Path = filepath.Join(c.Inside[installed], filepath.Base(program))
		}
	}
	if p.placed != "" {
		c.Env = append(c.Env, "OCIO="+p.inside(p.config()))
	}
	if c.GPU {
		c.Read = append(c.Read, toolkits()...)
	}
	if p.root() != "" {
		c.Env = append(c.Env, "PATH="+programs(c.Read)) // the last one counts
	}
	if kernels := p.opts.Kernels; kernels != "" {
		c.Env, c.Inside[kernels] = append(c.Env, kernelCaches(p.inside(kernels))...), p.inside(kernels)
		if p.opts.MakeKernels {
			c.Write = append(c.Write, kernels)
		} else {
			c.Read = append(c.Read, kernels)
		}
	}
	return c
}

// ownFolder holds what we give Blender, in a sandbox that has a root. No project has files there
// (alias.Roots).
const ownFolder = "/svc/"

// inside returns the name that Blender knows a path by: of our folders, or below one.
func (p *Process) inside(path string) string {
	if p.root() == "" {
		return path
	}
	if path == p.opts.Kernels {
		return ownFolder + "kernels"
	}
	if below, ok := strings.CutPrefix(path, p.dir+"/"); ok {
		return ownFolder + below
	}
	return path
}

// kernelCaches returns the variables that make the CUDA and OptiX drivers, AMD's
// driver and Cycles keep compiled kernels in folder. CUDA's cache may have 4 GiB,
// its largest value: it evicts kernels beyond its maximum, which would be compiled
// again.
func kernelCaches(folder string) []string {
	return []string{
		"CUDA_CACHE_PATH=" + filepath.Join(folder, "cuda"), "CUDA_CACHE_MAXSIZE=4294967296",
		"OPTIX_CACHE_PATH=" + filepath.Join(folder, "optix"),
		"AMD_COMGR_CACHE_DIR=" + filepath.Join(folder, "amd"),
		"XDG_CACHE_HOME=" + folder, // Cycles' own compiled kernels
	}
}

// toolkits returns the CUDA toolkit's folder when its compiler is on the PATH and
// the folder is not a system folder, which the sandbox shows anyway. It accepts
// only a complete toolkit: the folder of another program of that name must not
// enter the sandbox.
func toolkits() []string {
	program, err := exec.LookPath("nvcc")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	folder := filepath.Dir(filepath.Dir(program))
	if err != nil || folder == "/" || folder == "/usr" {
		return nil
	}
	if found, _ := filepath.Glob(filepath.Join(folder, "nvvm", "libdevice", "*.bc")); len(found) == 0 { // the pattern is well-formed but for what no toolkit's folder is named
		return nil
	}
	return []string{folder}
}

// libraries returns the folders of libraries that the machine configures in
// addition to the system's. Relative ones would mean another folder inside.
func libraries() (folders []string) {
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		if filepath.IsAbs(dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// startPiped starts the command with three pipes: its output, the commands to it
// (descriptor 3), and its replies (descriptor 4). Our copies of its ends are closed
// at once, so that its end is seen as the end of the pipes.
func (p *Process) startPiped(c sandbox.Command) error {
	noiseR, noiseW, err1 := os.Pipe()
	commandR, commandW, err2 := os.Pipe()
	replyR, replyW, err3 := os.Pipe()
	theirs, ours := []*os.File{noiseW, commandR, replyW}, []*os.File{noiseR, commandW, replyR}
	err := errors.Join(err1, err2, err3)
	if err == nil {
		c.Output, c.Pass = noiseW, []*os.File{commandR, replyW}
		p.running, err = p.opts.Sandbox.Start(c)
	}
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return fmt.Errorf("start Blender %s: %w", p.opts.Path, err)
	}
	p.commands = commandW
	p.supervise(noiseR, replyR)
	return nil
}

// supervise reads from Blender until it has ended, and then closes done. The pipes are
// read to their end first, so that the log of a crash is whole.
func (p *Process) supervise(noise, replies *os.File) {
	var readers sync.WaitGroup
	readers.Go(func() { p.output.read(noise) })
	readers.Go(func() { p.listen(replies) })
	go func() {
		p.ending = p.running.Wait()
		// Blender's last output is in the pipes. A descendant that left the process
		// group may hold them open; the deadline keeps it from delaying the end.
		soon := time.Now().Add(time.Second)
		_ = noise.SetReadDeadline(soon)
		_ = replies.SetReadDeadline(soon)
		readers.Wait()
		_, _ = noise.Close(), replies.Close()
		close(p.done)
	}()
}

// programs returns the folders of our PATH that are there in the sandbox: the system's, and those
// in the folders that are given.
func programs(given []string) string {
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return !slices.ContainsFunc(append([]string{"/usr", "/bin", "/sbin"}, given...), func(folder string) bool {
			return strings.HasPrefix(filepath.Clean(dir)+"/", folder+"/")
		})
	})
	return strings.Join(folders, string(filepath.ListSeparator))
}

// closeAll closes pipes whose contents are not needed.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// environment returns the complete environment of Blender. The locale is fixed:
// messages and numbers are parsed. dir is its home and its temporary folder, card the only
// NVIDIA GPU that it sees, "" for those that our environment shows.
func environment(dir, card string) []string {
	env := []string{"HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "LC_ALL=C.UTF-8"}
	for _, name := range passed {
		if name == gpu.VisibleDevices && card != "" {
			env = append(env, name+"="+card)
			continue
		}
		if value, ok := os.LookupEnv(name); ok && !strings.ContainsRune(value, 0) {
			env = append(env, name+"="+value)
		}
	}
	return env
}
