// Package records reads the blocks of a .blend, and gives what is in them as structs whose
// members have names.
//
// What always holds:
//
//   - A member is found by name through the file's own description of its structs (package
//     dna), never at an offset that a version happens to have. A member that the file's
//     version does not have reads as zero.
//   - The file is read forward once. Memory stays within the bounds of keep.go, whatever the
//     file claims; what was given up is reported (File.Lost) or an error, never taken for
//     empty.
//   - What runs in circles, or is shared by many lists, ends (File.At, Record.List).
//
// # The memory bound
//
// What a block means is known only at the end, after DNA1. Until then the scan
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
// Packages blendfile and reach know what the structs mean. Start reading at Open in file.go,
// then scan.go (one pass over the blocks), keep.go (the bound), record.go.
package records
