-- What an order chose of its file: scene, camera, view layer, size, samples, names of frames.

-- +goose Up

-- JSON of package settings; '' where everything is as in the file. The rows' checksums leave an
-- empty one out.
ALTER TABLE quote ADD COLUMN settings text NOT NULL DEFAULT '';
ALTER TABLE quote ADD COLUMN scene text NOT NULL DEFAULT ''; -- JSON of the scene as it was chosen; '' for the upload's
ALTER TABLE job ADD COLUMN settings text NOT NULL DEFAULT ''; -- the quote's
ALTER TABLE preview ADD COLUMN settings text NOT NULL DEFAULT ''; -- those of the quote that it looks at

-- +goose Down
ALTER TABLE preview DROP COLUMN settings;
ALTER TABLE job DROP COLUMN settings;
ALTER TABLE quote DROP COLUMN scene;
ALTER TABLE quote DROP COLUMN settings;
