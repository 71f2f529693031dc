package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// first is the first process of a process namespace: with its end the kernel ends
// all others in there. It is no child of ours, so it is held by a descriptor,
// which no later process of the same number can be mistaken for. Kill and end of
// a nil first do nothing.
type first struct {
	pid int
	fd  int
}

func findFirst(pid int) (*first, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("find the sandbox's first process: %w", err)
	}
	return &first{pid, fd}, nil
}

// kill may be called while end is not.
func (f *first) kill() {
	if f != nil {
		_ = unix.PidfdSendSignal(f.fd, unix.SIGKILL, nil, 0) // gone already is as good
	}
}

// endTime is how long the kernel may take to end a namespace.
const endTime = 10 * time.Second

// end kills it and returns when its whole namespace is gone: bubblewrap's own end
// comes a little before that.
func (f *first) end() {
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
