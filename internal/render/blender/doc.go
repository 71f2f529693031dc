// Package blender drives one Blender process and renders frames with it.
//
// A Process is started ahead of work and waits (Start). It opens one job's file
// (Open), renders frame after frame on command (Render) and ends (Close). It never opens a
// second file. A picture can also be rendered in strips (Strip), which package strips joins, and
// be finished from them (Finish): strips.py replaces Cycles then, and nothing else.
//
// What always holds: the process has a process group of its own, a temporary folder
// of its own as home, and an almost empty environment. It runs no script of the
// file, and writes pictures only into its own folder. It dies with its parent.
// After an error of Open or Render the caller must close it. Every failure of a
// command is an *Error with one of the service's failure codes. A frame's pixels
// equal those of `blender -b FILE -f N`, except for what Opened.Switched names; where frames
// depend on those before (Opened.Plays), those of `blender -b FILE -a`.
//
// Whether a picture is sound is left to package pixels and to the worker's frame
// check, and how often to retry to the worker.
//
// Start reading at Process; driver.py is the other end of its pipes.
package blender
