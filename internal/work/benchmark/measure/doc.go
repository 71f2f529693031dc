// Package measure runs the GPU benchmark on this machine: it renders the scenes
// of contract.SceneVersion with a real Blender and states what was measured.
//
// How bench-v1 measures. Each scene has a Blender of its own. The warm-up
// renders CheckSamples samples, so that the scene is loaded and the kernels are
// there; its picture is held against the reference. Then frames are rendered
// until TimedSeconds are on the clock; a frame in which less than the rest of
// the time is left is begun and finished. The frame's number is its number of
// samples, chosen so that a frame takes about FrameSeconds. The clock counts
// what Blender needs for its frames, writing them included, and nothing between.
//
// What always holds: a receipt names the device that rendered every frame, as
// the driver saw it; a run on another one than asked is an error, not a result.
// What is not known of the machine is "unknown".
//
// It leaves to others: signing and judging (benchmark), sending (farm, svc
// bench), the tables (leaderboard). The scenes are made by
// scripts/scenes/benchmark.py. Start reading at Run.
package measure
