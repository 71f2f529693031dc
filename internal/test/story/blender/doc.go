// Package blender holds no code of the product: its stories are about what only a real
// Blender shows.
//
// What always holds is said in package story, which is the harness of these stories.
package blender
