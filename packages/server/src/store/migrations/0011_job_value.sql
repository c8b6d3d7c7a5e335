-- Large values of jobs, each written once: the job's state and its history name them by their numbers. The number is the sequence of the history entry that
-- brought the value; a negative one is an extract of values that the commit with this sequence brought. It goes with its job.
CREATE TABLE job_value (
  organization_id uuid NOT NULL,
  job_id uuid NOT NULL,
  value_number integer NOT NULL,
  bytes integer NOT NULL,
  value json NOT NULL,
  PRIMARY KEY (organization_id, job_id, value_number)
);
SELECT distribute('job_value');
-- The state of a job that names values by their numbers. Its `state` is a JSON null then: a node of an earlier release, which would take the missing values for
-- absent ones, fails on it and changes nothing.
ALTER TABLE job ADD COLUMN short_state json;
