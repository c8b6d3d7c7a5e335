-- The lease epoch under which the job's call has begun. Where it is another epoch than `lease_epoch`, the call that is owed now still waits
-- on its node: a node that dies has not interrupted it.
ALTER TABLE job ADD COLUMN begun_epoch integer;
-- Which of the calls under way had begun nobody has noted: they count as begun, as they did before.
UPDATE job SET begun_epoch = lease_epoch WHERE node_id IS NOT NULL;
