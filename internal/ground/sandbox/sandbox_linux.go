package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Sandbox starts programs. A nil Sandbox starts them as they are (Off). It never
// changes after Open and is safe for concurrent use.
type Sandbox struct {
	mode     Mode
	limits   Limits
	self     []string
	bwrap    string   // path of bubblewrap, "" where it is not used
	unshare  []string // bubblewrap's arguments for the namespaces that work here
	gpuFiles []string // what the driver of the GPUs reads of /proc
	groups   *groups  // nil where no control groups can be written
	rootless bool     // the limit on tasks by user holds, which it does not for root
	report   Report
}

// tryTime is how long one trial may take, on a busy machine.
const tryTime = 30 * time.Second

// Open finds out what works here by starting a program in a sandbox. The Sandbox
// does not have to be closed. For Off it is nil, without an error. Errors:
// ErrUnavailable, and those of starting our own program.
func Open(ctx context.Context, c Config) (*Sandbox, error) {
	if c.Mode == Off {
		return nil, nil
	}
	if c.Mode == "" {
		c.Mode = Required
	}
	if len(c.Self) == 0 {
		return nil, errors.New("open the sandbox: the program that puts on its second layer is not named")
	}
	s := &Sandbox{mode: c.Mode, limits: c.Limits.withDefaults(), self: c.Self, gpuFiles: gpuFiles("/"), rootless: os.Geteuid() != 0}
	s.groups = findGroups()
	why := s.openBubblewrap(ctx)
	if why != nil && c.Mode == Required {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, why)
	}
	seen, err := s.try(ctx)
	if err != nil {
		if c.Mode == Required {
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return nil, fmt.Errorf("start a program under resource limits: %w", err)
	}
	s.report = s.describe(seen, why)
	if err := s.report.Missing(); err != nil && c.Mode == Required {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return s, nil
}

// namespaceSets returns the sets of namespaces to try, the tightest first. Without a user
// namespace, which many hosts forbid, only root can make the others; it then loses
// its capabilities but keeps its number. --disable-userns is missing in older
// versions of bubblewrap.
func namespaceSets() [][]string {
	rest := []string{"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
	nobody := append([]string{"--unshare-user", "--uid", nobodyID, "--gid", nobodyID}, rest...)
	return [][]string{append([]string{"--disable-userns"}, nobody...), nobody, rest}
}

// nobodyID is the user and group that a sandboxed program sees itself as. To the
// kernel outside it is our own user, so it may write to the folders it was given.
const nobodyID = "65534"

// openBubblewrap chooses the first set of namespaces that works, or says why
// none does. It reports the tightest set's error, unless that only says that an
// option is unknown.
func (s *Sandbox) openBubblewrap(ctx context.Context) error {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return fmt.Errorf("bubblewrap is not installed (no bwrap on the PATH): install it, on Debian and its kin by apt install bubblewrap, or choose --sandbox auto or off")
	}
	s.bwrap = path
	var first error
	for _, set := range namespaceSets() {
		s.unshare = set
		if _, err = s.try(ctx); err == nil {
			return nil
		}
		if first == nil || strings.Contains(first.Error(), "Unknown option") {
			first = err
		}
	}
	s.bwrap, s.unshare = "", nil
	return fmt.Errorf("bubblewrap is there but cannot make its namespaces: %w. In Docker give the container --security-opt seccomp=unconfined, apparmor=unconfined and systempaths=unconfined; elsewhere allow user namespaces (docs/sandbox.md)", first)
}

// try runs our own program in the sandbox, exactly as Start does, and reads what it
// finds in force there. The output is read while the program runs: a full pipe
// would stop it.
func (s *Sandbox) try(ctx context.Context) (seen Observation, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return seen, fmt.Errorf("open a pipe: %w", err)
	}
	defer r.Close()
	self := s.own()
	p, err := s.Start(Command{Path: self[0], Args: append(self[1:], observeArg), Output: w, Env: []string{"LC_ALL=C"}, Dir: "/"})
	_ = w.Close()
	if err != nil {
		return seen, err
	}
	// A trial that hangs, as a broken driver can make it, is killed with all it
	// started.
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	output := make(chan []byte, 1)
	go func() { output <- readSome(r) }()
	ending := p.Wait()
	text := <-output
	if ctx.Err() != nil {
		return seen, fmt.Errorf("a trial was not done in %s: %w", tryTime, ctx.Err())
	}
	if ending.Status != 0 || ending.Signal != 0 {
		return seen, fmt.Errorf("a trial ended with %s: %s", ending, lastLine(text))
	}
	return readObservation(text)
}

// Limits returns the limits in force; all are 0 for a nil Sandbox.
func (s *Sandbox) Limits() Limits {
	if s == nil {
		return Limits{}
	}
	return s.limits
}

// HasRoot reports whether programs get their Command.Root, which needs bubblewrap.
func (s *Sandbox) HasRoot() bool { return s != nil && s.bwrap != "" }

// Report returns what is in force; that of a nil Sandbox says that nothing is.
func (s *Sandbox) Report() Report {
	if s == nil {
		return Report{Mode: Off, Lacking: []string{"everything: the sandbox is switched off"}}
	}
	return s.report
}
