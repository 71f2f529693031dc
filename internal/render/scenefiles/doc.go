// Package scenefiles finds the files that a scene needs, without Blender: those that its
// .blend and the libraries of it name, on a disk or in any other tree of files.
//
// What always holds:
//
//   - A path means what it means to Blender: "//" counts from the folder of the .blend that
//     holds it, also of a packed library from where that was; a disk cache lies in a folder
//     named for its .blend.
//   - Nothing outside the tree is read, whatever the paths and links in it say.
//   - A search ends, in bounded memory, whatever the files refer to: see Options.
//     Found.Partial reports what the bounds cut off.
//   - Equal trees give equal answers.
//
// A file is needed when the rendered picture comes from it; package blendfile knows that of
// one .blend. What counts in a library follows from what others use of it, so the search
// continues until no library adds anything.
//
// Callers decide what a missing file means, and send the files. Start reading at Find in
// find.go; places.go says where a path leads, tree.go which names are there, sets.go which
// files a path stands for, heads.go which of them cannot be read.
package scenefiles
