-- An upload link is judged by the terms under which it was made.

-- +goose Up
ALTER TABLE awaited_upload ADD COLUMN terms_version text NOT NULL DEFAULT ''; -- '' = the first terms

-- +goose Down
ALTER TABLE awaited_upload DROP COLUMN terms_version;
