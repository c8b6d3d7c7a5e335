-- What one commit adds to an organization's metrics. Only inserted and deleted, so no two commits wait for each other over a counter. A
-- duty folds these rows into the rollups and deletes them.
CREATE TABLE metric_change (
  organization_id uuid NOT NULL,
  change_id uuid NOT NULL,
  changes json NOT NULL,
  PRIMARY KEY (organization_id, change_id)
);
SELECT distribute('metric_change');

-- The sums of one hour or one day. A row counts jobs or steps; of durations there is one row for each class of nearly equal ones. The rows with
-- the nil workflow are the sums over all workflows, so that a metric of all of them reads as few rows as a metric of one.
CREATE TABLE metric_rollup (
  organization_id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  measure text NOT NULL,
  bucket_seconds integer NOT NULL,
  bucket integer NOT NULL,
  duration_class smallint NOT NULL,
  count bigint NOT NULL,
  total_ms bigint NOT NULL,
  max_ms bigint NOT NULL,
  PRIMARY KEY (organization_id, workflow_id, measure, bucket_seconds, bucket, duration_class)
);
SELECT distribute('metric_rollup');
ALTER TABLE metric_rollup ADD CONSTRAINT metric_rollup_bucket_known CHECK (bucket_seconds IN (3600, 86400));

-- Of history rows that are there now, NULL: nobody can write another one, so they are a fixed set that is walked once (metric_backlog). A
-- node of an earlier release writes false, and so does a commit that cannot tell when its step began: a duty counts these and says true.
ALTER TABLE job_history ADD COLUMN counted boolean;
ALTER TABLE job_history ALTER COLUMN counted SET DEFAULT false;
CREATE INDEX job_history_uncounted ON job_history (organization_id, job_id, first_sequence) WHERE NOT counted;

-- How far the fixed set is counted: all from this key on, the newest first. Without a row all is.
CREATE TABLE metric_backlog (
  organization_id uuid NOT NULL PRIMARY KEY,
  before_job_id uuid NOT NULL,
  before_sequence integer NOT NULL
);
SELECT distribute('metric_backlog');
INSERT INTO metric_backlog (organization_id, before_job_id, before_sequence)
SELECT organization_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0 FROM organization;

-- Only the metrics looked for jobs and commits by these times.
DROP INDEX job_finished;
DROP INDEX job_history_committed;

-- A list of one workflow's jobs in one status. Nearly all jobs succeed, and these are found through job_by_workflow.
CREATE INDEX job_by_workflow_status ON job (organization_id, workflow_id, status, job_id) WHERE status <> 'SUCCEEDED';
-- Retention looks for expired keys by their age.
CREATE INDEX idempotency_key_created ON idempotency_key (created_at);
