-- People who operate the service (decisions 24), what they did, and what the last audits
-- found.

-- +goose Up

-- A person who may do what operators do in the browser.
CREATE TABLE operator (
  person_id text PRIMARY KEY REFERENCES person (person_id),
  since     bigint NOT NULL,
  row_sum   text NOT NULL -- of the row's content; see package rowsum
);

-- What an operator did, by which way and with which words. Rows are never changed, but an
-- erased workspace's words and addresses are emptied.
CREATE TABLE operator_act (
  act_id       text PRIMARY KEY,
  acted_at     bigint NOT NULL,
  actor        text NOT NULL, -- an e-mail address, or the account that ran svc admin
  way          text NOT NULL, -- 'console' or 'command'
  what         text NOT NULL, -- follows "Did:"; names ids and amounts
  workspace_id text NOT NULL, -- the workspace that owned it; '' for none
  reason       text NOT NULL, -- '' for none
  row_sum      text NOT NULL
);

-- A workspace that starts nothing until an operator lifts it.
CREATE TABLE workspace_freeze (
  workspace_id text PRIMARY KEY REFERENCES workspace (workspace_id),
  reason       text NOT NULL, -- the workspace reads it
  frozen_at    bigint NOT NULL,
  row_sum      text NOT NULL
);

-- The last audits of the whole store.
CREATE TABLE audit_run (
  run_id   text PRIMARY KEY,
  began_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  breaches bigint NOT NULL, -- how many were found
  found    text NOT NULL,   -- JSON: what was counted, and the first breaches
  row_sum  text NOT NULL
);

-- Jobs that a person should look at first.
CREATE INDEX job_needs ON job (workspace_id, job_id) WHERE status IN ('failed', 'awaiting_submit');

-- +goose Down
DROP INDEX job_needs;
DROP TABLE audit_run;
DROP TABLE workspace_freeze;
DROP TABLE operator_act;
DROP TABLE operator;
