package sandbox

import "golang.org/x/sys/unix"

const (
	ownABI       = unix.AUDIT_ARCH_X86_64
	firstForeign = 0x40000000 // from here on they are those of x32
)

var refusedByArchitecture = [...]uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_CREATE_MODULE, unix.SYS_USELIB}
