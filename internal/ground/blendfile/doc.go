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
//   - A file is reported rightly, or not at all: with a typed error that says where
//     and why. Lists that were cut to the memory bound are named in Facts.Partial.
//   - Memory stays under 24 MiB and five bytes for four of the unpacked file, at most
//     149 MiB, besides the decoder's window; Options.MaxWindow holds the window, and
//     Options.Memory what several inspections keep together. Nothing is unpacked beyond
//     Options.MaxUnpacked and Options.MaxRatio.
//   - Members of structs are found by name through the file's own description of
//     them, never at an offset that a version happens to have.
//   - The package has no state and imports nothing but the standard library,
//     its own dna and the decoders of klauspost/compress.
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
// # The memory bound
//
// What a block means is known only at the end, after DNA1. Until then Inspect
// keeps what may matter, by what is known at once: the code of the data-block,
// and the struct's number, though not its name. Kept blocks lose their runs of
// zeros. What a scene may need (data-blocks that are facts themselves, data of scenes,
// node trees) has 6 MiB and a byte for each byte that was read: a sound file needs less,
// and what a file claims counts for nothing. Beyond 106 MiB the kind of block that takes
// most is given up, and what needs it is a [TooLargeError]. All others have 3 MiB
// together, and beyond it the kind that takes most is given up as well. That is
// geometry-like data, one struct for each object, bone or key; if a list of the file
// needs it, the list is partial.
//
// # What it leaves to others
//
// It judges nothing: whether a file can be rendered, what a missing file means,
// what it costs. It does not read geometry, materials or animation, and does not
// open linked files.
//
// What the picture of the active scene comes from is found in links.go (words that can be
// addresses), graph.go (which of them are pointers) and reach.go (the walk).
//
// Start reading at inspect.go, then scan.go (one pass over the blocks), keep.go
// (the bound), package dna and record.go (structs by name), scene.go.
package blendfile
