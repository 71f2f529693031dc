package sandbox

import (
	"errors"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a filter reads of a system call: the members of the kernel's seccomp_data. It reads
// the lower half of an argument, which is all that the kernel uses of those below.
const (
	dataNumber   = 0
	dataABI      = 4
	dataArgument = 16 // of the first one; 8 bytes for each
)

// newNamespaces are the flags of clone that make namespaces. The time namespace has no flag
// there.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// refused are system calls that neither Blender nor a driver of a GPU makes. docs/adr/0053
// says why each is here.
func refused() []uint32 {
	return append([]uint32{
		// Other kernel interfaces than system calls, which a filter would not see.
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		// Keys are kept outside of all namespaces but the user's.
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		// Other processes, even where one can see them.
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
		// Mounts, in the old and in the new form.
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
		unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
		unix.SYS_UNSHARE, unix.SYS_SETNS,
		// What is mounted, with the folders of the machine that it comes from.
		unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT,
		// Files by a number, past the path that the rules are about.
		unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		// The machine itself.
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	}, refusedByArchitecture[:]...)
}

// assembler writes a filter. Every rule begins and ends with the number of the call in the
// filter's register.
type assembler []unix.SockFilter

func (a *assembler) add(code uint16, k uint32, yes, no uint8) {
	*a = append(*a, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (a *assembler) load(offset uint32) { a.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (a *assembler) refuse(errno unix.Errno) {
	a.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno), 0, 0)
}

// refuseCall refuses a call whatever its arguments are.
func (a *assembler) refuseCall(number uint32, errno unix.Errno) {
	a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, number, 0, 1)
	a.refuse(errno)
}

// compare checks an argument of a call: jump compares it with value and is followed by a
// refusal, which refusedIf says whether to take when the comparison holds.
func (a *assembler) compare(number, argument uint32, jump uint16, value uint32, refusedIf bool, errno unix.Errno) {
	yes, no := uint8(0), uint8(1)
	if !refusedIf {
		yes, no = 1, 0
	}
	a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, number, 0, 4)
	a.load(dataArgument + 8*argument)
	a.add(unix.BPF_JMP|jump|unix.BPF_K, value, yes, no)
	a.refuse(errno)
	a.load(dataNumber)
}

// filter returns the program by which the kernel judges system calls. What it does not know
// is allowed: GPU drivers make more calls than can be listed.
func filter() []unix.SockFilter {
	a := assembler{}
	// Numbers mean other calls in another ABI of the machine, such as that of 32 bits.
	a.load(dataABI)
	a.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, ownABI, 1, 0)
	a.refuse(unix.ENOSYS)
	a.load(dataNumber)
	a.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, firstForeign, 0, 1)
	a.refuse(unix.ENOSYS)
	for _, number := range refused() {
		a.refuseCall(number, unix.EPERM)
	}
	// Its flags lie in memory, where a filter cannot look. C libraries take clone then.
	a.refuseCall(unix.SYS_CLONE3, unix.ENOSYS)
	a.compare(unix.SYS_CLONE, 0, unix.BPF_JSET, newNamespaces, true, unix.EPERM)
	// The network namespace holds no AF_VSOCK and others; netlink is the kernel's own.
	a.compare(unix.SYS_SOCKET, 0, unix.BPF_JEQ, unix.AF_UNIX, false, unix.EAFNOSUPPORT)
	a.compare(unix.SYS_SOCKETPAIR, 0, unix.BPF_JEQ, unix.AF_UNIX, false, unix.EAFNOSUPPORT)
	// Typing into a terminal.
	a.compare(unix.SYS_IOCTL, 1, unix.BPF_JEQ, unix.TIOCSTI, true, unix.EPERM)
	a.compare(unix.SYS_IOCTL, 1, unix.BPF_JEQ, unix.TIOCLINUX, true, unix.EPERM)
	a.add(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW, 0, 0)
	return a
}

// filterCalls puts the filter on all threads of this process, which must have no new
// privileges. What it becomes and starts inherits it.
func filterCalls() error {
	program := filter()
	if len(program) > math.MaxUint16 {
		return errors.New("the filter of system calls is too long")
	}
	header := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&header)))
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}

// filtered reports whether the filter is on this process: nothing else refuses a socket in
// this way.
func filtered() bool {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err == nil {
		_ = unix.Close(fd)
	}
	return errors.Is(err, unix.EAFNOSUPPORT)
}
