package sandbox

import "golang.org/x/sys/unix"

const (
	ownABI       = unix.AUDIT_ARCH_AARCH64
	firstForeign = 0x40000000 // far above all
)

var refusedByArchitecture = [...]uint32{}
