-- What the service looked at itself in a frame's picture: 'pixels', 'structure', or '' for
-- frames of versions that did not say. The rows' checksums leave an empty one out.

-- +goose Up
ALTER TABLE frame ADD COLUMN checked text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE frame DROP COLUMN checked;
