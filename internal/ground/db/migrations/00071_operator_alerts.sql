-- Trouble of the service that operators are told of.

-- +goose Up
CREATE TABLE operator_alert (
  name     text PRIMARY KEY, -- such as no_worker; of a machine's own trouble disk_low@HOST
  since    bigint NOT NULL,  -- when it was first seen
  told_at  bigint NOT NULL DEFAULT 0 -- 0 until it has lasted long enough
);

-- +goose Down
DROP TABLE operator_alert;
