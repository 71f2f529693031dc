package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a started program. Kill may be called at any time, from any goroutine
// and more than once. Wait must be called exactly once: without it the control
// group and the zombie stay.
type Process struct {
	// cmd is what we started: bubblewrap, our own program, or the program itself
	// when the Sandbox is nil.
	cmd   *exec.Cmd
	init  *initProcess // the first process of its namespace; nil without bubblewrap
	group *group       // nil where there is none
	// kill makes Kill act once: after Wait the ids may belong to other processes.
	kill sync.Once
	// before distinguishes a kill for memory that happens meanwhile from earlier
	// ones.
	before    int64 // systemOOMKills at the start, -1 where unknown
	limits    Limits
	sandboxed bool // not Off
	// pausing keeps Pause and Resume from signalling an id that no longer is the program's.
	pausing sync.Mutex
	over    bool // the program has ended
}

// Start starts a program and returns when it is inside its limits. The caller keeps
// its ends of Output and Pass, and closes them itself. After an error nothing of
// the program is left.
func (s *Sandbox) Start(c Command) (*Process, error) {
	if s == nil {
		cmd := exec.Command(c.Path, c.Args...)
		cmd.ExtraFiles = c.Pass
		return begin(cmd, c)
	}
	pipes, err := newHandshake(len(c.Pass), s.bwrap != "", s.groups != nil)
	if err != nil {
		return nil, err
	}
	defer pipes.close()
	name, args, err := s.wrap(c, pipes)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	// Full slice expressions keep append from writing into the caller's array, here
	// and below.
	cmd.ExtraFiles = append(c.Pass[:len(c.Pass):len(c.Pass)], pipes.theirs...)
	var g *group
	if s.groups != nil {
		if g, err = s.groups.make(s.limits); err != nil {
			return nil, err
		}
	}
	if s.bwrap != "" {
		c.Dir = "/" // bubblewrap goes to its folder once that is there
	}
	p, err := begin(cmd, c)
	if err != nil {
		return nil, errors.Join(err, g.remove())
	}
	p.group, p.limits, p.sandboxed = g, s.limits, true
	// Without this, readPID would wait for a bubblewrap that has died.
	pipes.closeTheirs()
	if err := p.settle(pipes); err != nil {
		p.Kill()
		return nil, fmt.Errorf("%w (it ended with %s)", err, p.Wait())
	}
	return p, nil
}

// begin starts what was made of a command. The process gets a process group of its
// own, so that without a namespace Kill still reaches its children.
func begin(cmd *exec.Cmd, c Command) (*Process, error) {
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, c.Output, c.Output
	// For exec.Cmd nil means our whole environment, which may hold keys.
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true,
		// Linux ties this to the thread that starts the process; Go ends no
		// thread that is not locked to a goroutine, so it means our own death.
		Pdeathsig: syscall.SIGKILL,
	}
	p := &Process{cmd: cmd, before: systemOOMKills()}
	if err := startOn(c.CPUs, cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// startOn starts a command that runs on some processors only. It inherits them of the thread
// that starts it, so there is no moment in which it runs elsewhere.
func startOn(cpus []int, cmd *exec.Cmd) error {
	if len(cpus) == 0 {
		return cmd.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var own, wanted unix.CPUSet
	for _, n := range cpus {
		wanted.Set(n)
	}
	err := unix.SchedGetaffinity(0, &own)
	if err == nil {
		err = unix.SchedSetaffinity(0, &wanted)
	}
	if err != nil {
		return fmt.Errorf("choose the processors %v: %w", cpus, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &own) }() // it was possible before
	return cmd.Start()
}

// settle puts a started program into its control group and then lets it continue.
// In the other order it could start children outside the group.
func (p *Process) settle(h *handshake) error {
	into := p.cmd.Process.Pid
	if h.info != nil {
		pid, err := h.readPID()
		if err != nil {
			return fmt.Errorf("make the sandbox: %w", err)
		}
		if p.init, err = openInit(pid); err != nil {
			return err
		}
		into = pid
	}
	if p.group == nil {
		return nil
	}
	if err := p.group.add(into); err != nil {
		return err
	}
	if _, err := h.ready.Write([]byte{1}); err != nil {
		return fmt.Errorf("let the sandbox continue: %w", err)
	}
	return nil
}

// wrap returns the command line that starts c in the sandbox: bubblewrap, our own
// program with the order, and then the program, each without the layers that do not
// work here.
func (s *Sandbox) wrap(c Command, h *handshake) (name string, args []string, err error) {
	self := s.own()
	read, write := append(append(system(), s.named(c, c.Read)...), self[0]), s.named(c, c.Write)
	if s.bwrap != "" { // otherwise /tmp is shared
		own, err := rootFolders(c.Root)
		if err != nil {
			return "", nil, err
		}
		read, write = append(read, own...), append(write, "/tmp")
	}
	if c.GPU {
		read = append(read, gpuSystem...)
	}
	o := order{Read: read, Write: write, Limits: s.limits, ByGroup: s.groups != nil}
	if c.GPU {
		o.Proc = s.gpuFiles
	}
	if s.bwrap == "" && s.groups != nil {
		o.Wait = h.readyFD
	}
	text, err := json.Marshal(o)
	if err != nil {
		return "", nil, fmt.Errorf("write the sandbox's order: %w", err)
	}
	orderFD, err := h.attach("order", text)
	if err != nil {
		return "", nil, err
	}
	inner := append(append(append(self, strconv.Itoa(orderFD)), c.Path), c.Args...)
	if s.bwrap == "" {
		return inner[0], inner[1:], nil
	}
	argsFD, err := h.attach("arguments", []byte(strings.Join(s.bubblewrap(c, h), "\x00")+"\x00"))
	if err != nil {
		return "", nil, err
	}
	return s.bwrap, append([]string{"--args", strconv.Itoa(argsFD), "--"}, inner...), nil
}

// own returns the command of our own program, by its name inside.
func (s *Sandbox) own() []string {
	own := slices.Clone(s.self)
	if s.bwrap != "" {
		own[0] = ownName
	}
	return own
}

// PID returns the program's process id, as this process sees it. While bubblewrap
// has not started the program yet it is that of the namespace's first process.
func (p *Process) PID() int {
	if p.init == nil {
		return p.cmd.Process.Pid
	}
	// The first process is bubblewrap's, which has the program as its only child.
	first := strconv.Itoa(p.init.pid)
	children, err := os.ReadFile(filepath.Join("/proc", first, "task", first, "children"))
	if err != nil {
		return p.init.pid
	}
	for child := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			return pid
		}
	}
	return p.init.pid
}

// Kill ends the program and all it started. It does not wait for their end; Wait
// does.
func (p *Process) Kill() {
	p.kill.Do(func() {
		if p.init != nil {
			p.init.kill()
		} else {
			p.killRest()
			_ = p.cmd.Process.Kill()
		}
		p.group.kill()
	})
}

// killRest kills what is left of the process group. That nothing is left is fine.
func (p *Process) killRest() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// Wait waits for the program's end, ends what it left behind, and returns how it
// ended. The order matters: the namespace is gone before the counts are read, and
// they are read before the group is removed.
func (p *Process) Wait() Ending {
	err := p.wait()
	p.Kill() // what is left; from here on Kill does nothing
	p.init.end()
	e := p.ending(err)
	_ = p.group.remove() // one that stays goes with the next Open
	return e
}

// wait waits for the end of what was started. Until it has been waited for, its id is its own.
func (p *Process) wait() error {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.pausing.Lock()
	p.over = true
	p.pausing.Unlock()
	return p.cmd.Wait()
}

// handshake is the pipes over which a program's place is settled before it runs:
// bubblewrap reports its first process over info, and waits for a byte on ready.
type handshake struct {
	info, ready     *os.File // our ends; nil where not wanted
	theirs          []*os.File
	infoFD, readyFD int // in the program; 0 where not wanted
	next            int // the program's descriptor that is free
}

// newHandshake opens the pipes that are wanted and numbers the program's ends:
// descriptors from 3 on are those of Command.Pass, then these.
func newHandshake(passed int, info, ready bool) (*handshake, error) {
	h := &handshake{next: 3 + passed}
	add := func(fd *int, theirs *os.File) {
		h.theirs = append(h.theirs, theirs)
		*fd = h.next
		h.next++
	}
	if info {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("open a pipe to the sandbox: %w", err)
		}
		h.info = r
		add(&h.infoFD, w)
	}
	if ready {
		r, w, err := os.Pipe()
		if err != nil {
			h.close()
			return nil, fmt.Errorf("open a pipe to the sandbox: %w", err)
		}
		h.ready = w
		add(&h.readyFD, r)
	}
	return h, nil
}

// attach hands the program a file in memory, and returns its descriptor there.
func (h *handshake) attach(name string, content []byte) (fd int, err error) {
	own, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("hand the sandbox its %s: %w", name, err)
	}
	file := os.NewFile(uintptr(own), name)
	h.theirs = append(h.theirs, file)
	if _, err = file.Write(content); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return 0, fmt.Errorf("hand the sandbox its %s: %w", name, err)
	}
	h.next++
	return h.next - 1, nil
}

// settleTime is how long bubblewrap may take to make its first process.
const settleTime = 20 * time.Second

// readPID reads the id of the first process from bubblewrap, in our own namespace's
// numbers.
func (h *handshake) readPID() (int, error) {
	var info struct {
		PID int `json:"child-pid"`
	}
	if err := h.info.SetReadDeadline(time.Now().Add(settleTime)); err != nil {
		return 0, err
	}
	if err := json.NewDecoder(h.info).Decode(&info); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("bubblewrap could not make its namespaces")
		}
		return 0, err
	}
	return info.PID, nil
}

// closeTheirs closes our copies of the program's ends. While one is open, a
// bubblewrap that dies leaves readPID waiting.
func (h *handshake) closeTheirs() {
	for _, f := range h.theirs {
		_ = f.Close()
	}
	h.theirs = nil
}

// close closes what is still open; it may follow closeTheirs.
func (h *handshake) close() {
	h.closeTheirs()
	for _, f := range []*os.File{h.info, h.ready} {
		if f != nil {
			_ = f.Close()
		}
	}
}
