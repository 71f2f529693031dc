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

// Mode says how much of a sandbox is insisted on.
type Mode string

// Required starts nothing without bubblewrap. Auto takes what there is and says
// what it is. Off starts programs as they are.
const (
	Required Mode = "required"
	Auto     Mode = "auto"
	Off      Mode = "off"
)

// Config of a sandbox.
type Config struct {
	Mode   Mode   // Required when empty
	Limits Limits // a limit that is 0 is DefaultLimits's
	// Self starts this very program so that it calls Exec; Self returns it.
	Self []string
}

// Self is the Config.Self of a program that calls Exec when its first argument
// is ExecName.
func Self() ([]string, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's file: %w", err)
	}
	return []string{path, ExecName}, nil
}

// Sandbox starts programs. A nil Sandbox is one that is Off. It is safe for
// concurrent use.
type Sandbox struct {
	mode     Mode
	limits   Limits
	self     []string
	bwrap    string   // path of bubblewrap, "" where it is not used
	unshare  []string // bubblewrap's arguments for the namespaces that work here
	groups   *groups  // nil where no control groups can be written
	rootless bool     // the limit on tasks by user holds, which it does not for root
	report   Report
}

// ErrUnavailable says that Required cannot be had; the text says what to do.
var ErrUnavailable = errors.New("the sandbox does not work here")

// tryTime is how long a trial of the sandbox may take on a busy machine.
const tryTime = 30 * time.Second

// Open finds out what works here by starting a program in it. Errors:
// ErrUnavailable, and those of our own program's file.
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
	s := &Sandbox{mode: c.Mode, limits: c.Limits.withDefaults(), self: c.Self, rootless: os.Geteuid() != 0}
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
	return s, nil
}

// rungs are the namespaces that are tried, the tightest first. Without a user
// namespace only root can make the others; it then loses its capabilities, not
// its number.
func rungs() [][]string {
	rest := []string{"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
	nobody := append([]string{"--unshare-user", "--uid", nobodyID, "--gid", nobodyID}, rest...)
	return [][]string{append([]string{"--disable-userns"}, nobody...), nobody, rest}
}

// nobodyID is the user and group that a sandboxed program sees itself as.
const nobodyID = "65534"

// openBubblewrap settles on the first rung that works, or says why none does.
func (s *Sandbox) openBubblewrap(ctx context.Context) error {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return fmt.Errorf("bubblewrap is not installed (no bwrap on the PATH): install it, on Debian and its kin by apt install bubblewrap, or choose --sandbox auto or off")
	}
	s.bwrap = path
	var first error
	for _, rung := range rungs() {
		s.unshare = rung
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

// try runs our own program in the sandbox, as Start would, and reads what it
// finds in force there.
func (s *Sandbox) try(ctx context.Context) (seen Sight, err error) {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return seen, fmt.Errorf("open a pipe: %w", err)
	}
	defer r.Close()
	p, err := s.Start(Command{Path: s.self[0], Args: append(s.self[1:len(s.self):len(s.self)], sightArg), Output: w, Env: []string{"LC_ALL=C"}, Dir: "/"})
	_ = w.Close()
	if err != nil {
		return seen, err
	}
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
	return readSight(text)
}

// Limits are those in force; all 0 for a nil Sandbox.
func (s *Sandbox) Limits() Limits {
	if s == nil {
		return Limits{}
	}
	return s.limits
}

// Report is what is in force; that of a nil Sandbox says so.
func (s *Sandbox) Report() Report {
	if s == nil {
		return Report{Mode: Off, Lacking: []string{"everything: the sandbox is switched off"}}
	}
	return s.report
}
