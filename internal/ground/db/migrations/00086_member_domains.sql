-- Domains of addresses whose people join a workspace when they sign in by OpenID Connect. A
-- domain goes with the membership of the owner who claimed it, also where a program of before
-- takes that person out.

-- +goose Up
CREATE TABLE member_domain (
  domain       text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  role         text NOT NULL,   -- member or viewer
  claimed_by   text NOT NULL,   -- a person
  claimed_at   bigint NOT NULL,
  row_sum      text NOT NULL,
  FOREIGN KEY (workspace_id, claimed_by) REFERENCES member (workspace_id, person_id) ON DELETE CASCADE
);
CREATE INDEX member_domain_of_member ON member_domain (workspace_id, claimed_by);
CREATE INDEX member_domain_by_time ON member_domain (claimed_at, domain);

-- Who has left a workspace or was removed, and so does not join it again automatically: hashes,
-- so that no address stays.
CREATE TABLE member_left (
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  who_sha256   text NOT NULL,   -- of an address, or of a login
  left_at      bigint NOT NULL,
  row_sum      text NOT NULL,
  PRIMARY KEY (workspace_id, who_sha256)
);

-- When the issuer last said that the person's address is theirs; 0 = at the last sign-in it did
-- not, or there was none since.
ALTER TABLE person_login ADD COLUMN vouched_at bigint NOT NULL DEFAULT 0;
CREATE INDEX person_login_of_person ON person_login (person_id);

-- +goose Down
DROP INDEX person_login_of_person;
ALTER TABLE person_login DROP COLUMN vouched_at;
DROP TABLE member_left;
DROP TABLE member_domain;
