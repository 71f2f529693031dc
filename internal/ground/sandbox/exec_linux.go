package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// observeArg, in place of an order, has it print what it sees in force.
const observeArg = "sight"

// order is what Exec applies before it becomes the program. It comes in a descriptor, which
// is closed by then: it names folders of the machine.
type order struct {
	Read    []string `json:"read"` // folders and files; those that are not there are left out
	Write   []string `json:"write"`
	Limits  Limits   `json:"limits"`
	ByGroup bool     `json:"by_group"` // memory and tasks are limited by a control group
	Wait    int      `json:"wait"`     // a descriptor to read one byte of first; 0: none
	Threads bool     `json:"threads"`  // the program may name its threads
}

// Exec is the inner half: it applies landlock and the limits to this process and
// then turns it into the program. args are those after ExecName: an order, then
// the program and its arguments. It returns only when that fails, with an exit
// status, after a line on standard error.
func Exec(args []string) int {
	if err := become(args); err != nil {
		fmt.Fprintln(os.Stderr, "svc sandbox:", err)
		return 1
	}
	return 0
}

// become applies an order. NO_NEW_PRIVS comes before landlock and the filter, which need it.
// These come last, since they bind this program as well.
func become(args []string) error {
	if len(args) == 1 && args[0] == observeArg {
		return printObservation()
	}
	if len(args) < 2 {
		return errors.New("an order and a program are required")
	}
	o, err := readOrder(args[0])
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	// Wait first: what is done before the control group is set is not limited by
	// it.
	if o.Wait > 0 {
		if err := await(o.Wait); err != nil {
			return err
		}
	}
	if err := o.Limits.apply(o.ByGroup); err != nil {
		return fmt.Errorf("limit the program: %w", err)
	}
	runtime.LockOSThread() // the thread without new privileges is the one that puts on the filter
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if err := o.landlock(); err != nil {
		return fmt.Errorf("put on landlock: %w", err)
	}
	if err := filterCalls(); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return fmt.Errorf("start %s: %w", args[1], syscall.Exec(args[1], args[1:], os.Environ()))
}

// readOrder reads an order from a descriptor, and closes it.
func readOrder(fd string) (o order, err error) {
	n, err := strconv.Atoi(fd)
	if err != nil {
		return o, err
	}
	file := os.NewFile(uintptr(n), "order")
	if file == nil {
		return o, os.ErrInvalid
	}
	defer file.Close()
	return o, json.NewDecoder(file).Decode(&o)
}

// await returns once the parent has put this process into its control group.
// Without bubblewrap nothing else can hold the program back until then.
func await(fd int) error {
	ready := os.NewFile(uintptr(fd), "ready")
	defer ready.Close()
	if n, err := ready.Read(make([]byte, 1)); n != 1 {
		return fmt.Errorf("wait for the control group: %w", err)
	}
	return nil
}

// landlock allows the order's folders and files, and no network or signals to
// anything outside. BestEffort uses what older kernels support.
func (o order) landlock() error {
	rules := []landlock.Rule{
		landlock.RODirs(present(o.Read, true)...), landlock.ROFiles(present(o.Read, false)...),
		landlock.RWDirs(append(present(o.Write, true), "/dev")...).WithIoctlDev(),
	}
	if o.Threads {
		if err := keepThreads(); err != nil {
			return err
		}
		rules = append(rules, landlock.PathAccess(ll.AccessFSWriteFile|ll.AccessFSTruncate, threads))
	}
	return landlock.V9.BestEffort().Restrict(rules...)
}

// threads holds the names of a program's own threads. NVIDIA's driver, from version 570 on,
// writes them when it starts, and finds no GPU if it cannot. The rest of /proc stays
// read-only: without bubblewrap all processes share it.
const threads = "/proc/self/task"

// keepThreads leaves the program a descriptor of that folder. A landlock rule lasts as long
// as the kernel keeps its inode, and the kernel may drop an inode of /proc at any time
// unless it is open.
func keepThreads() error {
	_, err := unix.Open(threads, unix.O_PATH|unix.O_DIRECTORY, 0)
	return os.NewSyscallError("open "+threads, err)
}

// present keeps the folders, or the other files, of those paths that exist. A path
// that does not exist would make landlock fail.
func present(paths []string, folders bool) (there []string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() == folders {
			there = append(there, path)
		}
	}
	return there
}

// landlockABI returns the kernel's version of landlock, 0 where it has none.
func landlockABI() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// printObservation is the inner half of a trial: it prints what is in force around this
// process.
func printObservation() error {
	seen, err := observe()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}
