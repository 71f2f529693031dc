// Package blender drives one Blender process and renders frames with it.
//
// A Process is started ahead of work and waits (Start); it opens one job's file
// (Open), renders frame after frame on command (Render) and ends (Close). It is
// never used for a second job.
//
// What always holds: the process has its own process group, its own temporary
// folder as home, an almost empty environment, runs no script of the file, and
// writes pictures only into the folder it was given. It dies with its parent.
// After any error of Open or Render the process has been or must be closed.
// Every failure is an *Error with one of the service's failure codes. A frame's
// pixels are those of `blender -b FILE -f N` but for what Opened.Switched names.
//
// It leaves to others: whether the picture is sound (internal/ground/pixels, the
// worker's frame check), how often to try again, and who may render what.
//
// Start reading at Process; the other half of the conversation is driver.py.
package blender
