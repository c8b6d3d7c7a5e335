-- The branch of the wait for which an event was sent, and of the one that consumed it; null for the main line.
ALTER TABLE job_event ADD COLUMN for_branch text;
ALTER TABLE job_event ADD COLUMN consumed_by_branch text;
