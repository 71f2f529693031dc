// Package sandbox starts a program that opens untrusted files, and sees to it
// that whatever happens in there stays in there.
//
// There are two layers and a set of limits. Bubblewrap gives the program
// namespaces of its own: no network, no other process in sight, a read-only
// system and only the folders that it was given. Landlock, inside, says the same
// of folders once more, to the kernel, in words that the program cannot take
// back. Memory, tasks, file size, open files and CPU time are limited by control
// groups where they can be written, else by resource limits.
//
// What always holds: Open tries the layers with a real program before it says
// that they are in force, and Required never starts anything without
// bubblewrap. A path means the same inside and outside. When Wait has returned,
// nothing of the program is left. A process that a limit has ended says which.
//
// The second layer is put on by a program of ours between bubblewrap and the
// real one: Exec, which the caller's binary runs when its first argument is
// ExecName. It leaves to others what runs in it and what a failure means.
//
// Start reading at Open, then Sandbox.Start.
package sandbox
