// Package pixels checks whether a rendered picture is sound and identifies its
// pixels: by a SHA-256 that is equal for equal pictures, however they were encoded.
//
// A PNG's bytes differ between two equal renders (it carries times), so a receipt proves the
// picture by this hash in addition to that of the file. Three forms are hashed; the first line of
// each, ended by a line feed, says which:
//
//	svc-pixels-v1 WIDTH HEIGHT BITS
//
// PNG, JPEG and IRIS. After the line follow the rows from top to bottom, each pixel as red, green,
// blue, alpha; BITS is 8 or 16, values of 16 bits are big-endian. Colour is not multiplied by
// alpha. Grey is written as three equal colours and a missing alpha as opaque, so that re-encoding
// a picture keeps its hash. A PNG of fewer than 8 bits is widened to 8. JPEG is taken as Go's
// image/jpeg decodes it.
//
//	svc-pixels-f32-v1 WIDTH HEIGHT CHANNELS
//
// Every format that only Blender decodes (TIFF, BMP, Targa, Radiance HDR, WebP and others), and
// OpenEXR of one layer, for which this package makes it too. After the line follow the rows from
// top to bottom, channels interleaved, as big-endian IEEE 754 float32, as Blender reads the file
// without colour conversion ("Non-Color", channel-packed alpha). internal/render/blender makes this
// one, in its driver.
//
//	svc-exr-v1 WIDTH HEIGHT
//
// Multi-layer OpenEXR, of which Blender shows no pixels. After the line follow the header's
// attributes that give the pixels their meaning (package exr), then all chunks as they are stored.
// Equal for equal renders of one Blender version, but not kept by re-encoding with another
// compression.
//
// What always holds: a picture above MaxPixels is refused before it is decoded; the memory that
// reading takes is reported before it is taken (Limits); a cut or damaged file, and bytes that
// follow a picture, are errors.
//
// In addition to the hash a picture gets its Defects: whether it is blank, pink or holds values
// that are not numbers. Callers decide what size a picture should have, and what a defect means.
// Thumbnail makes a small picture of a large one by the same readers. Start reading at Read.
package pixels
