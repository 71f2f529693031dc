// Package blender holds no code of the product: its stories are about what only a real
// Blender shows.
//
// Package story, the harness of these stories, says what always holds.
package blender
