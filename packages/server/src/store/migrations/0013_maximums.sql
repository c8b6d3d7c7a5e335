-- How many of each an organization may have, where the operator set another maximum for it than the configuration's: {"apiTokens": 50}.
ALTER TABLE organization_limit ADD COLUMN maximums json NOT NULL DEFAULT '{}';

-- The tokens that count for their maximum: a revoked one keeps its row.
CREATE INDEX api_token_living ON api_token (organization_id) WHERE revoked_at IS NULL;
