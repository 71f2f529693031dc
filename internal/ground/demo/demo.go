// Package demo holds the scene that is rendered when the user has none: a small
// still life on a turning plate, Cycles, 480x270 pixels, frames 1 to 24,
// denoising off, one to two seconds a frame on two CPU cores.
//
// What always holds: it opens in Blender 3.4 and 4.1 and asks for nothing outside
// its file. scene.blend is made by scripts/scenes/demo_scene.py and committed, so
// that the demo needs no step before it. Start reading at Scene.
package demo

import _ "embed"

// Filename is what the scene is called where it is uploaded.
const Filename = "demo.blend"

// The frames of one full turn of the plate.
const (
	FirstFrame = 1
	LastFrame  = 24
)

//go:embed scene.blend
var scene string

// Scene returns a copy of the .blend file, about 100 KB.
func Scene() []byte { return []byte(scene) }
