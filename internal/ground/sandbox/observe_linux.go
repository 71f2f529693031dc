package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Observation is what a program in the sandbox finds in force around itself. A trial
// prints it, so a Report never rests on what we merely asked for.
type Observation struct {
	UID        int    `json:"uid"`
	Landlock   int    `json:"landlock"`     // ABI version that was put on
	Seccomp    bool   `json:"seccomp"`      // system calls are filtered
	NoNewPrivs bool   `json:"no_new_privs"` // it can gain no rights by what it starts
	Caps       string `json:"caps"`         // effective capabilities, hexadecimal
	Interfaces int    `json:"interfaces"`   // of the network, but for a loopback
}

// describe makes the report of what a trial has shown. noBwrap is why bubblewrap is
// not used; it must not be nil then.
func (s *Sandbox) describe(seen Observation, noBwrap error) Report {
	r := Report{Mode: s.mode, Landlock: seen.Landlock}
	if s.bwrap != "" {
		for _, arg := range s.unshare {
			if name, ok := strings.CutPrefix(arg, "--unshare-"); ok {
				r.Namespaces = append(r.Namespaces, strings.TrimSuffix(name, "-try"))
			}
		}
		r.Namespaces = append(r.Namespaces, "mount")
		if seen.UID == 0 {
			r.Lacking = append(r.Lacking, "namespaces: no user of its own; Blender runs as root without capabilities, because user namespaces are forbidden here")
		}
	} else {
		r.Lacking = append(r.Lacking, layerNamespaces+": "+noBwrap.Error())
	}
	if seen.Landlock == 0 {
		r.Lacking = append(r.Lacking, layerLandlock+": this kernel does not have it switched on")
	}
	r.Seccomp = seen.Seccomp
	if !seen.Seccomp {
		r.Lacking = append(r.Lacking, layerSeccomp+": this kernel filters no system calls")
	}
	if s.groups != nil {
		r.Cgroup = s.groups.version
	}
	l := s.limits
	r.Limits = append(r.Limits, "memory "+Size(l.Memory))
	if s.groups != nil || s.rootless {
		r.Limits = append(r.Limits, fmt.Sprintf("%d tasks", l.Tasks))
	} else {
		r.Lacking = append(r.Lacking, layerLimits+": none on tasks, because no control group can be written and root has no other")
	}
	r.Limits = append(r.Limits, "files of "+Size(l.FileSize), Size(l.Disk)+" on disk", fmt.Sprintf("%d open files", l.OpenFiles), fmt.Sprintf("%s of CPU time", l.CPU))
	return r
}

// observe finds what is in force around this process, from the kernel's own files.
func observe() (Observation, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return Observation{}, fmt.Errorf("read this process's status: %w", err)
	}
	seen := Observation{UID: os.Getuid(), Seccomp: filtered()}
	// No order allows the root folder: only landlock keeps it from being listed.
	if _, err := os.ReadDir("/"); errors.Is(err, fs.ErrPermission) {
		seen.Landlock = landlockABI()
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "NoNewPrivs":
			seen.NoNewPrivs = value == "1"
		case "CapEff":
			seen.Caps = value
		}
	}
	devices, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return Observation{}, fmt.Errorf("read the network's interfaces: %w", err)
	}
	for line := range bytes.Lines(devices) {
		name, _, ok := bytes.Cut(line, []byte(":"))
		if ok && string(bytes.TrimSpace(name)) != "lo" {
			seen.Interfaces++
		}
	}
	return seen, nil
}

// readObservation decodes what a trial printed. Its last line, quoted, is most likely an
// error of the program in between.
func readObservation(text []byte) (seen Observation, err error) {
	if err := json.Unmarshal(text, &seen); err != nil {
		return seen, fmt.Errorf("read what a trial saw (%q): %w", lastLine(text), err)
	}
	return seen, nil
}

// readSome reads what a trial printed. It is short; the bound is for a program that
// is not ours.
func readSome(r io.Reader) []byte {
	text, _ := io.ReadAll(io.LimitReader(r, 64<<10)) // an end is an end
	return text
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}
