-- Why a key that signs receipts was ended, and where in the log: leaf end_size is the first
-- that it may not have signed. -1 means that no leaf has come since the end, or that there is
-- none.

-- +goose Up
ALTER TABLE signing_key ADD COLUMN end_reason text NOT NULL DEFAULT ''; -- 'superseded' or 'compromised'
ALTER TABLE signing_key ADD COLUMN end_size bigint NOT NULL DEFAULT -1;
UPDATE signing_key SET end_reason = 'superseded' WHERE valid_to <> 0;
UPDATE signing_key SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'signing_key' WHERE EXISTS (SELECT 1 FROM signing_key) ON CONFLICT DO NOTHING;

-- +goose Down
ALTER TABLE signing_key DROP COLUMN end_size;
ALTER TABLE signing_key DROP COLUMN end_reason;
