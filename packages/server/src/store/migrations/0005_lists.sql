-- Workflows are listed by name, byte by byte and alike at every home of the store, whatever its default order of letters is. The unique index
-- of the names is built anew in this order and serves the list as well.
ALTER TABLE workflow ALTER COLUMN name TYPE text COLLATE "C";
-- For jobs that are looked for by the name of their workflow, also of one that is deleted.
CREATE INDEX workflow_by_name ON workflow (organization_id, name);

-- The number behind the job lets the index alone pass over other versions' jobs, at an eighth more of its size (docs/decisions.md).
DROP INDEX job_by_workflow;
CREATE INDEX job_by_workflow ON job (organization_id, workflow_id, job_id, version_number);
