-- The files of File Output nodes, which a frame has besides its picture.

-- +goose Up

CREATE TABLE frame_output (
  job_id     text NOT NULL REFERENCES job (job_id),
  frame      bigint NOT NULL, -- an accepted frame of the job
  number     bigint NOT NULL, -- from 0, in the order in which the worker lists them
  name       text NOT NULL,   -- below outputs/ in the ZIP, with folders
  blob_key   text NOT NULL,
  sha256     text NOT NULL,
  size_bytes bigint NOT NULL,
  row_sum    text NOT NULL,
  PRIMARY KEY (job_id, frame, number)
);
CREATE UNIQUE INDEX frame_output_name ON frame_output (job_id, name);

-- +goose Down
DROP TABLE frame_output;
