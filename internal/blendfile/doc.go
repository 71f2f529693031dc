// Package blendfile reads facts out of .blend files without Blender.
package blendfile
