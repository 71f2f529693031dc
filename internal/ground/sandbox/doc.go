// Package sandbox starts a program that opens untrusted files, and keeps whatever
// happens in there from reaching anything outside.
//
// There are three layers and a set of limits. Bubblewrap gives the program namespaces
// of its own: no network, no other process in sight, a read-only system and only the
// folders that it was given. Landlock, inside, repeats the rule about folders to the
// kernel, in a form that the program cannot revoke. Seccomp refuses system calls that
// only an attack needs. Memory, tasks, file size, open files and CPU time are limited
// by control groups where those can be written, otherwise by resource limits.
//
// What always holds: Open tries the layers with a real program before it reports
// them as in force, and Required never starts anything without bubblewrap. A path
// means the same inside and outside. When Wait has returned, nothing of the program
// is left. The Ending of a program names the limit that ended it.
//
// The inner layers are applied by our own program between bubblewrap and the real
// one: Exec, which the caller's binary runs when its first argument is ExecName.
// What runs in the sandbox, and what a failure means, is left to the callers.
//
// Start reading at Open, then Sandbox.Start.
package sandbox
