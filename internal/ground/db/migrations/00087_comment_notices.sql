-- What people are still to be told of comments on shared jobs: one row for each job, until its
-- mail is sent.

-- +goose Up
CREATE TABLE comment_notice (
  person_id  text NOT NULL REFERENCES notice_reader (person_id),
  job_id     text NOT NULL REFERENCES job (job_id),
  created_at bigint NOT NULL, -- of the first comment
  comments   bigint NOT NULL, -- how many
  PRIMARY KEY (person_id, job_id)
);
CREATE INDEX comment_notice_by_job ON comment_notice (job_id);

-- +goose Down
DROP TABLE comment_notice;
