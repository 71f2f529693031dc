-- +goose Up

-- Whose turn it is. A row for each workspace that ever rendered, and one for
-- each job that has frames to render. Counters move by steps, so that two
-- transactions that meet add up.
CREATE TABLE turn (
  party      text PRIMARY KEY, -- a workspace or a job
  within     text NOT NULL,    -- '' of a workspace; the workspace of a job
  waiting    bigint NOT NULL DEFAULT 0 CHECK (waiting >= 0), -- frames that are not held
  served_us  bigint NOT NULL DEFAULT 0, -- workers' time it had, held against its rivals'
  counted_us bigint NOT NULL DEFAULT 0  -- of a job: how much of its frames' time is in served_us
);
CREATE INDEX turn_next ON turn (within, served_us, party) WHERE waiting > 0;
CREATE INDEX turn_of ON turn (within, served_us);

INSERT INTO turn (party, within, waiting)
SELECT j.job_id, j.workspace_id, (SELECT count(*) FROM lease l WHERE l.queue = 'frame' AND l.subject = j.job_id AND l.state = 'waiting')
FROM job j WHERE j.status IN ('queued', 'rendering');
INSERT INTO turn (party, within, waiting)
SELECT within, '', CAST(sum(waiting) AS bigint) FROM turn GROUP BY within;

-- Tries that came to nothing: who tried, and why it failed. A piece of work does
-- not go to the same holder again while others are there. Kept with the job: its
-- log shows them.
CREATE TABLE failed_try (
  lease_id     text NOT NULL,
  attempt      bigint NOT NULL,
  subject      text NOT NULL, -- the lease's
  item         bigint NOT NULL,
  holder       text NOT NULL,
  code         text NOT NULL,
  message      text NOT NULL,
  log          text NOT NULL DEFAULT '',
  lacks        bigint NOT NULL DEFAULT 0, -- 1: this worker cannot render this job at all
  pixel_sha256 text NOT NULL DEFAULT '',  -- of a picture that was doubted
  failed_at    bigint NOT NULL,
  PRIMARY KEY (lease_id, attempt)
);
CREATE INDEX failed_try_of ON failed_try (subject, failed_at);
CREATE INDEX failed_try_by_holder ON failed_try (holder, subject, item);

ALTER TABLE worker ADD COLUMN sandbox text NOT NULL DEFAULT ''; -- what is in force around its Blender
-- A worker's standing: see render/standing.go.
ALTER TABLE worker ADD COLUMN strikes bigint NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN asides bigint NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN aside_until bigint NOT NULL DEFAULT 0;

-- What the frame check found and let pass: '', 'uniform', 'blank' or 'pink'.
ALTER TABLE frame ADD COLUMN finding text NOT NULL DEFAULT '';
ALTER TABLE frame ADD COLUMN blank bigint NOT NULL DEFAULT 0; -- rows of one colour at the edge, parts in a thousand

-- +goose Down
ALTER TABLE frame DROP COLUMN blank;
ALTER TABLE frame DROP COLUMN finding;
ALTER TABLE worker DROP COLUMN aside_until;
ALTER TABLE worker DROP COLUMN asides;
ALTER TABLE worker DROP COLUMN strikes;
ALTER TABLE worker DROP COLUMN sandbox;
DROP TABLE failed_try;
DROP TABLE turn;
