-- Tables and columns get the words that the code and the docs use.

-- +goose Up
ALTER TABLE failed_try RENAME TO failed_attempt;
ALTER TABLE failed_attempt RENAME COLUMN lacks TO incapable; -- 1: this worker cannot render this job at all
ALTER TABLE worker RENAME COLUMN strikes TO faults;
ALTER TABLE worker RENAME COLUMN asides TO suspensions;
ALTER TABLE worker RENAME COLUMN aside_until TO suspended_until;

-- +goose Down
ALTER TABLE worker RENAME COLUMN suspended_until TO aside_until;
ALTER TABLE worker RENAME COLUMN suspensions TO asides;
ALTER TABLE worker RENAME COLUMN faults TO strikes;
ALTER TABLE failed_attempt RENAME COLUMN incapable TO lacks;
ALTER TABLE failed_attempt RENAME TO failed_try;
