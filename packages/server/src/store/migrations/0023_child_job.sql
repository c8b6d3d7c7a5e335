-- A child job was made by a step of another one, its parent: {jobId, rootJobId, depth, branch, step, visit}. NULL for every other job, and never changed.
ALTER TABLE job ADD COLUMN parent json;

-- Once the child is made, no node holds the parent's call, and the child's end ends it.
ALTER TABLE job_call ADD COLUMN child_job_id uuid;
ALTER TABLE job_call DROP CONSTRAINT job_call_has_holder;
ALTER TABLE job_call ADD CONSTRAINT job_call_has_holder
  CHECK (node_id IS NOT NULL OR queue IS NOT NULL OR child_job_id IS NOT NULL) NOT VALID;

-- The children of a job.
CREATE TABLE child_job (
  organization_id uuid NOT NULL,
  parent_job_id uuid NOT NULL,
  job_id uuid NOT NULL,
  PRIMARY KEY (organization_id, parent_job_id, job_id)
);
SELECT distribute('child_job');
ALTER TABLE child_job ADD CONSTRAINT child_job_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);

-- How many jobs there are below a job without a parent. It has a row as soon as there is one.
CREATE TABLE job_tree (
  organization_id uuid NOT NULL,
  root_job_id uuid NOT NULL,
  descendant_count integer NOT NULL,
  PRIMARY KEY (organization_id, root_job_id)
);
SELECT distribute('job_tree');
ALTER TABLE job_tree ADD CONSTRAINT job_tree_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
-- Every commit that makes children counts them here.
ALTER TABLE job_tree SET (fillfactor = 50);

-- A notice that one job owes another, written in the commit that brings it and deleted once it is delivered. To a parent: how its child ended (`outcome`; `branch`,
-- `step` and `visit` are those of the parent's call). To a child: that the parent does not wait for it any more (`outcome` is NULL).
CREATE TABLE job_notice (
  organization_id uuid NOT NULL,
  job_id uuid NOT NULL,
  sender_job_id uuid NOT NULL,
  epoch integer NOT NULL,
  branch text NOT NULL,
  step text NOT NULL,
  visit integer NOT NULL,
  outcome json,
  -- The node that wrote it delivers it; the others do where it is late.
  node_id uuid NOT NULL,
  said_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, job_id, sender_job_id, epoch)
);
SELECT distribute('job_notice');
ALTER TABLE job_notice ADD CONSTRAINT job_notice_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
CREATE INDEX job_notice_by_time ON job_notice (said_at);
