package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// initProcess is the first process of a PID namespace: when it ends, the kernel ends all
// others in the namespace. It is not our child, so it is held by a file descriptor,
// which can never mean a later process of the same number. kill and end of a nil
// first do nothing.
type initProcess struct {
	pid int
	fd  int
}

// openInit opens the process that bubblewrap has just reported. When there is a
// control group, it waits for us. Without one, a program that ends at once may be
// gone; that is an error.
func openInit(pid int) (*initProcess, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("find the sandbox's first process: %w", err)
	}
	return &initProcess{pid, fd}, nil
}

// kill may be called from any goroutine, but not concurrently with end, which
// closes the descriptor.
func (f *initProcess) kill() {
	if f != nil {
		_ = unix.PidfdSendSignal(f.fd, unix.SIGKILL, nil, 0) // gone already is as good
	}
}

// endTime is how long the kernel may take to end a namespace. A process in an
// uninterruptible wait, such as for a GPU driver, can take seconds.
const endTime = 10 * time.Second

// end kills the namespace and returns when all of it is gone: bubblewrap's own end
// comes a little earlier. After endTime it gives up waiting. It must be called
// exactly once.
func (f *initProcess) end() {
	if f == nil {
		return
	}
	f.kill()
	over := time.Now().Add(endTime)
	for left := endTime; left > 0; left = time.Until(over) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n > 0 || (err != nil && err != unix.EINTR) {
			break
		}
	}
	_ = unix.Close(f.fd)
}
