-- A call that a job owes the outside or has under way, at most one in each branch of the job ('' is its own line of steps). The commit that makes the call
-- writes the row, and the one that ends it deletes the row. The epoch, counted by `job.lease_epoch`, is the call's alone.
CREATE TABLE job_call (
  organization_id uuid NOT NULL,
  job_id uuid NOT NULL,
  branch text NOT NULL,
  version_id uuid NOT NULL,
  step text NOT NULL,
  visit integer NOT NULL,
  epoch integer NOT NULL,
  node_id uuid NOT NULL,
  begun boolean NOT NULL,
  ready_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, job_id, branch)
);
SELECT distribute('job_call');
ALTER TABLE job_call ADD CONSTRAINT job_call_counts CHECK (visit > 0 AND epoch > 0);
CREATE INDEX job_call_by_node ON job_call (node_id);
-- A call that had to wait is marked when it begins, and a chain of calls writes its row again for each: with room in the page neither touches an index.
ALTER TABLE job_call SET (fillfactor = 85);

INSERT INTO job_call (organization_id, job_id, branch, version_id, step, visit, epoch, node_id, begun, ready_at)
SELECT organization_id, job_id, '', version_id, coalesce(short_state, state) #>> '{step,name}',
  (coalesce(short_state, state) #>> '{step,visit}')::integer, lease_epoch, node_id, coalesce(begun_epoch = lease_epoch, false), updated_at
FROM job
WHERE node_id IS NOT NULL;

-- How many rows in `job_call` the job has, for the constraints alone.
ALTER TABLE job ADD COLUMN call_count integer NOT NULL DEFAULT 0;
UPDATE job SET call_count = 1 WHERE node_id IS NOT NULL;
-- The index and four constraints go with it.
ALTER TABLE job DROP COLUMN node_id, DROP COLUMN begun_epoch;
-- Every row that is there fits the constraints of before, which forbade more: they need not be read again.
ALTER TABLE job ADD CONSTRAINT job_finished_is_at_rest CHECK (finished_at IS NULL OR (call_count = 0 AND wake_at IS NULL)) NOT VALID;
ALTER TABLE job ADD CONSTRAINT job_unfinished_can_move
  CHECK (finished_at IS NOT NULL OR call_count > 0 OR wake_at IS NOT NULL OR awaiting_event_ids IS NOT NULL) NOT VALID;
ALTER TABLE job ADD CONSTRAINT job_calling_is_running CHECK (call_count = 0 OR (call_count > 0 AND status = 'RUNNING')) NOT VALID;
ALTER TABLE job ADD CONSTRAINT job_waiting_is_running CHECK (awaiting_event_ids IS NULL OR status = 'RUNNING') NOT VALID;
