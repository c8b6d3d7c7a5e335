-- How many of each an organization may have, where the operator set another maximum for it than the configuration's: {"apiTokens": 50}.
ALTER TABLE organization_limit ADD COLUMN maximums json NOT NULL DEFAULT '{}';

-- The tokens that count for their maximum: a revoked one keeps its row.
CREATE INDEX api_token_living ON api_token (organization_id) WHERE revoked_at IS NULL;

-- Who made an organization, where a person did: deleted organizations have no row here, and so do not count. The audit trail knows it of earlier ones.
ALTER TABLE organization_key ADD COLUMN created_by uuid;
UPDATE organization_key SET created_by = made.actor_id
FROM (
  SELECT organization_id, actor_id FROM audit_entry
  WHERE action = 'CreateOrganization' AND outcome = 'accepted' AND actor ->> 'type' = 'user'
) AS made
WHERE made.organization_id = organization_key.organization_id;
CREATE INDEX organization_key_created_by ON organization_key (created_by) WHERE created_by IS NOT NULL;

-- How many organizations an account may create; NULL: as configured.
ALTER TABLE app_user ADD COLUMN max_organizations integer;

-- What organizations store is summed up like a metric, from now on. Each earlier job counts as much as the average of all, since to measure them would take
-- as long as to read them.
INSERT INTO metric_rollup (organization_id, workflow_id, measure, bucket_seconds, bucket, duration_class, count, total_ms, max_ms)
SELECT organization_id, workflow_id, 'storedBytes', bucket_seconds, 0, 0,
  (sum(count) * (SELECT (pg_total_relation_size('job') + pg_total_relation_size('job_history') + pg_total_relation_size('job_value')
    + pg_total_relation_size('job_event')) / greatest(sum(count), 1)
    FROM metric_rollup
    WHERE workflow_id = '00000000-0000-0000-0000-000000000000' AND measure = 'jobsSubmitted' AND bucket_seconds = 86400))::bigint, 0, 0
FROM metric_rollup
WHERE workflow_id = '00000000-0000-0000-0000-000000000000' AND measure = 'jobsSubmitted' AND bucket_seconds = 86400
GROUP BY organization_id, workflow_id, bucket_seconds;
