-- Whether the service could hear its workers: outages are no worker's fault. A lapsed lease
-- remembers its holder, whose late picture counts while no other worker has the frame.

-- +goose Up
CREATE TABLE pulse (
  pulse_id       bigint PRIMARY KEY CHECK (pulse_id = 1), -- one row
  written_at     bigint NOT NULL, -- when the service could write last
  heard_at       bigint NOT NULL, -- when a worker was heard last
  together_until bigint NOT NULL, -- leases that lapse before this lapse together
  probed_at      bigint NOT NULL DEFAULT 0 -- when a probe wrote it to see whether it can
);
ALTER TABLE lease ADD COLUMN lapsed_holder text NOT NULL DEFAULT ''; -- of the current attempt, if it lapsed

-- +goose Down
ALTER TABLE lease DROP COLUMN lapsed_holder;
DROP TABLE pulse;
