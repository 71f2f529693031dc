// Package osfile is what operating systems do differently with files: how much a
// folder still takes, who holds a lock, which file a name means, and how a file or a
// folder reaches the disk.
//
// What always holds: each function means the same on Linux, macOS and Windows, or says
// in its comment where it cannot; no other package of svc asks which system it runs on
// to read or write a file. Package atomicfile decides when to use them. Start reading
// at Free; the two other files have the same functions for their systems.
package osfile

import "errors"

// ErrLocked reports that another process holds the lock.
var ErrLocked = errors.New("another process holds the lock")
