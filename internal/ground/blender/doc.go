// Package blender drives one Blender process and renders frames with it.
//
// A Process is started ahead of work and waits (Start). It opens one job's file
// (Open), renders frame after frame on command (Render) and ends (Close). It never
// serves a second job.
//
// What always holds: the process has its own process group, its own temporary folder
// as home and an almost empty environment. It runs no script of the file, and writes
// pictures only into its own folder. It dies with its parent. After an error of Open
// or Render the caller must close it, unless it has ended already. Every failure is
// an *Error with one of the service's failure codes. A frame's pixels equal those of
// `blender -b FILE -f N`, except for what Opened.Switched names.
//
// The package leaves to pixels and to the worker's frame check whether a picture is
// sound, and to the worker how often to retry.
//
// Start reading at Process; driver.py is the other end of its pipes.
package blender
