-- The strips of frames that several workers render together.

-- +goose Up

CREATE TABLE strip (
  job_id       text NOT NULL REFERENCES job (job_id),
  frame        bigint NOT NULL,
  part         bigint NOT NULL, -- 0 is the top
  parts        bigint NOT NULL,
  row_from     bigint NOT NULL, -- rows of the frame from the top, half open
  row_to       bigint NOT NULL,
  height       bigint NOT NULL, -- rows of the frame
  overlap      bigint NOT NULL, -- rows that the strip shows of each neighbour
  class        text NOT NULL,   -- of the workers that may render it
  avoid        text NOT NULL DEFAULT '', -- workers that may not, separated by blanks
  worker_id    text NOT NULL DEFAULT '', -- who delivered it; '' before
  key_id       text NOT NULL DEFAULT '', -- its node key
  attempt      bigint NOT NULL DEFAULT 0,
  blob_key     text NOT NULL DEFAULT '', -- '' before, and once the frame is accepted
  sha256       text NOT NULL DEFAULT '',
  size_bytes   bigint NOT NULL DEFAULT 0,
  seam_above   text NOT NULL DEFAULT '', -- hashes of the two rows at each cut
  seam_below   text NOT NULL DEFAULT '',
  render_us    bigint NOT NULL DEFAULT 0,
  doubted      text NOT NULL DEFAULT '', -- who delivered it before, when it disagreed with a neighbour
  doubted_key  text NOT NULL DEFAULT '',
  doubted_above text NOT NULL DEFAULT '',
  doubted_below text NOT NULL DEFAULT '',
  is_open      bigint NOT NULL, -- 1 until the frame is accepted
  created_at   bigint NOT NULL,
  delivered_at bigint NOT NULL DEFAULT 0,
  row_sum      text NOT NULL,
  PRIMARY KEY (job_id, frame, part)
);
CREATE INDEX strip_open ON strip (job_id, frame) WHERE is_open = 1;
ALTER TABLE worker ADD COLUMN strips bigint NOT NULL DEFAULT 0; -- 1: it renders strips and finishes frames of them

-- +goose Down
ALTER TABLE worker DROP COLUMN strips;
DROP TABLE strip;
