package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pauseTime is how long a program may take to stop. A thread that waits for a disk or a
// driver stops when that is done.
const pauseTime = 10 * time.Second

// looks is how often in a row nothing must be seen to run.
const looks = 2

// errRestless reports a program of which something still runs after pauseTime.
var errRestless = errors.New("the program does not stand still")

// Pause stops the program until Resume, and ends all that it has started: nothing in the
// sandbox runs meanwhile. Without a namespace it does not find what has left the program's
// family. It does nothing once the program has ended. After an error something may still
// run, and the caller should kill it.
func (p *Process) Pause() error {
	p.pausing.Lock()
	defer p.pausing.Unlock()
	if p.over {
		return nil
	}
	pid := p.PID()
	if err := p.signal(pid, unix.SIGSTOP); err != nil {
		return err
	}
	first := pid
	if p.init != nil {
		first = p.init.pid
	}
	quiet := 0
	for end := time.Now().Add(pauseTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		still := rests(pid, "TZ") // first: until then it can start more
		others := slices.DeleteFunc(family(first, nil), func(other int) bool { return other == pid || rests(other, "Z") })
		for _, other := range others {
			_ = unix.Kill(other, unix.SIGKILL) // gone already is as good
		}
		// One look can miss a child whose parent ends meanwhile.
		if quiet++; !still || len(others) > 0 {
			quiet = 0
		}
		if quiet == looks {
			return nil
		}
	}
	return errRestless
}

// Resume lets a program continue that Pause has stopped.
func (p *Process) Resume() error {
	p.pausing.Lock()
	defer p.pausing.Unlock()
	if p.over {
		return nil
	}
	return p.signal(p.PID(), unix.SIGCONT)
}

// signal sends a signal to a process that was there a moment ago. One that has ended needs
// none.
func (p *Process) signal(pid int, signal unix.Signal) error {
	if err := unix.Kill(pid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("send %s to the program: %w", signal, err)
	}
	return nil
}

// family appends all that a process has started, and what these have. For a namespace's
// first process that is everything in it: a process that loses its parent becomes its child.
func family(pid int, found []int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // this thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(child); err == nil && !slices.Contains(found, n) {
				found = family(n, append(found, n))
			}
		}
	}
	return found
}

// rests reports whether all threads of a process are in one of some states, as the kernel
// names them: T is stopped, Z ended. A process that is gone rests.
func rests(pid int, states string) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is well-formed
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // it has ended
		}
		// The name in between may hold anything.
		_, state, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
		if state == "" || !strings.Contains(states+"X", state[:1]) {
			return false
		}
	}
	return true
}
