package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

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
	Proc    []string `json:"proc"`     // of a program that uses a GPU: what its driver reads of /proc; it may name its threads too
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

// printObservation is the inner half of a trial: it prints what is in force around this
// process.
func printObservation() error {
	seen, err := observe()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}
