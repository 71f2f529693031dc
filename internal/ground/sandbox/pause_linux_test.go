package sandbox_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"svc.example/internal/ground/sandbox"
)

func TestNothingRunsDuringAPause(t *testing.T) {
	t.Parallel()
	box := open(t, sandbox.Required, sandbox.Limits{Tasks: 500})
	r, w, err1 := os.Pipe()
	line, speak, err2 := os.Pipe()
	path, err3 := os.Executable()
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	p, err := box.Start(sandbox.Command{Path: path, Read: []string{path}, Args: []string{"act", "breed"}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Output: w, Pass: []*os.File{line}})
	_, _ = w.Close(), line.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		p.Kill()
		p.Wait()
		_, _ = r.Close(), speak.Close()
	}()
	said := bufio.NewScanner(r)
	if !said.Scan() || said.Text() != "ready" {
		t.Fatalf("it says %q, %v", said.Text(), said.Err())
	}
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	program := p.PID()
	for pid := range descendants(t, parent(t, program)) {
		if state(t, pid) != "T" || pid != program {
			t.Errorf("process %d of the sandbox is %s; the program is %d", pid, state(t, pid), program)
		}
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := speak.WriteString("continued\n"); err != nil {
		t.Fatal(err)
	}
	if !said.Scan() || said.Text() != "continued" {
		t.Errorf("after the pause it says %q, %v", said.Text(), said.Err())
	}
}

func state(t *testing.T, pid int) string {
	t.Helper()
	return stat(t, pid)[0]
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	n, err := strconv.Atoi(stat(t, pid)[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stat is what the kernel says of a process, from its state on.
func stat(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// descendants yields the processes that come from one and have not ended.
func descendants(t *testing.T, of int) iter.Seq[int] {
	t.Helper()
	return func(yield func(int) bool) {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if text, err := os.ReadFile(path); err == nil {
				fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
				if above, _ := strconv.Atoi(fields[1]); above != of || fields[0] == "Z" {
					continue
				}
				if !yield(pid) {
					return
				}
			}
		}
	}
}
