-- name: FramesSince :many
SELECT job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, renderer, device, device_name,
  blender_version, build_hash, switched, accepted_at, finding, times, checked, origin
FROM frame WHERE job_id = @job_id AND seq > @seq ORDER BY seq LIMIT CAST(@max AS bigint);

-- name: FramesLatest :many
-- The newest of those since, newest first.
SELECT job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, renderer, device, device_name,
  blender_version, build_hash, switched, accepted_at, finding, times, checked, origin
FROM frame WHERE job_id = @job_id AND seq > @seq ORDER BY seq DESC LIMIT CAST(@max AS bigint);

-- name: FrameLogsSince :many
-- What Blender said of frames, in the order in which they were accepted.
SELECT frame, seq, file, width, height, render_us, renderer, device, device_name, blender_version, attempt, finding, origin, log
FROM frame WHERE job_id = @job_id AND seq > @seq ORDER BY seq LIMIT CAST(@max AS bigint);

-- name: FrameView :one
SELECT job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, renderer, device, device_name,
  blender_version, build_hash, switched, accepted_at, finding, times, checked, origin
FROM frame WHERE job_id = @job_id AND frame = @frame;

-- name: FrameFirst :one
-- The lowest accepted frame of a job.
SELECT frame FROM frame WHERE job_id = @job_id ORDER BY frame LIMIT 1;

-- name: StripsShown :many
-- The strips of frames of a job that are being rendered, from the top of each.
SELECT frame, part, row_from, row_to, height, overlap, blob_key, sha256
FROM strip WHERE job_id = @job_id AND is_open = 1 ORDER BY frame, part LIMIT CAST(@max AS bigint);

-- name: FrameOutputGet :one
-- A file of a File Output node, by its name.
SELECT frame, number, name, blob_key, sha256, size_bytes FROM frame_output WHERE job_id = @job_id AND name = @name;

-- name: FrameOutputName :one
-- The name of an output of a frame, by its number.
SELECT name FROM frame_output WHERE job_id = @job_id AND frame = @frame AND number = @number;

-- name: FrameOutputsSince :many
-- The outputs of frames that were accepted after seq, up to last.
SELECT o.frame, o.name, o.sha256, o.size_bytes FROM frame f JOIN frame_output o ON o.job_id = f.job_id AND o.frame = f.frame
WHERE f.seq > @seq AND f.seq <= @last AND f.job_id = @job_id ORDER BY o.frame, o.number;
