-- What a member may spend in a calendar month (UTC), where an owner has set a limit. A limit
-- goes with the membership, also where a program of before takes the person out.

-- +goose Up
CREATE TABLE member_limit (
  workspace_id  text NOT NULL,
  person_id     text NOT NULL,
  monthly_cents bigint NOT NULL,
  set_by        text NOT NULL, -- a person
  set_at        bigint NOT NULL,
  row_sum       text NOT NULL,
  PRIMARY KEY (workspace_id, person_id),
  FOREIGN KEY (workspace_id, person_id) REFERENCES member (workspace_id, person_id) ON DELETE CASCADE
);

-- +goose Down
DROP TABLE member_limit;
