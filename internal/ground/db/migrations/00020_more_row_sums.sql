-- More rows carry a checksum: see package rowsum.

-- +goose Up

ALTER TABLE upload ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE awaited_upload ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE content ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE quote ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE ledger_transaction ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE frame ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE candidate ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE key_standing ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE webhook_event ADD COLUMN row_sum text NOT NULL DEFAULT '';

-- Their sums are written when the service starts.
INSERT INTO unsummed (relation) SELECT 'upload' WHERE EXISTS (SELECT 1 FROM upload);
INSERT INTO unsummed (relation) SELECT 'awaited_upload' WHERE EXISTS (SELECT 1 FROM awaited_upload);
INSERT INTO unsummed (relation) SELECT 'content' WHERE EXISTS (SELECT 1 FROM content);
INSERT INTO unsummed (relation) SELECT 'quote' WHERE EXISTS (SELECT 1 FROM quote);
INSERT INTO unsummed (relation) SELECT 'job' WHERE EXISTS (SELECT 1 FROM job);
INSERT INTO unsummed (relation) SELECT 'ledger_transaction' WHERE EXISTS (SELECT 1 FROM ledger_transaction);
INSERT INTO unsummed (relation) SELECT 'frame' WHERE EXISTS (SELECT 1 FROM frame);
INSERT INTO unsummed (relation) SELECT 'candidate' WHERE EXISTS (SELECT 1 FROM candidate);
INSERT INTO unsummed (relation) SELECT 'key_standing' WHERE EXISTS (SELECT 1 FROM key_standing);
INSERT INTO unsummed (relation) SELECT 'webhook_event' WHERE EXISTS (SELECT 1 FROM webhook_event);

-- +goose Down
DELETE FROM unsummed WHERE relation IN ('upload', 'awaited_upload', 'content', 'quote', 'job', 'ledger_transaction', 'frame', 'candidate', 'key_standing', 'webhook_event');
ALTER TABLE webhook_event DROP COLUMN row_sum;
ALTER TABLE key_standing DROP COLUMN row_sum;
ALTER TABLE candidate DROP COLUMN row_sum;
ALTER TABLE frame DROP COLUMN row_sum;
ALTER TABLE ledger_transaction DROP COLUMN row_sum;
ALTER TABLE job DROP COLUMN row_sum;
ALTER TABLE quote DROP COLUMN row_sum;
ALTER TABLE content DROP COLUMN row_sum;
ALTER TABLE awaited_upload DROP COLUMN row_sum;
ALTER TABLE upload DROP COLUMN row_sum;
