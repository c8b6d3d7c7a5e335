-- A job may keep thousands of events that no step of its definition lists. An event with an unlisted id is looked up among these only, by its id.
CREATE INDEX job_event_unmatched ON job_event (organization_id, job_id, event_id) WHERE outcome = 'unmatched';
