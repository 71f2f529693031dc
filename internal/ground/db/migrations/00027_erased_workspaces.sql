-- What the law asks of an operator: a workspace's names and files go, its ledger stays.
-- +goose Up
ALTER TABLE workspace ADD COLUMN erased_at bigint NOT NULL DEFAULT 0;
UPDATE workspace SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'workspace' WHERE EXISTS (SELECT 1 FROM workspace) ON CONFLICT DO NOTHING;
-- What stays of a receipt whose workspace is erased: its leaf, for who kept the receipt.
CREATE TABLE erased_receipt (
  receipt_id   text PRIMARY KEY,
  job_id       text NOT NULL UNIQUE REFERENCES job (job_id),
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  key_id       text NOT NULL,
  log_index    bigint NOT NULL,
  entry        text NOT NULL, -- the leaf's hash, as the log has it
  created_at   bigint NOT NULL, -- of the receipt
  row_sum      text NOT NULL
);
CREATE INDEX erased_receipt_by_workspace ON erased_receipt (workspace_id);
-- +goose Down
DROP TABLE erased_receipt;
ALTER TABLE workspace DROP COLUMN erased_at;
