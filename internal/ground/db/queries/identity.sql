-- name: WorkspaceCreate :exec
INSERT INTO workspace (workspace_id, name, created_at, proof_page, row_sum, erased_at, artifact_days, daily_cents, tags, frames_at_once)
VALUES (@workspace_id, @name, @created_at, @proof_page, @row_sum, @erased_at, @artifact_days, @daily_cents, @tags, @frames_at_once);

-- name: WorkspaceGet :one
SELECT * FROM workspace WHERE workspace_id = @workspace_id;

-- name: WorkspaceCount :one
SELECT count(*) FROM workspace;

-- name: PersonCreate :execrows
INSERT INTO person (person_id, email, workspace_id, created_at, row_sum)
VALUES (@person_id, @email, @workspace_id, @created_at, @row_sum)
ON CONFLICT (email) DO NOTHING;

-- name: PersonGet :one
SELECT * FROM person WHERE person_id = @person_id;

-- name: PersonByEmail :one
SELECT * FROM person WHERE email = @email;

-- name: AccountKeyCreate :exec
INSERT INTO account_key (key_id, workspace_id, name, secret_sha256, masked_prefix, created_at, last_used_at, revoked_at, row_sum, made_by)
VALUES (@key_id, @workspace_id, @name, @secret_sha256, @masked_prefix, @created_at, @last_used_at, @revoked_at, @row_sum, @made_by);

-- name: AccountKeyBySecret :one
SELECT key_id, workspace_id, last_used_at, revoked_at, made_by FROM account_key WHERE secret_sha256 = @secret_sha256;

-- name: AccountKeyActive :one
SELECT count(*) FROM account_key WHERE workspace_id = @workspace_id AND revoked_at = 0;

-- name: AccountKeyRevoke :one
UPDATE account_key SET revoked_at = @now WHERE key_id = @key_id AND revoked_at = 0 RETURNING *;

-- name: AgentKeyCreate :exec
INSERT INTO agent_key (key_id, workspace_id, name, secret_sha256, masked_prefix, spend_limit_cents, created_at, last_used_at, revoked_at, row_sum, expires_at, scopes, resources, made_by)
VALUES (@key_id, @workspace_id, @name, @secret_sha256, @masked_prefix, @spend_limit_cents, @created_at, @last_used_at, @revoked_at, @row_sum, @expires_at, @scopes, @resources, @made_by);

-- name: AgentKeyBySecret :one
-- A program's access token opens its key, until the token's own end.
SELECT key_id, workspace_id, spend_limit_cents, last_used_at, revoked_at, expires_at, scopes, resources, made_by, CAST(0 AS bigint) AS token_until
FROM agent_key WHERE secret_sha256 = CAST(@secret_sha256 AS text)
UNION ALL
SELECT k.key_id, k.workspace_id, k.spend_limit_cents, k.last_used_at, k.revoked_at, k.expires_at, k.scopes, k.resources, k.made_by, g.access_until
FROM oauth_grant g JOIN agent_key k ON k.key_id = g.key_id WHERE g.access_sha256 = CAST(@secret_sha256 AS text)
UNION ALL
SELECT k.key_id, k.workspace_id, k.spend_limit_cents, k.last_used_at, k.revoked_at, k.expires_at, k.scopes, k.resources, k.made_by, g.previous_until
FROM oauth_grant g JOIN agent_key k ON k.key_id = g.key_id WHERE g.previous_sha256 = CAST(@secret_sha256 AS text) AND g.previous_sha256 <> '';

-- name: AgentKeyActive :one
SELECT count(*) FROM agent_key WHERE workspace_id = @workspace_id AND revoked_at = 0 AND (expires_at = 0 OR expires_at > CAST(@now AS bigint));

-- name: AgentKeyRevoke :one
UPDATE agent_key SET revoked_at = @now WHERE key_id = @key_id AND revoked_at = 0 RETURNING *;

-- name: AgentKeyLimit :one
-- Locked, so that two starts by one key are counted one after the other.
SELECT spend_limit_cents FROM agent_key WHERE key_id = @key_id FOR UPDATE;

-- name: NodeKeyCreate :exec
INSERT INTO node_key (key_id, name, secret_sha256, masked_prefix, created_at, last_used_at, revoked_at, row_sum)
VALUES (@key_id, @name, @secret_sha256, @masked_prefix, @created_at, @last_used_at, @revoked_at, @row_sum);

-- name: NodeKeyBySecret :one
SELECT key_id, name, last_used_at, revoked_at FROM node_key WHERE secret_sha256 = @secret_sha256;

-- name: NodeKeys :many
SELECT * FROM node_key ORDER BY key_id DESC;

-- name: NodeKeyRevoke :one
UPDATE node_key SET revoked_at = @now WHERE key_id = @key_id AND revoked_at = 0 RETURNING *;

-- name: NodeKeyRevokeNamed :many
UPDATE node_key SET revoked_at = @now WHERE name = @name AND revoked_at = 0 RETURNING *;

-- name: AccountKeyTouch :exec
UPDATE account_key SET last_used_at = @now WHERE key_id = @key_id AND last_used_at < CAST(@before AS bigint);

-- name: AgentKeyTouch :exec
UPDATE agent_key SET last_used_at = @now WHERE key_id = @key_id AND last_used_at < CAST(@before AS bigint);

-- name: NodeKeyTouch :exec
UPDATE node_key SET last_used_at = @now WHERE key_id = @key_id AND last_used_at < CAST(@before AS bigint);

-- name: OperatorKeyCreate :exec
INSERT INTO operator_key (key_id, name, secret_sha256, masked_prefix, can_write, created_at, expires_at, last_used_at, revoked_at, row_sum)
VALUES (@key_id, @name, @secret_sha256, @masked_prefix, @can_write, @created_at, @expires_at, @last_used_at, @revoked_at, @row_sum);

-- name: OperatorKeyBySecret :one
SELECT key_id, name, can_write, expires_at, last_used_at, revoked_at FROM operator_key WHERE secret_sha256 = @secret_sha256;

-- name: OperatorKeys :many
SELECT * FROM operator_key ORDER BY key_id DESC;

-- name: OperatorKeysLock :many
-- Locked, so that of two keys that are created at once the second counts the first.
SELECT key_id FROM operator_key WHERE revoked_at = 0 ORDER BY key_id FOR UPDATE;

-- name: OperatorKeysActive :one
SELECT count(*) FROM operator_key WHERE revoked_at = 0 AND (expires_at = 0 OR expires_at > CAST(@now AS bigint));

-- name: OperatorKeyRevoke :one
UPDATE operator_key SET revoked_at = @now WHERE key_id = @key_id AND revoked_at = 0 RETURNING *;

-- name: OperatorKeyTouch :exec
UPDATE operator_key SET last_used_at = @now WHERE key_id = @key_id AND last_used_at < CAST(@before AS bigint);

-- name: WorkspaceLock :one
-- Locked, so that what is counted of a workspace stays counted. Rows that only refer
-- to the workspace can be written meanwhile: FOR UPDATE would make them wait.
SELECT erased_at FROM workspace WHERE workspace_id = @workspace_id FOR NO KEY UPDATE;

-- name: AccountKeysOf :many
SELECT sqlc.embed(k), CAST(coalesce(p.email, '') AS text) AS maker FROM account_key k LEFT JOIN person p ON p.person_id = k.made_by
WHERE k.workspace_id = @workspace_id ORDER BY k.key_id DESC;

-- name: AgentKeysOf :many
SELECT sqlc.embed(k), CAST(coalesce(p.email, '') AS text) AS maker FROM agent_key k LEFT JOIN person p ON p.person_id = k.made_by
WHERE k.workspace_id = @workspace_id ORDER BY k.key_id DESC;

-- name: AgentKeysSpent :many
-- What the agent keys of a workspace have spent since a time, as start counts it.
SELECT j.key_id, CAST(sum(j.price_cents) AS bigint) AS cents
FROM job j JOIN agent_key k ON k.key_id = j.key_id AND j.key_id <> ''
WHERE k.workspace_id = @workspace_id AND j.created_at >= @since AND j.status NOT IN ('failed', 'cancelled')
GROUP BY j.key_id;

-- name: AccountKeyRevokeOf :one
UPDATE account_key SET revoked_at = @now WHERE key_id = @key_id AND workspace_id = @workspace_id AND revoked_at = 0 RETURNING *;

-- name: AgentKeyRevokeOf :one
UPDATE agent_key SET revoked_at = @now WHERE key_id = @key_id AND workspace_id = @workspace_id AND revoked_at = 0 RETURNING *;

-- name: WorkspaceRename :one
UPDATE workspace SET name = @name WHERE workspace_id = @workspace_id AND erased_at = 0 RETURNING *;

-- name: WorkspaceDailyCents :one
UPDATE workspace SET daily_cents = @daily_cents WHERE workspace_id = @workspace_id RETURNING *;

-- name: WorkspaceTags :one
UPDATE workspace SET tags = @tags WHERE workspace_id = @workspace_id RETURNING *;

-- name: WorkspaceFramesAtOnce :one
UPDATE workspace SET frames_at_once = @frames_at_once WHERE workspace_id = @workspace_id RETURNING *;

-- name: WorkspaceArtifactDays :one
UPDATE workspace SET artifact_days = @artifact_days WHERE workspace_id = @workspace_id RETURNING *;

-- name: WorkspaceProofPage :one
UPDATE workspace SET proof_page = @proof_page WHERE workspace_id = @workspace_id RETURNING *;

-- name: SignInLinkCreate :exec
INSERT INTO sign_in_link (token_sha256, email, created_at, expires_at, used_at, row_sum)
VALUES (@token_sha256, @email, @created_at, @expires_at, @used_at, @row_sum);

-- name: SignInLinkUse :one
UPDATE sign_in_link SET used_at = @now
WHERE token_sha256 = @token_sha256 AND used_at = 0 AND expires_at > @now
RETURNING *;

-- name: SignInLinkGet :one
SELECT * FROM sign_in_link WHERE token_sha256 = @token_sha256 AND used_at = 0 AND expires_at > @now;

-- name: SignInLinksOf :one
-- How many links went to an address since a time, and to those that most mail services deliver to the same mailbox. A link
-- lives as long as it counts, so this reads the few that are open.
SELECT count(*) FROM sign_in_link WHERE (email = @email OR email LIKE CAST(@tagged AS text) ESCAPE '\')
  AND created_at > CAST(@since AS bigint) AND expires_at > CAST(@since AS bigint);

-- name: SignInLinkDelete :exec
DELETE FROM sign_in_link WHERE token_sha256 = @token_sha256;

-- name: SignInLinksEnd :exec
DELETE FROM sign_in_link WHERE expires_at <= CAST(@now AS bigint);

-- name: SessionCreate :exec
INSERT INTO session (token_sha256, person_id, created_at, expires_at, row_sum, workspace_id)
VALUES (@token_sha256, @person_id, @created_at, @expires_at, @row_sum, @workspace_id);

-- name: SessionGet :one
-- A session opens its workspace only while its person is a member there.
SELECT p.person_id, p.email, m.workspace_id, m.role, s.expires_at, CAST(coalesce(o.since, 0) AS bigint) AS operator_since
FROM session s JOIN person p ON p.person_id = s.person_id
  JOIN member m ON m.workspace_id = s.workspace_id AND m.person_id = s.person_id
  LEFT JOIN operator o ON o.person_id = p.person_id
WHERE s.token_sha256 = @token_sha256;

-- name: SessionDelete :exec
DELETE FROM session WHERE token_sha256 = @token_sha256;

-- name: SessionsEnd :exec
DELETE FROM session WHERE expires_at <= CAST(@now AS bigint);

-- name: LoginPerson :one
SELECT p.person_id, p.email, p.workspace_id FROM person_login l JOIN person p ON p.person_id = l.person_id
WHERE l.issuer = @issuer AND l.subject = @subject;

-- name: LoginCreate :exec
INSERT INTO person_login (issuer, subject, person_id, created_at, row_sum, vouched_at)
VALUES (@issuer, @subject, @person_id, @created_at, @row_sum, @vouched_at)
ON CONFLICT (issuer, subject) DO NOTHING;

-- name: LoginVouched :one
UPDATE person_login SET vouched_at = @vouched_at WHERE issuer = @issuer AND subject = @subject RETURNING *;

-- name: LoginsOf :many
SELECT * FROM person_login WHERE person_id = @person_id ORDER BY issuer, subject;

-- name: MemberDomainClaim :execrows
-- Changes nothing for a domain that another workspace has claimed.
INSERT INTO member_domain (domain, workspace_id, role, claimed_by, claimed_at, row_sum)
VALUES (@domain, @workspace_id, @role, @claimed_by, @claimed_at, @row_sum)
ON CONFLICT (domain) DO UPDATE SET role = excluded.role, claimed_by = excluded.claimed_by, claimed_at = excluded.claimed_at, row_sum = excluded.row_sum
WHERE member_domain.workspace_id = excluded.workspace_id;

-- name: MemberDomainGet :one
SELECT * FROM member_domain WHERE domain = @domain;

-- name: MemberDomainRelease :execrows
-- Of one workspace; '' = of whichever has it.
DELETE FROM member_domain WHERE domain = @domain AND CAST(@workspace_id AS text) IN ('', workspace_id);

-- name: MemberDomainsRelease :exec
-- Those that a person claimed; '' = all of the workspace.
DELETE FROM member_domain WHERE workspace_id = @workspace_id AND CAST(@claimed_by AS text) IN ('', claimed_by);

-- name: MemberDomains :many
-- Those of a workspace, or '' = of all, the newest first, after the one before.
SELECT d.domain, d.workspace_id, d.role, d.claimed_at, p.email AS claimed_by
FROM member_domain d JOIN person p ON p.person_id = d.claimed_by
WHERE CAST(@workspace_id AS text) IN ('', d.workspace_id)
  AND (CAST(@before AS text) = '' OR d.claimed_at < (SELECT b.claimed_at FROM member_domain b WHERE b.domain = @before)
    OR (d.claimed_at = (SELECT b.claimed_at FROM member_domain b WHERE b.domain = @before) AND d.domain < @before))
ORDER BY d.claimed_at DESC, d.domain DESC LIMIT CAST(@max AS bigint);

-- name: MemberLeftAdd :exec
INSERT INTO member_left (workspace_id, who_sha256, left_at, row_sum) VALUES (@workspace_id, @who_sha256, @left_at, @row_sum)
ON CONFLICT (workspace_id, who_sha256) DO NOTHING;

-- name: MemberLeft :one
-- How many of an address and a login have left a workspace.
SELECT count(*) FROM member_left WHERE workspace_id = @workspace_id AND who_sha256 IN (@address, @login);

-- name: MemberLeftErase :exec
DELETE FROM member_left WHERE workspace_id = @workspace_id;

-- name: CredentialsAlive :many
-- Of ids, a JSON array of key ids and of hashes of session tokens, those that still open
-- something.
WITH asked AS (
  SELECT json_array_elements_text(CAST(CAST(@ids AS text) AS json)) AS id
)
SELECT k.key_id FROM account_key k WHERE k.key_id IN (SELECT id FROM asked) AND k.revoked_at = 0
UNION ALL SELECT a.key_id FROM agent_key a WHERE a.key_id IN (SELECT id FROM asked) AND a.revoked_at = 0 AND (a.expires_at = 0 OR a.expires_at > CAST(@now AS bigint))
UNION ALL SELECT n.key_id FROM node_key n WHERE n.key_id IN (SELECT id FROM asked) AND n.revoked_at = 0
UNION ALL SELECT o.key_id FROM operator_key o WHERE o.key_id IN (SELECT id FROM asked) AND o.revoked_at = 0 AND (o.expires_at = 0 OR o.expires_at > CAST(@now AS bigint))
UNION ALL SELECT s.token_sha256 FROM session s WHERE s.token_sha256 IN (SELECT id FROM asked) AND s.expires_at > CAST(@now AS bigint);

-- name: Workspaces :many
-- A page of workspaces, the newest first, with what an operator asks first; an e-mail
-- address of '' means any.
SELECT w.workspace_id, w.name, w.created_at,
  CAST(coalesce((SELECT b.available_cents FROM wallet b WHERE b.workspace_id = w.workspace_id), 0) AS bigint) AS available_cents,
  CAST(coalesce((SELECT b.reserved_cents FROM wallet b WHERE b.workspace_id = w.workspace_id), 0) AS bigint) AS reserved_cents,
  (SELECT count(*) FROM job j WHERE j.workspace_id = w.workspace_id) AS jobs
FROM workspace w
WHERE w.workspace_id < @before
  AND (CAST(@email AS text) = '' OR EXISTS (SELECT 1 FROM member m JOIN person p ON p.person_id = m.person_id WHERE m.workspace_id = w.workspace_id AND p.email = CAST(@email AS text)))
ORDER BY w.workspace_id DESC
LIMIT CAST(@max AS bigint);

-- name: WorkspacesNewer :one
-- The id after which the page of newer workspaces begins that ends where a page begins; no row
-- where that page is the first.
SELECT w.workspace_id FROM workspace w
WHERE w.workspace_id >= @before
  AND (CAST(@email AS text) = '' OR EXISTS (SELECT 1 FROM member m JOIN person p ON p.person_id = m.person_id WHERE m.workspace_id = w.workspace_id AND p.email = CAST(@email AS text)))
ORDER BY w.workspace_id
LIMIT 1 OFFSET CAST(@max AS bigint);

-- name: MembersOf :many
-- The people of a workspace, the earliest first; a limit of -1 is none.
SELECT m.person_id, p.email, p.workspace_id AS home, m.role, m.since,
  CAST(CASE WHEN substr(m.added_by, 1, 1) = '@' THEN m.added_by ELSE coalesce(b.email, '') END AS text) AS added_by,
  CAST(coalesce(l.monthly_cents, -1) AS bigint) AS monthly_cents
FROM member m JOIN person p ON p.person_id = m.person_id LEFT JOIN person b ON b.person_id = m.added_by
  LEFT JOIN member_limit l ON l.workspace_id = m.workspace_id AND l.person_id = m.person_id
WHERE m.workspace_id = @workspace_id ORDER BY m.since, m.person_id;

-- name: MemberLimit :one
-- What a member may spend in a month; -1 is no limit.
SELECT CAST(coalesce(l.monthly_cents, -1) AS bigint) AS monthly_cents
FROM member m LEFT JOIN member_limit l ON l.workspace_id = m.workspace_id AND l.person_id = m.person_id
WHERE m.workspace_id = @workspace_id AND m.person_id = @person_id;

-- name: MemberLimitSet :exec
INSERT INTO member_limit (workspace_id, person_id, monthly_cents, set_by, set_at, row_sum)
VALUES (@workspace_id, @person_id, @monthly_cents, @set_by, @set_at, @row_sum)
ON CONFLICT (workspace_id, person_id) DO UPDATE SET
  monthly_cents = excluded.monthly_cents, set_by = excluded.set_by, set_at = excluded.set_at, row_sum = excluded.row_sum;

-- name: MemberLimitEnd :exec
DELETE FROM member_limit WHERE workspace_id = @workspace_id AND person_id = @person_id;

-- name: MembersSpent :many
-- What the members of a workspace have spent there since a time, as start counts it.
SELECT j.started_by AS person_id, CAST(sum(j.price_cents) AS bigint) AS cents
FROM member m JOIN job j ON j.started_by = m.person_id AND j.started_by <> '' AND j.workspace_id = m.workspace_id
WHERE m.workspace_id = @workspace_id AND j.created_at >= @since AND j.status NOT IN ('failed', 'cancelled')
GROUP BY j.started_by;

-- name: MemberCreate :execrows
INSERT INTO member (workspace_id, person_id, role, since, added_by, row_sum)
VALUES (@workspace_id, @person_id, @role, @since, @added_by, @row_sum)
ON CONFLICT (workspace_id, person_id) DO NOTHING;

-- name: MemberGet :one
SELECT * FROM member WHERE workspace_id = @workspace_id AND person_id = @person_id;

-- name: MemberSetRole :one
UPDATE member SET role = @role WHERE workspace_id = @workspace_id AND person_id = @person_id RETURNING *;

-- name: MemberDelete :exec
DELETE FROM member WHERE workspace_id = @workspace_id AND person_id = @person_id;

-- name: MemberCount :one
SELECT count(*) AS people, CAST(coalesce(sum(CASE WHEN role = 'owner' THEN 1 ELSE 0 END), 0) AS bigint) AS owners
FROM member WHERE workspace_id = @workspace_id;

-- name: WorkspacesOf :many
-- The workspaces of a person.
SELECT m.workspace_id, w.name, m.role FROM member m JOIN workspace w ON w.workspace_id = m.workspace_id
WHERE m.person_id = @person_id ORDER BY w.name, m.workspace_id;

-- name: AuditMembers :many
-- Workspaces that have people and no owner, and people whose sign-in would open a workspace
-- that they are not in. The owner of a guest's workspace may never have entered the test world.
SELECT w.workspace_id AS subject, CAST('owner' AS text) AS lacks FROM workspace w
WHERE EXISTS (SELECT 1 FROM member m WHERE m.workspace_id = w.workspace_id AND m.added_by <> 'test mode')
  AND NOT EXISTS (SELECT 1 FROM member m WHERE m.workspace_id = w.workspace_id AND m.role = 'owner')
UNION ALL
SELECT p.person_id, CAST('home' AS text) FROM person p
WHERE NOT EXISTS (SELECT 1 FROM member m WHERE m.workspace_id = p.workspace_id AND m.person_id = p.person_id)
ORDER BY 1 LIMIT 100;

-- name: PersonLock :one
-- Locked, so that the workspace that a sign-in opens is chosen by one change at a time.
SELECT * FROM person WHERE person_id = @person_id FOR NO KEY UPDATE;

-- name: PersonHome :one
UPDATE person SET workspace_id = @workspace_id WHERE person_id = @person_id RETURNING *;

-- name: MemberSessionsEnd :exec
DELETE FROM session WHERE workspace_id = @workspace_id AND person_id = @person_id;

-- name: MemberAccountKeysRevoke :many
UPDATE account_key SET revoked_at = @now WHERE workspace_id = @workspace_id AND made_by = @made_by AND revoked_at = 0 RETURNING *;

-- name: MemberAgentKeysRevoke :many
UPDATE agent_key SET revoked_at = @now WHERE workspace_id = @workspace_id AND made_by = @made_by AND revoked_at = 0 RETURNING *;

-- name: WorkspaceErase :one
-- The time of the first erasure stays.
UPDATE workspace SET name = '', proof_page = 0, erased_at = CASE WHEN erased_at = 0 THEN CAST(@now AS bigint) ELSE erased_at END
WHERE workspace_id = @workspace_id RETURNING *;

-- name: AccountKeysErase :many
UPDATE account_key SET name = '', revoked_at = CASE WHEN revoked_at = 0 THEN CAST(@now AS bigint) ELSE revoked_at END
WHERE workspace_id = @workspace_id RETURNING *;

-- name: AgentKeysErase :many
UPDATE agent_key SET name = '', revoked_at = CASE WHEN revoked_at = 0 THEN CAST(@now AS bigint) ELSE revoked_at END
WHERE workspace_id = @workspace_id RETURNING *;

-- name: SessionsErase :exec
DELETE FROM session WHERE workspace_id = @workspace_id;

-- name: PersonSessionsErase :exec
DELETE FROM session WHERE person_id = @person_id;

-- name: LoginsErase :exec
DELETE FROM person_login WHERE person_id = @person_id;

-- name: SignInLinksErase :exec
DELETE FROM sign_in_link WHERE email = @email;

-- name: PersonErase :exec
DELETE FROM person WHERE person_id = @person_id;

-- name: SessionsOf :many
-- The sessions of the person that the given session belongs to, the newest
-- first.
SELECT CAST(CASE WHEN s.token_sha256 = @token_sha256 THEN 1 ELSE 0 END AS bigint) AS own, s.created_at, s.expires_at
FROM session s JOIN session mine ON mine.person_id = s.person_id
WHERE mine.token_sha256 = @token_sha256 AND s.expires_at > CAST(@now AS bigint)
ORDER BY s.created_at DESC, s.token_sha256;

-- name: SessionsEndOthers :execrows
-- Ends those sessions but one.
DELETE FROM session AS s
WHERE s.token_sha256 <> @token_sha256 AND s.person_id IN (SELECT mine.person_id FROM session mine WHERE mine.token_sha256 = @token_sha256);

-- name: OperatorAdd :execrows
INSERT INTO operator (person_id, since, row_sum) VALUES (@person_id, @since, @row_sum) ON CONFLICT (person_id) DO NOTHING;

-- name: OperatorRemove :execrows
DELETE FROM operator WHERE person_id = @person_id;

-- name: Operators :many
SELECT p.email, p.workspace_id, o.since FROM operator o JOIN person p ON p.person_id = o.person_id ORDER BY o.since, p.email;

-- name: InvitationCreate :exec
INSERT INTO invitation (invitation_id, workspace_id, email, role, invited_by, token_sha256, created_at, expires_at, ended_at, row_sum)
VALUES (@invitation_id, @workspace_id, @email, @role, @invited_by, @token_sha256, @created_at, @expires_at, @ended_at, @row_sum);

-- name: InvitationGet :one
SELECT i.invitation_id, i.workspace_id, i.email, i.role, i.expires_at, i.ended_at, w.name, CAST(coalesce(p.email, '') AS text) AS invited_by
FROM invitation i JOIN workspace w ON w.workspace_id = i.workspace_id LEFT JOIN person p ON p.person_id = i.invited_by
WHERE i.invitation_id = @invitation_id;

-- name: InvitationByToken :one
SELECT * FROM invitation WHERE token_sha256 = @token_sha256;

-- name: InvitationEnd :one
UPDATE invitation SET ended_at = @now WHERE invitation_id = @invitation_id AND workspace_id = @workspace_id AND ended_at = 0 RETURNING *;

-- name: InvitationsReplace :many
UPDATE invitation SET ended_at = @now WHERE workspace_id = @workspace_id AND email = @email AND ended_at = 0 RETURNING *;

-- name: InvitationsEndBy :many
-- The open invitations that a person sent.
UPDATE invitation SET ended_at = @now WHERE workspace_id = @workspace_id AND invited_by = @invited_by AND ended_at = 0 RETURNING *;

-- name: InvitationsOf :many
-- The open invitations to a workspace, the newest first.
SELECT i.invitation_id, i.email, i.role, i.created_at, i.expires_at, CAST(coalesce(p.email, '') AS text) AS invited_by
FROM invitation i LEFT JOIN person p ON p.person_id = i.invited_by
WHERE i.workspace_id = @workspace_id AND i.ended_at = 0 AND i.expires_at > CAST(@now AS bigint)
ORDER BY i.created_at DESC, i.invitation_id;

-- name: InvitationsLately :one
-- How many invitations a workspace has sent since a time, and how many are open.
SELECT CAST(coalesce(sum(CASE WHEN created_at > CAST(@since AS bigint) THEN 1 ELSE 0 END), 0) AS bigint) AS sent,
  CAST(coalesce(sum(CASE WHEN ended_at = 0 AND expires_at > CAST(@now AS bigint) THEN 1 ELSE 0 END), 0) AS bigint) AS open
FROM invitation WHERE workspace_id = @workspace_id;

-- name: InvitationsToLock :exec
-- Of two workspaces that invite an address at once, the second counts the first's.
SELECT pg_advisory_xact_lock(hashtextextended('invitations to ' || CAST(@email AS text), 0));

-- name: InvitationsTo :one
-- How many invitations an address was sent since a time, by any workspace.
SELECT count(*) FROM invitation WHERE email = @email AND created_at > CAST(@since AS bigint);

-- name: InvitationsForget :execrows
DELETE FROM invitation WHERE expires_at <= CAST(@before AS bigint);

-- name: InvitationsSince :many
-- The invitations to a workspace that count against their addresses.
SELECT * FROM invitation WHERE workspace_id = @workspace_id AND created_at > CAST(@since AS bigint);

-- name: InvitationHide :one
-- Of an invitation to an erased workspace only what counts against its address stays.
UPDATE invitation SET email = @email, expires_at = @expires_at, ended_at = CASE WHEN ended_at = 0 THEN CAST(@now AS bigint) ELSE ended_at END
WHERE invitation_id = @invitation_id RETURNING *;

-- name: InvitationsErase :exec
DELETE FROM invitation WHERE workspace_id = @workspace_id AND created_at <= CAST(@before AS bigint);

-- name: InvitationsEraseTo :exec
DELETE FROM invitation WHERE email = @email;

-- name: AccountKeysForget :many
-- Takes an erased person out of the keys that they made.
UPDATE account_key SET made_by = '' WHERE made_by = @made_by AND made_by <> '' RETURNING *;

-- name: AgentKeysForget :many
UPDATE agent_key SET made_by = '' WHERE made_by = @made_by AND made_by <> '' RETURNING *;
