// Package causes compares warnings with pictures: of scenes that its script makes, each
// with one cause of a warning that the picture shows or does not, and of any folder of
// .blend files.
//
// What always holds: one Blender paints each scene twice, with the cause and without it
// (without its files and beside them; with Python and without), and the two pictures
// differ or do not. That is the truth that the warning is held against: told and equal is
// a false alarm, not told and different is a miss. The warnings are those of package
// quote, as `svc inspect` prints them.
//
// What the farm changes by itself is in package corpus. Start reading at Compare.
package causes
