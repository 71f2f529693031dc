package blender_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// waitGone waits for the end of a process that is not our child.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(os.NewSyscallError("pidfd_open", err))
	}
	defer unix.Close(fd)
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(poll, int((10 * time.Second).Milliseconds())); n != 1 {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}
