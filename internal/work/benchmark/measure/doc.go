// Package measure runs the GPU benchmark on this machine: it renders the scenes of
// contract.SceneVersion with a real Blender and records what it measured.
//
// How bench-v1 measures: each scene has its own Blender process. The warm-up renders
// CheckSamples samples, so that the scene and the kernels are loaded; its picture is
// compared with the reference. Then frames are rendered until TimedSeconds have
// passed on the clock, and the last frame is finished. A frame's number is its number
// of samples, chosen so that a frame takes about FrameSeconds. The clock counts
// Blender's time for frames, writing included, and nothing in between.
//
// A run for a service has a challenge: a picture of one of the scenes, with noise and from a
// place that the service drew, rendered after the timed frames.
//
// What always holds: a receipt names the device that rendered every frame, as the
// driver reports it. A run on another device than requested is an error. An unknown
// property of the machine is "unknown".
//
// The package leaves signing and judging to benchmark, sending to svc bench, and
// ranking to leaderboard. scripts/scenes/benchmark.py makes the scenes. Start reading
// at Run.
package measure
