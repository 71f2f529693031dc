-- name: FramesOf :many
-- Without Blender's output, which is a hundred times the rest for a long job.
SELECT job_id, frame, seq, ordinal, file, blob_key, sha256, pixel_sha256, size_bytes, width, height, render_us, renderer, device, device_name,
  blender_version, build_hash, switched, accepted_at, finding, times, checked, origin
FROM frame WHERE job_id = @job_id ORDER BY frame;

-- name: FrameLogsOf :many
-- Blender's output for frames, by their numbers, after one.
SELECT frame, seq, file, width, height, render_us, renderer, device, device_name, blender_version, attempt, finding, origin, log
FROM frame WHERE job_id = @job_id AND frame > @frame ORDER BY frame LIMIT CAST(@max AS bigint);

-- name: JobArtifactKeys :many
SELECT artifact_key FROM job WHERE artifact_key <> '' AND artifact_removed_at = 0;

-- name: JobsLive :many
SELECT job_id FROM job WHERE status IN ('awaiting_submit', 'queued', 'rendering', 'packaging');

-- name: FailedAttemptsOfJob :many
SELECT * FROM failed_attempt WHERE subject = @job_id ORDER BY failed_at, item, attempt LIMIT CAST(@max AS bigint);

-- name: FrameOutputsOf :many
-- The outputs of all frames of a job.
SELECT frame, number, name, blob_key, sha256, size_bytes FROM frame_output WHERE job_id = @job_id ORDER BY frame, number;
