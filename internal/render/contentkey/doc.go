// Package contentkey tells which frames of a scene are the same picture as those of another
// revision of it, from the .blend files alone.
//
// Each frame has a [Key]: a hash of everything that can influence its picture. Equal keys
// mean equal pictures, on equal renderers with equal settings of the order, which callers add
// to the key.
//
// What always holds:
//
//   - A frame is never called unchanged without proof. Everything counts that the active
//     scene leads to by pointers, except the members of irrelevant.go, each with the reason
//     why no picture comes from it. Unknown structs and members count.
//   - Where a block lay in memory does not count, nor the order of data-blocks in the file: a
//     pointer counts as the place of its target in a walk that begins at the scene.
//   - Time counts only where nothing has memory: see whole.go. Then a frame counts the keys
//     that determine the values of its curves while the shutter is open: see curves.go.
//     Otherwise every frame counts everything.
//   - Memory stays within the bounds of scan.go; a file beyond them is an error, and then
//     callers must take every frame for changed.
//   - A library counts by what others use of it, by the same rules, or else by all of its
//     bytes: see linked.go.
//
// Other files count by their content, which callers add ([Scene.AddFile]). Start reading at
// Read in scene.go; then scan.go (the blocks), walk.go (what the scene leads to), digest.go
// (what of it counts), compare.go (what differs between two revisions).
package contentkey
