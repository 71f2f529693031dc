// Package worker is the render worker. It leases frames from a farm, renders them with
// Blender, checks and hashes each picture, and delivers it while the next frame renders.
//
// What always holds: a worker touches only frames that it has leased. A lost lease ends its frame
// at once, and nothing of it is delivered. A checked picture is on disk, fsynced, before it is
// sent. It stays there, across restarts of both sides, until the server has accepted or refused it.
// One Blender process opens the files of one workspace, once, for all its jobs of the same files.
// Several may render at once, each in a slot of its own; if they have too little memory, one
// continues alone, and no frame fails for it. No process survives Run. An unreachable server never
// ends Run. A worker holds no database, no store and no secret but its node key, which is inside
// Farm.
//
// The server decides which frame to render, how often to retry one and which lease has expired.
// Package internal/render/blender renders a frame, and internal/render/pixels decides whether a
// picture is sound.
//
// Start reading at Worker.Run, then machine.go (several workers of one machine), package
// blenders (which Blenders run), slot.go, queue.go (which frame is next), pool.go (which process renders
// it), persistent_data.go (may the process keep data between frames), stripper.go (pictures that do
// not fit into memory), leases.go (heartbeats),
// ahead.go, input.go and package filecache (input files), finish.go (packing and
// checking), package outbox (results on disk) and send.go (their delivery).
package worker
