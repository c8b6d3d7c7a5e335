-- One dialect, three homes: PGlite, a PostgreSQL server, and Citus sharded by organization (docs/store.md).

-- Gives a table to the shards where there are any; elsewhere it does nothing.
CREATE FUNCTION distribute(table_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
    EXECUTE format('SELECT create_distributed_table(%L, %L)', table_name, 'organization_id');
  END IF;
END $$;

-- People and nodes belong to no organization.
CREATE TABLE app_user (
  user_id uuid PRIMARY KEY,
  email text NOT NULL,
  display_name text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX app_user_email ON app_user (lower(email));

CREATE TABLE user_token (
  user_id uuid NOT NULL REFERENCES app_user,
  token_id uuid NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (user_id, token_id)
);
CREATE UNIQUE INDEX user_token_hash ON user_token (user_id, token_hash);

-- In which organizations a user is a member: the way in from a user, who knows no organization yet.
CREATE TABLE user_organization (
  user_id uuid NOT NULL REFERENCES app_user,
  organization_id uuid NOT NULL,
  PRIMARY KEY (user_id, organization_id)
);

CREATE TABLE user_idempotency_key (
  user_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  request_hash bytea NOT NULL,
  claim_id uuid NOT NULL,
  answer json,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, idempotency_key)
);

CREATE TABLE node (
  node_id uuid PRIMARY KEY,
  name text NOT NULL,
  started_at timestamptz NOT NULL,
  heartbeat_at timestamptz NOT NULL
);

CREATE TABLE organization (
  organization_id uuid PRIMARY KEY,
  name text NOT NULL,
  display_name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz
);
SELECT distribute('organization');

CREATE TABLE member (
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  roles text[] NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, user_id)
);
SELECT distribute('member');
ALTER TABLE member ADD CONSTRAINT member_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);

CREATE TABLE api_token (
  organization_id uuid NOT NULL,
  token_id uuid NOT NULL,
  name text NOT NULL,
  permissions text[] NOT NULL,
  token_hash bytea NOT NULL,
  token_prefix text NOT NULL,
  created_by json NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (organization_id, token_id)
);
SELECT distribute('api_token');
ALTER TABLE api_token ADD CONSTRAINT api_token_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
CREATE UNIQUE INDEX api_token_hash ON api_token (organization_id, token_hash);

CREATE TABLE idempotency_key (
  organization_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  request_hash bytea NOT NULL,
  claim_id uuid NOT NULL,
  answer json,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, idempotency_key)
);
SELECT distribute('idempotency_key');

CREATE TABLE workflow (
  organization_id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  name text NOT NULL,
  created_by json NOT NULL,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (organization_id, workflow_id)
);
SELECT distribute('workflow');
ALTER TABLE workflow ADD CONSTRAINT workflow_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
CREATE UNIQUE INDEX workflow_name ON workflow (organization_id, name) WHERE deleted_at IS NULL;

CREATE TABLE workflow_version (
  organization_id uuid NOT NULL,
  version_id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  version_number integer NOT NULL,
  definition text NOT NULL,
  created_by json NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, version_id)
);
SELECT distribute('workflow_version');
ALTER TABLE workflow_version ADD CONSTRAINT workflow_version_workflow
  FOREIGN KEY (organization_id, workflow_id) REFERENCES workflow (organization_id, workflow_id);
CREATE UNIQUE INDEX workflow_version_number ON workflow_version (organization_id, workflow_id, version_number);

CREATE TABLE workflow_tag (
  organization_id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  tag text NOT NULL,
  version_id uuid NOT NULL,
  version_number integer NOT NULL,
  updated_by json NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, workflow_id, tag)
);
SELECT distribute('workflow_tag');
ALTER TABLE workflow_tag ADD CONSTRAINT workflow_tag_version
  FOREIGN KEY (organization_id, version_id) REFERENCES workflow_version (organization_id, version_id);

-- What a tag meant and when, numbered from 1; version_id is NULL where the tag was deleted.
CREATE TABLE workflow_tag_history (
  organization_id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  tag text NOT NULL,
  change_number integer NOT NULL,
  version_id uuid,
  version_number integer,
  changed_by json NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, workflow_id, tag, change_number)
);
SELECT distribute('workflow_tag_history');
ALTER TABLE workflow_tag_history ADD CONSTRAINT workflow_tag_history_workflow
  FOREIGN KEY (organization_id, workflow_id) REFERENCES workflow (organization_id, workflow_id);

-- One row a job: its whole state, so that one row lock is the root of every change. No foreign key to the version: versions are
-- never deleted, and the check would cost the hot path a look-up for every row (docs/decisions.md).
CREATE TABLE job (
  organization_id uuid NOT NULL,
  job_id uuid NOT NULL,
  workflow_id uuid NOT NULL,
  workflow_name text NOT NULL,
  version_id uuid NOT NULL,
  version_number integer NOT NULL,
  tag text,
  status text NOT NULL,
  sequence integer NOT NULL,
  lease_epoch integer NOT NULL,
  node_id uuid,
  wake_at timestamptz,
  awaiting_event_ids text[],
  state json NOT NULL,
  input json NOT NULL,
  submitted_by json NOT NULL,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  updated_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (organization_id, job_id)
);
SELECT distribute('job');
ALTER TABLE job ADD CONSTRAINT job_status_known CHECK (status IN ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'));
ALTER TABLE job ADD CONSTRAINT job_finished_has_time CHECK ((finished_at IS NOT NULL) = (status IN ('SUCCEEDED', 'FAILED', 'CANCELLED')));
ALTER TABLE job ADD CONSTRAINT job_finished_is_at_rest CHECK (finished_at IS NULL OR (node_id IS NULL AND wake_at IS NULL));
ALTER TABLE job ADD CONSTRAINT job_unfinished_can_move
  CHECK (finished_at IS NOT NULL OR node_id IS NOT NULL OR wake_at IS NOT NULL OR awaiting_event_ids IS NOT NULL);
ALTER TABLE job ADD CONSTRAINT job_owned_is_running CHECK (node_id IS NULL OR status = 'RUNNING');
ALTER TABLE job ADD CONSTRAINT job_waiting_is_running CHECK (awaiting_event_ids IS NULL OR (status = 'RUNNING' AND node_id IS NULL));
ALTER TABLE job ADD CONSTRAINT job_started_has_time CHECK (status <> 'RUNNING' OR started_at IS NOT NULL);
ALTER TABLE job ADD CONSTRAINT job_counts CHECK (sequence > 0 AND lease_epoch >= 0);
-- Ids are in the order of their time, so the primary key serves the newest-first list as well.
CREATE INDEX job_by_workflow ON job (organization_id, workflow_id, job_id);
-- Nearly all jobs succeed; only the others are looked for by status, and only they pay for an index.
CREATE INDEX job_by_status ON job (organization_id, status, job_id) WHERE status <> 'SUCCEEDED';
CREATE INDEX job_due ON job (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX job_owned ON job (node_id) WHERE node_id IS NOT NULL;
CREATE INDEX job_awaiting ON job USING gin (awaiting_event_ids) WHERE awaiting_event_ids IS NOT NULL;
-- Block ranges cost next to nothing to write, and rows lie in the order of time.
CREATE INDEX job_finished ON job USING brin (finished_at);

-- Append-only; one row per commit, which holds that commit's entries in order.
CREATE TABLE job_history (
  organization_id uuid NOT NULL,
  job_id uuid NOT NULL,
  first_sequence integer NOT NULL,
  last_sequence integer NOT NULL,
  commit_id uuid NOT NULL,
  committed_at timestamptz NOT NULL,
  entries json NOT NULL,
  PRIMARY KEY (organization_id, job_id, first_sequence)
);
SELECT distribute('job_history');
ALTER TABLE job_history ADD CONSTRAINT job_history_in_order CHECK (last_sequence >= first_sequence);
CREATE INDEX job_history_committed ON job_history USING brin (committed_at);

CREATE TABLE job_event (
  organization_id uuid NOT NULL,
  job_id uuid NOT NULL,
  event_number integer NOT NULL,
  event_id text NOT NULL,
  payload json,
  outcome text NOT NULL,
  sent_by json NOT NULL,
  received_at timestamptz NOT NULL,
  duplicate_count integer NOT NULL DEFAULT 0,
  last_duplicate_at timestamptz,
  consumed_by_step text,
  consumed_by_visit integer,
  consumed_at timestamptz,
  PRIMARY KEY (organization_id, job_id, event_number)
);
SELECT distribute('job_event');
ALTER TABLE job_event ADD CONSTRAINT job_event_outcome_known CHECK (outcome IN ('matched', 'buffered', 'unmatched'));
ALTER TABLE job_event ADD CONSTRAINT job_event_consumed_whole
  CHECK ((consumed_at IS NULL) = (consumed_by_step IS NULL) AND (consumed_at IS NULL) = (consumed_by_visit IS NULL));
