// Package result reads what is left of a job's frames: a frame's picture, from its own file
// or from the ZIP, and what Blender said.
//
// What always holds: the bytes of a picture are those that were accepted. It changes nothing;
// artifact packs and removes. Start reading at OpenFrame.
package result

import "svc.example/internal/ground/db/query"

// Frame is the row of an accepted frame without its log: a page of frames must not read
// the logs, which may be 16 KiB each.
type Frame = query.FramesOfRow
