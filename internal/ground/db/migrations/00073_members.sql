-- Workspaces have members with roles. Sessions are of one workspace, and keys say who made
-- them.

-- +goose Up
CREATE TABLE member (
  workspace_id text NOT NULL REFERENCES workspace (workspace_id),
  person_id    text NOT NULL REFERENCES person (person_id),
  role         text NOT NULL,   -- owner, member or viewer
  since        bigint NOT NULL,
  added_by     text NOT NULL,   -- the person who invited them; '' = the workspace began with them; 'test mode' = a guest
  row_sum      text NOT NULL,
  PRIMARY KEY (workspace_id, person_id)
);
CREATE INDEX member_by_person ON member (person_id);
INSERT INTO member (workspace_id, person_id, role, since, added_by, row_sum)
SELECT workspace_id, person_id, 'owner', created_at, '', '' FROM person;
INSERT INTO unsummed (relation) SELECT 'member' WHERE EXISTS (SELECT 1 FROM member) ON CONFLICT DO NOTHING;

ALTER TABLE session ADD COLUMN workspace_id text NOT NULL DEFAULT '';
UPDATE session SET row_sum = '', workspace_id = (SELECT p.workspace_id FROM person p WHERE p.person_id = session.person_id);
CREATE INDEX session_of_member ON session (workspace_id, person_id);
INSERT INTO unsummed (relation) SELECT 'session' WHERE EXISTS (SELECT 1 FROM session) ON CONFLICT DO NOTHING;

-- The person who made a key; '' = an operator did. Until now a workspace had one person.
ALTER TABLE account_key ADD COLUMN made_by text NOT NULL DEFAULT '';
UPDATE account_key SET row_sum = '', made_by = coalesce((SELECT min(p.person_id) FROM person p WHERE p.workspace_id = account_key.workspace_id), '');
INSERT INTO unsummed (relation) SELECT 'account_key' WHERE EXISTS (SELECT 1 FROM account_key) ON CONFLICT DO NOTHING;
ALTER TABLE agent_key ADD COLUMN made_by text NOT NULL DEFAULT '';
UPDATE agent_key SET row_sum = '', made_by = coalesce((SELECT min(p.person_id) FROM person p WHERE p.workspace_id = agent_key.workspace_id), '');
INSERT INTO unsummed (relation) SELECT 'agent_key' WHERE EXISTS (SELECT 1 FROM agent_key) ON CONFLICT DO NOTHING;

-- The person who said yes to a program; '' = nobody has yet.
ALTER TABLE oauth_request ADD COLUMN person_id text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE oauth_request DROP COLUMN person_id;
ALTER TABLE agent_key DROP COLUMN made_by;
ALTER TABLE account_key DROP COLUMN made_by;
DROP INDEX session_of_member;
ALTER TABLE session DROP COLUMN workspace_id;
DROP TABLE member;
