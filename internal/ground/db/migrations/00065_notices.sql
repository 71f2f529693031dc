-- Mails that tell people how their jobs ended.

-- +goose Up

-- People with a verified address, and whether they want such mails.
CREATE TABLE notice_reader (
  person_id   text PRIMARY KEY REFERENCES person (person_id),
  verified_at bigint NOT NULL,
  off_at      bigint NOT NULL, -- when they switched the mails off; 0: they get them
  sent_at     bigint NOT NULL, -- the last mail; 0: none yet
  row_sum     text NOT NULL
);

-- What a person is still to be told: one row for each job, until its mail is sent.
CREATE TABLE notice (
  person_id  text NOT NULL REFERENCES notice_reader (person_id),
  job_id     text NOT NULL REFERENCES job (job_id),
  created_at bigint NOT NULL,
  PRIMARY KEY (person_id, job_id)
);
CREATE INDEX notice_by_job ON notice (job_id);

-- +goose Down
DROP TABLE notice;
DROP TABLE notice_reader;
