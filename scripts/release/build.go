package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// platform is a system and a processor, in Go's words.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "/" + p.arch }

// binary is the program's file name there.
func (p platform) binary() string {
	if p.system == "windows" {
		return "svc.exe"
	}
	return "svc"
}

// archive is the kind of archive that people unpack there without another program.
func (p platform) archive() string {
	if p.system == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// readPlatforms reads one platform a line.
func readPlatforms(path string) (all []platform, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		system, arch, ok := strings.Cut(strings.TrimSpace(line), "/")
		if !ok {
			return nil, fmt.Errorf("%s: %q is no system/arch", path, line)
		}
		all = append(all, platform{system, arch})
	}
	return all, nil
}

// run1 runs a command in a folder and returns what it prints, without the line's end.
func run1(folder, name string, args ...string) (string, error) {
	return runWith(folder, nil, name, args...)
}

// runWith adds variables to the environment.
func runWith(folder string, environment []string, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), environment...)
	output, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(output)), nil
}

// build compiles the program from the clone. The flags make it the same everywhere:
// no path of this machine, no C; git's commit and version are in it. GOFLAGS and the
// settings of this machine's processor must not change it.
func (r *publication) build(p platform) (path string, err error) {
	path = filepath.Join(r.work, p.system+"-"+p.arch, p.binary())
	_, err = runWith(r.source, []string{"GOOS=" + p.system, "GOARCH=" + p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT="},
		"go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", path, "./cmd/svc")
	return path, err
}

// describe builds the program for this machine, which knows its version and prints its
// own manual and completions, and writes build.json.
func (r *publication) describe() error {
	binary, err := r.build(platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	r.version = info.Main.Version
	r.say("%s of commit %s, with %s", r.version, r.commit, info.GoVersion)
	man := filepath.Join(r.work, "man")
	if _, err := run1(r.work, binary, "docs", "man", man); err != nil {
		return err
	}
	if r.manual, err = readFolder(man, "man/man1"); err != nil {
		return err
	}
	// Where Debian's shells look, below /usr/share.
	for shell, name := range map[string]string{"bash": "bash-completion/completions/svc", "zsh": "zsh/vendor-completions/_svc", "fish": "fish/vendor_completions.d/svc.fish"} {
		script, err := run1(r.work, binary, "completion", shell)
		if err != nil {
			return err
		}
		r.completion = append(r.completion, file{name, []byte(script + "\n"), 0o644})
	}
	text, err := json.MarshalIndent(map[string]string{
		"version": r.version, "commit": r.commit, "commit_time": r.time.Format("2006-01-02T15:04:05Z"), "go": info.GoVersion,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "build.json"), append(text, '\n'), 0o644)
}

// contents are the files of an archive.
func (r *publication) contents(binary string, p platform) (files []file, err error) {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "docs/cli.md", "docs/cli-operators.md"} {
		text, err := os.ReadFile(filepath.Join(r.source, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: filepath.Base(name), data: text, mode: 0o644})
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	files = append(files, file{name: p.binary(), data: program, mode: 0o755})
	if p.system != "windows" {
		files = append(append(files, r.completion...), r.manual...)
	}
	return files, nil
}

// readFolder reads the files of a folder under another name, in the order of their names.
func readFolder(folder, as string) (files []file, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: as + "/" + e.Name(), data: text, mode: 0o644})
	}
	return files, nil
}
