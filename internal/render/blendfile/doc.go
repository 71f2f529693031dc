// Package blendfile reads facts out of .blend files without Blender.
//
// It is for learning, at once and safely, what an untrusted file is: which
// Blender saved it, which scene is active and how that is rendered, which other
// files it wants, which scripts it carries. [Inspect] takes any [io.Reader] and
// reads it forward once.
//
// # What always holds
//
//   - What is reported is what Blender has after loading the file: where an old file
//     stores no setting, the default of the version that saved it. Only the
//     engine and the paths are reported as stored, since what Blender makes of them
//     says less.
//   - A file is reported correctly, or not at all: with a typed error that says where and
//     why. Lists that were cut to the memory bound are named in Facts.Partial.
//   - Memory stays under 24 MiB and five bytes for four of the unpacked file, at most
//     149 MiB, besides the decoder's window; Options.MaxWindow holds the window, and
//     Options.Memory what several inspections keep together. Nothing is unpacked beyond
//     Options.MaxUnpacked and Options.MaxRatio.
//   - Members of structs are found by name through the file's own description of
//     them, never at an offset that a version happens to have.
//   - The package has no state. It and the packages below it import nothing but the standard
//     library and the decoders of klauspost/compress.
//
// # The format
//
// A .blend is the memory of a Blender written down: a header line, then blocks,
// each with a head of code, length, old address, struct number and count. A
// block with a two-letter code is a data-block (SC a scene, OB an object, IM an
// image); the DATA blocks after it belong to it. Pointers inside of blocks are
// old addresses. DNA1 describes every struct by name, type and length; it is the
// last block but for the end mark ENDB. The whole may be packed by gzip or zstd.
//
// # What callers decide
//
// The package does not judge whether a file can be rendered, what a missing file means, or
// what it costs. It does not read geometry, materials or animation, and does not open linked
// files.
//
// # The packages below
//
// records reads the blocks within the memory bound and finds structs by name. reach walks
// from the active scene over what its picture comes from. expression judges drivers.
//
// Start reading at inspect.go, then scene.go and externals.go.
package blendfile
