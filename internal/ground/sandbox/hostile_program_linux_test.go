package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/internal/ground/sandbox"
)

// act does one thing that a hostile program might, and says how it went.
func act(args []string) int {
	number := func() int {
		n, _ := strconv.Atoi(args[len(args)-1])
		return n
	}
	var err error
	switch args[0] {
	case "read":
		var text []byte
		text, err = os.ReadFile(args[1])
		fmt.Print(string(text))
	case "list":
		_, err = os.ReadDir(args[1])
	case "search":
		search()
	case "write":
		if err = os.WriteFile(args[1], []byte("written"), 0o600); err == nil {
			fmt.Print("written")
		}
	case "name": // a thread of its own
		err = os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", unix.Gettid()), []byte("named"), 0)
		if err == nil {
			fmt.Print("named")
		}
	case "call":
		_, err = net.DialTimeout("tcp", args[1], time.Minute)
	case "environment":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "processors": // those of a child too
		err = shell("grep Cpus_allowed_list /proc/self/status; sh -c 'grep Cpus_allowed_list /proc/self/status'")
	case "fd3":
		_, err = os.NewFile(3, "passed").WriteString("through")
	case "leave":
		return number()
	case "signal":
		err = shell(fmt.Sprintf("kill -%d $$", number())) // Go's runtime would print a trace
	case "hoard":
		for hoard := [][]byte{}; len(hoard) < number(); {
			mib := make([]byte, 1<<20)
			for i := range mib {
				mib[i] = byte(i)
			}
			hoard = append(hoard, mib)
		}
	case "fork":
		err = fork(number())
	case "grow":
		signal.Ignore(syscall.SIGXFSZ) // as Blender's Python does
		err = os.WriteFile(args[1], make([]byte, number()<<20), 0o600)
	case "handles":
		err = handles(number())
	case "spin":
		err = shell("while :; do :; done") // Go's runtime would ignore the signal
	case "linger":
		err = linger()
	case "breed": // children that leave the session, and children of theirs
		err = shell("(while :; do setsid sh -c 'sleep 1000 & sleep 1000' & sleep 0.001; done) & echo ready; read line <&3; echo $line; wait")
	case "child":
		err = syscall.Pause()
	case "calls":
		err = makeCalls()
	case "open":
		err = openInside(sandbox.Mode(args[1]))
	}
	if err != nil {
		fmt.Println(strings.ToLower(err.Error()))
		return 1
	}
	return 0
}

// search reads all that it can of /proc, its environment and where it is, and prints what names
// one of the words in descriptor 3.
func search() {
	secret, _ := io.ReadAll(os.NewFile(3, "words"))
	words := strings.Fields(string(secret))
	said := func(where, text string) {
		for _, word := range words {
			if strings.Contains(text, word) {
				fmt.Printf("%s names %s\n", where, word)
			}
		}
	}
	said("the environment", strings.Join(os.Environ(), "\n"))
	here, _ := os.Getwd()
	said("the current folder", here)
	read := 0
	look := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // what cannot be read tells nothing
		}
		if to, err := os.Readlink(path); err == nil {
			said(path, to)
		}
		if file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0); err == nil && entry.Type().IsRegular() {
			text, _ := io.ReadAll(io.LimitReader(file, 1<<20))
			said(path, string(text))
			read += min(len(text), 1)
			_ = file.Close()
		}
		return nil
	}
	// Not every folder may be listed, so these are named.
	for _, folder := range []string{"/proc", "/proc/self", "/proc/1", "/proc/self/task", "/proc/thread-self", fmt.Sprintf("/proc/self/task/%d", unix.Gettid())} {
		_ = filepath.WalkDir(folder, look)
		for _, name := range []string{"mountinfo", "mounts", "mountstats", "maps", "smaps", "cmdline", "environ", "cgroup", "status", "limits", "stat", "statm", "auxv", "exe", "cwd", "root"} {
			if info, err := os.Lstat(filepath.Join(folder, name)); err == nil {
				_ = look(filepath.Join(folder, name), fs.FileInfoToDirEntry(info), nil)
			}
		}
	}
	fmt.Printf("%t", len(words) > 0 && read > 5)
}

// shell becomes a shell.
func shell(command string) error { return syscall.Exec("/bin/sh", []string{"sh", "-c", command}, nil) }

func fork(n int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for range n {
		child := exec.Command(self, "act", "child")
		if err := child.Start(); err != nil {
			return err
		}
	}
	return nil
}

func handles(n int) error {
	for range n {
		if _, err := os.Open("/dev/null"); err != nil {
			return err
		}
	}
	return nil
}

// linger waits for ever, with a child.
func linger() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, "act", "child")
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Print("ready")
	return syscall.Pause() // until a signal
}

// makeCalls makes all calls that a filter refuses, and some that it must not, and reports
// each with a different result.
func makeCalls() error {
	const bad = ^uintptr(0)
	want := func(what string, errno syscall.Errno, number uint32, arguments ...uintptr) {
		all := [6]uintptr{bad, bad, bad, bad, bad, bad}
		copy(all[:], arguments)
		if _, _, got := syscall.RawSyscall6(uintptr(number), all[0], all[1], all[2], all[3], all[4], all[5]); got != errno {
			fmt.Printf("%s: %v, want %v\n", what, got, errno)
		}
	}
	for _, number := range sandbox.Refused() {
		want(fmt.Sprintf("call %d", number), unix.EPERM, number)
	}
	want("clone3", unix.ENOSYS, unix.SYS_CLONE3)
	want("a call of x32", unix.ENOSYS, 0x40000000|unix.SYS_GETPID)
	for _, flag := range []uintptr{unix.CLONE_NEWNS, unix.CLONE_NEWUSER, unix.CLONE_NEWNET, unix.CLONE_NEWPID, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP} {
		want(fmt.Sprintf("clone with %#x", flag), unix.EPERM, unix.SYS_CLONE, flag|uintptr(unix.SIGCHLD), 0)
	}
	for family := range uintptr(50) {
		if family != unix.AF_UNIX {
			want(fmt.Sprintf("a socket of family %d", family), unix.EAFNOSUPPORT, unix.SYS_SOCKET, family, unix.SOCK_RAW, 0)
			want(fmt.Sprintf("two sockets of family %d", family), unix.EAFNOSUPPORT, unix.SYS_SOCKETPAIR, family, unix.SOCK_STREAM, 0)
		}
	}
	want("type into a terminal", unix.EPERM, unix.SYS_IOCTL, 0, unix.TIOCSTI)
	want("speak to a console", unix.EPERM, unix.SYS_IOCTL, 0, unix.TIOCLINUX)
	want("a socket of this machine", 0, unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0)
	fmt.Println("done")
	return nil
}

// openInside opens a sandbox within the one that this runs in.
func openInside(mode sandbox.Mode) error {
	self, err := sandbox.Self()
	if err != nil {
		return err
	}
	box, err := sandbox.Open(context.Background(), sandbox.Config{Mode: mode, Self: self})
	if err != nil {
		return err
	}
	if box == nil {
		return errors.New("it is off")
	}
	fmt.Println(box.Report(), box.Report().Lacking)
	return nil
}
