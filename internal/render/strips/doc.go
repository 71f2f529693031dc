// Package strips knows how one picture is rendered in horizontal strips, and put together again.
//
// Cycles computes a pixel from its place in the whole picture, so strips of raw passes that lie
// one above the other are the picture, bit for bit. Splittable says of which scenes that is
// proven. Worthwhile and Cut decide how many strips there are and where they end. Neighbours
// overlap, and Seams compares the rows at a cut, to the bit or, where GPUs rendered them, within
// their noise (package seam); Join makes one OpenEXR file of the strips.
//
// What always holds: the strips of a cut cover each row once, from top to bottom. Join writes
// only what came from strips of one kind: the same width, the same channels, no row missing.
// Memory grows with a row and the rows that one block of the file holds, never with the picture.
//
// Rendering strips and what follows (compositor, colours, file format) is left to package blender,
// the choice of a worker for each strip and the answer to a differing seam to the callers. Start
// reading at Rows.
package strips
