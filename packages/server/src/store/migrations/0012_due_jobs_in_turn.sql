-- Due jobs are looked for version by version when there are many: so that those of one organization, or of a version that a node cannot
-- compile, are not read past to find the others'. Waits stand apart, since they are woken however many calls are under way.
CREATE INDEX job_due_wait ON job (organization_id, version_id, wake_at) WHERE wake_at IS NOT NULL AND awaiting_event_ids IS NOT NULL;
CREATE INDEX job_due_step ON job (organization_id, version_id, wake_at) WHERE wake_at IS NOT NULL AND awaiting_event_ids IS NULL;
