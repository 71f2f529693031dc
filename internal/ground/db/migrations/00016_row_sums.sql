-- +goose Up

-- A checksum over the row, of rows whose content cannot be derived from anything else in
-- the store: see package rowsum. '' is a row of an older version, until the service has
-- started.
ALTER TABLE workspace ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE person ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE person_login ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE account_key ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE agent_key ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE node_key ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE sign_in_link ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE webhook_endpoint ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE webhook_secret ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE webhook_attempt ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE node_signing_key ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE benchmark_receipt ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE signing_key ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE receipt_log ADD COLUMN row_sum text NOT NULL DEFAULT ''; -- over the name alone: the rest is held against the leaves
ALTER TABLE worker ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE failed_attempt ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE idempotency ADD COLUMN row_sum text NOT NULL DEFAULT '';
ALTER TABLE dead_letter ADD COLUMN row_sum text NOT NULL DEFAULT '';

-- What fences a lease, written twice: 'ATTEMPT FAILURES HOLDER'. A lease changes too often
-- for a checksum.
ALTER TABLE lease ADD COLUMN guard text NOT NULL DEFAULT '0 0 ';
UPDATE lease SET guard = CAST(attempt AS text) || ' ' || CAST(failures AS text) || ' ' || holder;

-- Which try of its round an attempt was, from 1; 0 = an older version did not say.
ALTER TABLE webhook_attempt ADD COLUMN round bigint NOT NULL DEFAULT 0;

-- Tables with rows of an older version, whose checksums are still to be written.
CREATE TABLE unsummed (
  relation text PRIMARY KEY
);
INSERT INTO unsummed (relation) SELECT 'workspace' WHERE EXISTS (SELECT 1 FROM workspace);
INSERT INTO unsummed (relation) SELECT 'person' WHERE EXISTS (SELECT 1 FROM person);
INSERT INTO unsummed (relation) SELECT 'person_login' WHERE EXISTS (SELECT 1 FROM person_login);
INSERT INTO unsummed (relation) SELECT 'account_key' WHERE EXISTS (SELECT 1 FROM account_key);
INSERT INTO unsummed (relation) SELECT 'agent_key' WHERE EXISTS (SELECT 1 FROM agent_key);
INSERT INTO unsummed (relation) SELECT 'node_key' WHERE EXISTS (SELECT 1 FROM node_key);
INSERT INTO unsummed (relation) SELECT 'session' WHERE EXISTS (SELECT 1 FROM session);
INSERT INTO unsummed (relation) SELECT 'sign_in_link' WHERE EXISTS (SELECT 1 FROM sign_in_link);
INSERT INTO unsummed (relation) SELECT 'webhook_endpoint' WHERE EXISTS (SELECT 1 FROM webhook_endpoint);
INSERT INTO unsummed (relation) SELECT 'webhook_secret' WHERE EXISTS (SELECT 1 FROM webhook_secret);
INSERT INTO unsummed (relation) SELECT 'webhook_attempt' WHERE EXISTS (SELECT 1 FROM webhook_attempt);
INSERT INTO unsummed (relation) SELECT 'node_signing_key' WHERE EXISTS (SELECT 1 FROM node_signing_key);
INSERT INTO unsummed (relation) SELECT 'benchmark_receipt' WHERE EXISTS (SELECT 1 FROM benchmark_receipt);
INSERT INTO unsummed (relation) SELECT 'signing_key' WHERE EXISTS (SELECT 1 FROM signing_key);
INSERT INTO unsummed (relation) SELECT 'receipt_log' WHERE EXISTS (SELECT 1 FROM receipt_log WHERE origin <> '');
INSERT INTO unsummed (relation) SELECT 'worker' WHERE EXISTS (SELECT 1 FROM worker);
INSERT INTO unsummed (relation) SELECT 'failed_attempt' WHERE EXISTS (SELECT 1 FROM failed_attempt);
INSERT INTO unsummed (relation) SELECT 'idempotency' WHERE EXISTS (SELECT 1 FROM idempotency);
INSERT INTO unsummed (relation) SELECT 'dead_letter' WHERE EXISTS (SELECT 1 FROM dead_letter);

-- +goose Down
DROP TABLE unsummed;
ALTER TABLE webhook_attempt DROP COLUMN round;
ALTER TABLE lease DROP COLUMN guard;
ALTER TABLE dead_letter DROP COLUMN row_sum;
ALTER TABLE idempotency DROP COLUMN row_sum;
ALTER TABLE failed_attempt DROP COLUMN row_sum;
ALTER TABLE worker DROP COLUMN row_sum;
ALTER TABLE receipt_log DROP COLUMN row_sum;
ALTER TABLE signing_key DROP COLUMN row_sum;
ALTER TABLE benchmark_receipt DROP COLUMN row_sum;
ALTER TABLE node_signing_key DROP COLUMN row_sum;
ALTER TABLE webhook_attempt DROP COLUMN row_sum;
ALTER TABLE webhook_secret DROP COLUMN row_sum;
ALTER TABLE webhook_endpoint DROP COLUMN row_sum;
ALTER TABLE sign_in_link DROP COLUMN row_sum;
ALTER TABLE session DROP COLUMN row_sum;
ALTER TABLE node_key DROP COLUMN row_sum;
ALTER TABLE agent_key DROP COLUMN row_sum;
ALTER TABLE account_key DROP COLUMN row_sum;
ALTER TABLE person_login DROP COLUMN row_sum;
ALTER TABLE person DROP COLUMN row_sum;
ALTER TABLE workspace DROP COLUMN row_sum;
