-- A task is a call that waits for a worker: no node holds it. `lease_until` is NULL until a worker takes it, and then says for how long the worker holds it.
ALTER TABLE job_call ALTER COLUMN node_id DROP NOT NULL;
ALTER TABLE job_call
  ADD COLUMN queue text COLLATE "C",
  ADD COLUMN priority smallint,
  ADD COLUMN workflow_id uuid,
  -- Equal to `ready_at` of a task. An index on `ready_at` itself would be written again for each call of a chain that nodes make.
  ADD COLUMN queued_at timestamptz,
  ADD COLUMN heartbeat_ms integer,
  ADD COLUMN timeout_at timestamptz,
  ADD COLUMN worker text,
  ADD COLUMN taken_at timestamptz,
  ADD COLUMN lease_until timestamptz,
  ADD COLUMN progress json;
ALTER TABLE job_call ADD CONSTRAINT job_call_has_holder CHECK (node_id IS NOT NULL OR queue IS NOT NULL) NOT VALID;
ALTER TABLE job_call ADD CONSTRAINT job_call_task_is_whole CHECK (
  (queue IS NULL AND queued_at IS NULL AND lease_until IS NULL)
  OR (queue IS NOT NULL AND priority IS NOT NULL AND workflow_id IS NOT NULL AND queued_at IS NOT NULL AND heartbeat_ms > 0)) NOT VALID;
ALTER TABLE job_call ADD CONSTRAINT job_call_lease_has_worker CHECK ((lease_until IS NULL) = (worker IS NULL)) NOT VALID;
CREATE INDEX job_call_waiting ON job_call (organization_id, queue, priority, workflow_id, queued_at, job_id)
  WHERE queue IS NOT NULL AND lease_until IS NULL;
CREATE INDEX job_call_held ON job_call (organization_id, queue, worker) WHERE lease_until IS NOT NULL;
CREATE INDEX job_call_lease ON job_call (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX job_call_timeout ON job_call (timeout_at) WHERE timeout_at IS NOT NULL;
-- The search for calls of dead nodes looks at calls of nodes alone, however many tasks wait.
DROP INDEX job_call_by_node;
CREATE INDEX job_call_by_node ON job_call (node_id) WHERE node_id IS NOT NULL;

-- A queue that somebody paused, or that workers have asked for tasks. A queue with nothing but tasks needs no row.
CREATE TABLE task_queue (
  organization_id uuid NOT NULL,
  queue text COLLATE "C" NOT NULL,
  polled_at timestamptz,
  paused_at timestamptz,
  paused_by json,
  PRIMARY KEY (organization_id, queue)
);
SELECT distribute('task_queue');
ALTER TABLE task_queue ADD CONSTRAINT task_queue_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);

-- A worker that has asked a queue for tasks; forgotten a day after it did last.
CREATE TABLE task_worker (
  organization_id uuid NOT NULL,
  queue text COLLATE "C" NOT NULL,
  worker text NOT NULL,
  first_polled_at timestamptz NOT NULL,
  polled_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, queue, worker)
);
SELECT distribute('task_worker');
ALTER TABLE task_worker ADD CONSTRAINT task_worker_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
CREATE INDEX task_worker_by_time ON task_worker (polled_at);
