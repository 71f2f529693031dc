-- The oldest schema whose program can still serve this database. A migration that only adds
-- leaves it as it is; one that takes something away raises it (docs/internal/migrations.md).

-- +goose Up
CREATE TABLE schema_reach (
  oldest bigint NOT NULL -- one row
);
INSERT INTO schema_reach (oldest) VALUES (81);

-- When the workspace of a job paused and resumed it, also after it has ended: JSON, the newest of
-- them.
ALTER TABLE job ADD COLUMN pauses text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE job DROP COLUMN pauses;
DROP TABLE schema_reach;
