-- An agent key can have an end, may have fewer scopes than all, and may be for some of the
-- service's resources only.

-- +goose Up
ALTER TABLE agent_key ADD COLUMN expires_at bigint NOT NULL DEFAULT 0; -- 0 = never
ALTER TABLE agent_key ADD COLUMN scopes text NOT NULL DEFAULT '';      -- separated by spaces; '' = all
ALTER TABLE agent_key ADD COLUMN resources text NOT NULL DEFAULT '';   -- addresses, separated by spaces; '' = all
UPDATE agent_key SET row_sum = '';
INSERT INTO unsummed (relation) SELECT 'agent_key' WHERE EXISTS (SELECT 1 FROM agent_key) ON CONFLICT DO NOTHING;

-- +goose Down
ALTER TABLE agent_key DROP COLUMN resources;
ALTER TABLE agent_key DROP COLUMN scopes;
ALTER TABLE agent_key DROP COLUMN expires_at;
