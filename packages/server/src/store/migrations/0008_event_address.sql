-- The one visit of a wait step that an event was sent for; null where it is for whichever wait comes first.
ALTER TABLE job_event ADD COLUMN for_step text;
ALTER TABLE job_event ADD COLUMN for_visit integer;
ALTER TABLE job_event ADD CONSTRAINT job_event_address_whole CHECK ((for_step IS NULL) = (for_visit IS NULL)) NOT VALID;
