-- PostgreSQL alone: a plan that is made once for all callers assumes that a workspace has a
-- hundredth of a table. In a store where one workspace has nearly all, the statistics say
-- that any has: then PostgreSQL walks all jobs, newest first, in search of those of a
-- workspace that has none, rather than an index of its own. So it is with the jobs of a file.

-- +goose Up
ALTER TABLE job ALTER workspace_id SET (n_distinct = -0.01), ALTER key_id SET (n_distinct = -0.01),
  ALTER input_sha256 SET (n_distinct = -0.1), ALTER filename SET (n_distinct = -0.1);
ALTER TABLE upload ALTER workspace_id SET (n_distinct = -0.01);
ALTER TABLE quote ALTER workspace_id SET (n_distinct = -0.01);
ALTER TABLE ledger_transaction ALTER workspace_id SET (n_distinct = -0.01);
ALTER TABLE top_up ALTER workspace_id SET (n_distinct = -0.01);
ALTER TABLE webhook_event ALTER workspace_id SET (n_distinct = -0.01);
ALTER TABLE project_content ALTER workspace_id SET (n_distinct = -0.01), ALTER sha256 SET (n_distinct = -0.1);
ANALYZE job, upload, quote, ledger_transaction, top_up, webhook_event, project_content;

-- +goose Down
ALTER TABLE job ALTER workspace_id RESET (n_distinct), ALTER key_id RESET (n_distinct), ALTER input_sha256 RESET (n_distinct), ALTER filename RESET (n_distinct);
ALTER TABLE upload ALTER workspace_id RESET (n_distinct);
ALTER TABLE quote ALTER workspace_id RESET (n_distinct);
ALTER TABLE ledger_transaction ALTER workspace_id RESET (n_distinct);
ALTER TABLE top_up ALTER workspace_id RESET (n_distinct);
ALTER TABLE webhook_event ALTER workspace_id RESET (n_distinct);
ALTER TABLE project_content ALTER workspace_id RESET (n_distinct), ALTER sha256 RESET (n_distinct);
