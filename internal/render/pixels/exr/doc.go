// Package exr reads and writes OpenEXR pictures as Blender writes them: of one part, with
// scan lines, in any of its ten compressions.
//
// Open reads a header; File then gives the rows of all chunks, or the bytes as they are stored.
// Reader and Writer, which are built on it, copy rows from one file into another.
//
// What always holds: no size that a header claims is believed before it is bounded (MaxPixels,
// and the memory that Memory names or a caller allows); a chunk unpacks to exactly the rows that
// the header promises; a cut or damaged file is an error.
//
// What the pixels mean is the caller's: package pixels hashes and judges them. The facts of the
// file layout are in file.go; start reading at Open.
package exr
