-- Sampled frames are rendered by workers of two keys and compared.

-- +goose Up

-- A sound picture of a frame that awaits the picture of another worker. The frame is
-- accepted, and its rows here go, once two agree or no other worker is available.
CREATE TABLE candidate (
  job_id       text NOT NULL REFERENCES job (job_id),
  frame        bigint NOT NULL,
  attempt      bigint NOT NULL,
  worker_id    text NOT NULL,
  key_id       text NOT NULL,
  class        text NOT NULL, -- device, its name, renderer, version and build: only equal ones paint equal pixels
  other_key    bigint NOT NULL CHECK (other_key IN (0, 1)), -- 1: only a worker of another key may confirm
  sha256       text NOT NULL, -- of the stored file
  pixel_sha256 text NOT NULL,
  finding      text NOT NULL,
  picture      text NOT NULL, -- JSON, what the frame's row is made of
  created_at   bigint NOT NULL,
  PRIMARY KEY (job_id, frame, attempt)
);

ALTER TABLE key_standing ADD COLUMN confirmed bigint NOT NULL DEFAULT 0; -- pictures that another worker painted alike
ALTER TABLE key_standing ADD COLUMN refuted bigint NOT NULL DEFAULT 0; -- pictures that two others painted alike and otherwise

-- +goose Down
ALTER TABLE key_standing DROP COLUMN refuted;
ALTER TABLE key_standing DROP COLUMN confirmed;
DROP TABLE candidate;
