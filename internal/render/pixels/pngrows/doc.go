// Package pngrows reads and compresses PNGs as Blender writes them, row by row: of 8 or 16 bits,
// without a palette, not interlaced, and with no colour that counts as transparent.
//
// What always holds: as many rows as a filter needs are in memory, however large the picture is;
// every checksum is checked; a cut or damaged file is an error. A PNG of another kind is handed
// back to the caller from its start, for image/png.
//
// What the pixels mean is the caller's: package pixels hashes and judges them. Start reading at
// Read; Compress is what a worker does with the pictures of a Blender that did not pack them.
package pngrows
