// Package corpus compares the frames that the service renders with those that Blender
// renders by hand: of scenes that its scripts make, one for each thing that can make a
// frame depend on how it is rendered, and of any folder of .blend files.
//
// What always holds: the reference is one run of `blender -b FILE -s START -e END -a`
// over the scene's own range, in a copy of the scene's folder, by the same Blender with
// the same number of threads. Where frames differ it is made again, so that a scene of
// which Blender itself makes two pictures is known, and once of the .blend alone, because
// nothing else is sent. The service is the whole one, over HTTP, with real workers, and is
// audited at the end. Each file that Blender writes for a frame is compared, also those of File
// Output nodes, with their names. Pixels are compared by the hash of package pixels, or, for formats
// that only Blender reads, by what Blender reads.
//
// Each scene is ordered four times: whole; one frame in the middle alone; in two ranges;
// and whole again by three workers in processes of their own, of which one is killed while
// it renders and another loses its Blender.
//
// A scene takes some minutes of one processor, nearly all of them to start a dozen
// Blenders. Scenes are compared in lanes, and each one's row is written when it is done, so
// a comparison of hours may be stopped and resumed.
//
// The page that it prints is docs/internal/corpus.md. The scripts in scenes/ say what a scene is,
// and which cannot be equal. Start reading at Compare.
package corpus
