-- The ledger books payments and what is taken back of them. The wallet package knows the
-- kinds, and the audit compares each entry with its kind: a list here would be a second
-- one, which SQLite cannot change in place.

-- +goose Up

CREATE TABLE new_ledger_transaction (
  transaction_id text PRIMARY KEY,
  kind           text NOT NULL,
  reference      text NOT NULL,
  workspace_id   text NOT NULL REFERENCES workspace (workspace_id),
  job_id         text NOT NULL DEFAULT '',
  amount_cents   bigint NOT NULL CHECK (amount_cents > 0),
  created_at     bigint NOT NULL,
  row_sum        text NOT NULL DEFAULT '',
  UNIQUE (kind, reference)
);
INSERT INTO new_ledger_transaction (transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at, row_sum)
SELECT transaction_id, kind, reference, workspace_id, job_id, amount_cents, created_at, row_sum FROM ledger_transaction;
CREATE TABLE new_ledger_posting (
  transaction_id text NOT NULL REFERENCES new_ledger_transaction (transaction_id),
  account        text NOT NULL,
  amount_cents   bigint NOT NULL,
  PRIMARY KEY (transaction_id, account)
);
INSERT INTO new_ledger_posting (transaction_id, account, amount_cents) SELECT transaction_id, account, amount_cents FROM ledger_posting;
DROP TABLE ledger_posting;
DROP TABLE ledger_transaction;
ALTER TABLE new_ledger_transaction RENAME TO ledger_transaction;
ALTER TABLE new_ledger_posting RENAME TO ledger_posting;
CREATE INDEX ledger_transaction_by_workspace ON ledger_transaction (workspace_id, transaction_id);
CREATE INDEX ledger_transaction_by_job ON ledger_transaction (job_id) WHERE job_id <> '';

-- What a workspace owes: payments that were taken back after the money was spent.
ALTER TABLE wallet ADD COLUMN owed_cents bigint NOT NULL DEFAULT 0 CHECK (owed_cents >= 0);
-- The origin of the freeze: 'operator', or 'debt', which ends when nothing is
-- owed any more.
ALTER TABLE workspace_freeze ADD COLUMN cause text NOT NULL DEFAULT 'operator';
UPDATE workspace_freeze SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'workspace_freeze' WHERE EXISTS (SELECT 1 FROM workspace_freeze) ON CONFLICT DO NOTHING;

-- +goose Down
ALTER TABLE workspace_freeze DROP COLUMN cause;
ALTER TABLE wallet DROP COLUMN owed_cents;
