// Package causes compares warnings with pictures: of scenes that its script makes, each
// with one cause of a warning that the picture shows or does not, and of any folder of
// .blend files.
//
// What always holds: one Blender paints each scene twice, with the cause and without it
// (with its files and without them; with Python and without), and the two pictures differ
// or do not. That is the truth that the warning is compared with: a warning for equal
// pictures is a false alarm, no warning for different ones is a miss. The warnings are
// those of package quote, as `svc inspect` prints them.
//
// Package corpus has what the farm itself changes. Start reading at Compare.
package causes
