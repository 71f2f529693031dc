-- Which request started a job, ended it, or did an operator's act: the log of a job names them.

-- +goose Up
ALTER TABLE job ADD COLUMN request_id text NOT NULL DEFAULT '';           -- '' = unknown
ALTER TABLE webhook_event ADD COLUMN request_id text NOT NULL DEFAULT ''; -- '' = the service published it
ALTER TABLE operator_act ADD COLUMN request_id text NOT NULL DEFAULT '';  -- '' = a command

-- +goose Down
ALTER TABLE operator_act DROP COLUMN request_id;
ALTER TABLE webhook_event DROP COLUMN request_id;
ALTER TABLE job DROP COLUMN request_id;
