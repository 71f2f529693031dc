-- Searches of jobs that people have saved under a name. They go with the membership of their
-- person, also where a program of before takes that person out.

-- +goose Up
CREATE TABLE saved_filter (
  filter_id    text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  person_id    text NOT NULL,
  name         text NOT NULL,
  status       text NOT NULL,   -- of jobs; '' = any, as in the columns that follow
  words        text NOT NULL,
  tag          text NOT NULL,
  from_day     text NOT NULL,   -- such as 2026-11-27
  to_day       text NOT NULL,
  person       text NOT NULL,
  frames       text NOT NULL,
  created_at   bigint NOT NULL,
  row_sum      text NOT NULL,
  FOREIGN KEY (workspace_id, person_id) REFERENCES member (workspace_id, person_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX saved_filter_of_member ON saved_filter (workspace_id, person_id, name);

-- +goose Down
DROP TABLE saved_filter;
