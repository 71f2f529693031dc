package sandbox

import (
	"errors"
	"fmt"
	"os"
)

// Mode is how much of a sandbox is required.
type Mode string

// Required starts nothing without bubblewrap. Auto takes what works and reports it.
// Off starts programs as they are, for machines that the operator isolates by other
// means.
const (
	Required Mode = "required"
	Auto     Mode = "auto"
	Off      Mode = "off"
)

// Config of a sandbox. Only Self is required.
type Config struct {
	Mode   Mode   // Required when empty
	Limits Limits // a limit that is 0 is DefaultLimits's
	// Self starts this very program so that it calls Exec; the function Self
	// returns it.
	Self []string
}

// Self returns the Config.Self of a program that calls Exec when its first argument
// is ExecName. It fails when the program's own file cannot be found.
func Self() ([]string, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's file: %w", err)
	}
	return []string{path, ExecName}, nil
}

// ExecName is the first argument on which our own program must call Exec and
// nothing else, before it reads any configuration.
const ExecName = "sandbox-exec"

// ErrUnavailable reports that Required is not possible on this machine; the error's
// text says what to install or allow.
var ErrUnavailable = errors.New("the sandbox does not work here")

// Command is a program to start. Nothing of our environment, folders or descriptors
// reaches it unless it is named here.
type Command struct {
	Path string   // absolute
	Args []string // without the program's own name
	Env  []string // all of its environment
	Dir  string   // its current folder
	// Read and Write are absolute paths that it may read, or read and write, in
	// addition to the system's. Paths that do not exist are left out.
	Read, Write []string
	// Inside are the names that paths of Read and Write have for the program, where they are
	// others than here; Path, Args, Env and Dir use them. The names of our folders are none of its
	// business. It is left out where Sandbox.HasRoot is false.
	Inside map[string]string
	// Root is a folder of the caller's own that is the root inside, read-only; "" for an empty
	// one. It serves one program: bubblewrap makes its mount points in it. What is put, also
	// later, into a folder that it has at the start is seen there, unless another path lies
	// over it. It is left out where Sandbox.HasRoot is false.
	Root   string
	GPU    bool       // give it the machine's GPUs
	CPUs   []int      // the processors that it and all it starts run on; nil for those of this process
	Output *os.File   // its standard output and error
	Pass   []*os.File // its descriptors from 3 on
}
