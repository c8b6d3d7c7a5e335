-- When a job is ended as a whole, whatever its step does until then: looked for apart from `wake_at`, since it takes no room for a call.
-- Jobs of definitions without a timeout have none, and are in no part of the index.
ALTER TABLE job ADD COLUMN timeout_at timestamptz;
CREATE INDEX job_timeout ON job (timeout_at) WHERE timeout_at IS NOT NULL AND finished_at IS NULL;
