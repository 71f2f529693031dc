// Package worker is the render worker: it leases frames from a farm, renders them
// with a Blender that is started ahead of work, checks and hashes each picture,
// and delivers it while the next frame renders.
//
// What always holds: a worker touches only what it has leased; a lease that is
// lost ends its frame at once and nothing of it is delivered; a checked picture is
// on disk, fsynced, before it is sent, and stays there until the server has taken
// or refused it, over restarts of both; a held frame of a watched job leaves only
// after a comparison; one Blender process serves one job; at the end of Run no
// process is left. A server that cannot be reached never ends Run.
//
// It holds no database, no store and no secret but its node key (inside Farm). It
// leaves to the server which frame to render, how often to try one again and who
// is late; to internal/ground/blender how a frame is rendered; to internal/ground/pixels what a
// sound picture is.
//
// Start reading at Worker.Run, then line.go (which frame next), stage.go (which
// Blender), guard.go (may it keep data), cache.go (files), outbox.go (how results
// leave).
package worker
