-- What comparing reused frames with new renderings of them has shown, by class of workers.

-- +goose Up
CREATE TABLE reuse_class (
  class_id        text PRIMARY KEY, -- a hash of the next five
  renderer        text NOT NULL,
  device          text NOT NULL,
  device_name     text NOT NULL,
  blender_version text NOT NULL,
  build_hash      text NOT NULL,
  agreed          bigint NOT NULL DEFAULT 0, -- frames that showed the same
  differed        bigint NOT NULL DEFAULT 0,
  off_at          bigint NOT NULL DEFAULT 0, -- since then no frame of the class is reused; 0 while they are
  row_sum         text NOT NULL
);

-- +goose Down
DROP TABLE reuse_class;
