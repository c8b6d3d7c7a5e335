-- Sign-in, members and roles, narrow tokens, audit, rate limits.

-- People. What a stolen copy of the store could be used with is hashed, or encrypted under the service's secret key.
ALTER TABLE app_user ADD COLUMN password_hash text;
ALTER TABLE app_user ADD COLUMN password_changed_at timestamptz;
ALTER TABLE app_user ADD COLUMN disabled_at timestamptz;
-- Encrypted; in force from totp_enabled_at on. A code's time step is used once: totp_last_step only grows.
ALTER TABLE app_user ADD COLUMN totp_secret bytea;
ALTER TABLE app_user ADD COLUMN totp_enabled_at timestamptz;
ALTER TABLE app_user ADD COLUMN totp_last_step bigint;

ALTER TABLE user_token ADD COLUMN token_prefix text NOT NULL DEFAULT '';

CREATE TABLE recovery_code (
  user_id uuid NOT NULL REFERENCES app_user,
  code_hash bytea NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (user_id, code_hash)
);

-- Links that set a password: the first one of a new owner, and later ones where it was forgotten. One at a time for a user, so that a
-- new one ends the one before; it is gone when it was used.
CREATE TABLE password_link (
  user_id uuid PRIMARY KEY REFERENCES app_user,
  link_hash bytea NOT NULL,
  created_by json NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX password_link_hash ON password_link (link_hash);

-- A user at an issuer outside, by the subject there.
CREATE TABLE external_identity (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL REFERENCES app_user,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX external_identity_of_user ON external_identity (user_id);

-- One row for each sign-in. What was issued under it holds as long as it is not ended.
CREATE TABLE user_session (
  user_id uuid NOT NULL REFERENCES app_user,
  session_id uuid NOT NULL,
  signed_in_by text NOT NULL,
  user_agent text NOT NULL,
  address text NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (user_id, session_id)
);
CREATE INDEX user_session_expired ON user_session (expires_at);

-- What happened to a user's account: sign-ins, refusals, changes of what they sign in with. Append-only.
CREATE TABLE account_activity (
  user_id uuid NOT NULL REFERENCES app_user,
  activity_id uuid NOT NULL,
  happened_at timestamptz NOT NULL,
  action text NOT NULL,
  address text NOT NULL,
  details json NOT NULL,
  PRIMARY KEY (user_id, activity_id)
);

-- Attempts to sign in that were evaluated and failed, per account and per address (hashes of both), with the time until which
-- nothing more is evaluated.
CREATE TABLE sign_in_backoff (
  subject_hash bytea PRIMARY KEY,
  failure_count integer NOT NULL,
  first_failed_at timestamptz NOT NULL,
  last_failed_at timestamptz NOT NULL,
  blocked_until timestamptz NOT NULL
);
CREATE INDEX sign_in_backoff_old ON sign_in_backoff (last_failed_at);

-- The OpenID provider's own records: sessions, grants, codes, refresh tokens. Named by a hash and encrypted, since the name of a
-- refresh token is the token.
CREATE TABLE oidc_record (
  kind text NOT NULL,
  record_hash bytea NOT NULL,
  grant_hash bytea,
  uid_hash bytea,
  user_code_hash bytea,
  payload bytea NOT NULL,
  consumed_at timestamptz,
  expires_at timestamptz,
  PRIMARY KEY (kind, record_hash)
);
CREATE INDEX oidc_record_of_grant ON oidc_record (grant_hash) WHERE grant_hash IS NOT NULL;
CREATE INDEX oidc_record_uid ON oidc_record (kind, uid_hash) WHERE uid_hash IS NOT NULL;
CREATE INDEX oidc_record_user_code ON oidc_record (kind, user_code_hash) WHERE user_code_hash IS NOT NULL;
CREATE INDEX oidc_record_expired ON oidc_record (expires_at);

-- The answer to one use of a refresh token, for a short while: a client that lost it, or asked twice at once, gets the same.
CREATE TABLE refresh_exchange (
  token_hash bytea PRIMARY KEY,
  client_id text NOT NULL,
  claim_id uuid NOT NULL,
  answer bytea,
  claimed_at timestamptz NOT NULL
);
CREATE INDEX refresh_exchange_old ON refresh_exchange (claimed_at);

-- Signs id tokens from active_at until the next one does; is published from its creation until retired_at. Numbered, so that of two
-- nodes that make the next one at once, one does.
CREATE TABLE signing_key (
  key_number integer PRIMARY KEY,
  key_id text NOT NULL,
  public_key json NOT NULL,
  private_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  active_at timestamptz NOT NULL,
  retired_at timestamptz
);

-- Requests of the minute that one node counted, for the others to add to their own.
CREATE TABLE rate_usage (
  minute timestamptz NOT NULL,
  node_id uuid NOT NULL,
  subject text NOT NULL,
  used_count bigint NOT NULL,
  PRIMARY KEY (minute, node_id, subject)
);

-- Limits that differ from the configuration's; NULL leaves one as configured.
CREATE TABLE organization_limit (
  organization_id uuid NOT NULL,
  requests_per_minute integer,
  submits_per_minute integer,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id)
);
SELECT distribute('organization_limit');
ALTER TABLE organization_limit ADD CONSTRAINT organization_limit_organization
  FOREIGN KEY (organization_id) REFERENCES organization (organization_id);

-- Roles that an organization made for itself; the built-in ones stand in the code.
CREATE TABLE role (
  organization_id uuid NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  permissions text[] NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, name)
);
SELECT distribute('role');
ALTER TABLE role ADD CONSTRAINT role_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);

CREATE TABLE invitation (
  organization_id uuid NOT NULL,
  invitation_id uuid NOT NULL,
  email text,
  roles text[] NOT NULL,
  link_hash bytea NOT NULL,
  created_by json NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  accepted_by uuid,
  revoked_at timestamptz,
  PRIMARY KEY (organization_id, invitation_id)
);
SELECT distribute('invitation');
ALTER TABLE invitation ADD CONSTRAINT invitation_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
ALTER TABLE invitation ADD CONSTRAINT invitation_accepted_whole CHECK ((accepted_at IS NULL) = (accepted_by IS NULL));
CREATE UNIQUE INDEX invitation_link ON invitation (organization_id, link_hash);

-- A narrow token: NULL means not bound. While a token is rotated its previous secret holds until previous_expires_at.
ALTER TABLE api_token ADD COLUMN workflow_ids uuid[];
ALTER TABLE api_token ADD COLUMN tags text[];
ALTER TABLE api_token ADD COLUMN bound_job_id uuid;
ALTER TABLE api_token ADD COLUMN bound_event_id text;
ALTER TABLE api_token ADD COLUMN rotated_at timestamptz;
ALTER TABLE api_token ADD COLUMN previous_token_hash bytea;
ALTER TABLE api_token ADD COLUMN previous_expires_at timestamptz;
ALTER TABLE api_token ADD CONSTRAINT api_token_previous_whole CHECK ((previous_token_hash IS NULL) = (previous_expires_at IS NULL));
CREATE INDEX api_token_previous ON api_token (organization_id, previous_token_hash) WHERE previous_token_hash IS NOT NULL;

-- Append-only: who changed what, or was refused to. Written with the change itself.
CREATE TABLE audit_entry (
  organization_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  recorded_at timestamptz NOT NULL,
  actor json NOT NULL,
  actor_id uuid,
  action text NOT NULL,
  outcome text NOT NULL,
  target_type text NOT NULL,
  target_id text,
  request_id text NOT NULL,
  address text NOT NULL,
  details json NOT NULL,
  PRIMARY KEY (organization_id, entry_id)
);
SELECT distribute('audit_entry');
ALTER TABLE audit_entry ADD CONSTRAINT audit_entry_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
ALTER TABLE audit_entry ADD CONSTRAINT audit_entry_outcome_known CHECK (outcome IN ('accepted', 'denied'));
CREATE INDEX audit_entry_of_actor ON audit_entry (organization_id, actor_id, entry_id);
CREATE INDEX audit_entry_of_target ON audit_entry (organization_id, target_id, entry_id);

-- Entries that no seal covers yet. A list of its own, so that an entry's row never changes.
CREATE TABLE audit_unsealed (
  organization_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  PRIMARY KEY (organization_id, entry_id)
);
SELECT distribute('audit_unsealed');

-- Seals of one organization form a chain: each covers its entries in audit_sealed, in the order of their ids, and the seal before it.
CREATE TABLE audit_seal (
  organization_id uuid NOT NULL,
  seal_number integer NOT NULL,
  entry_count integer NOT NULL,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  sealed_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, seal_number)
);
SELECT distribute('audit_seal');
ALTER TABLE audit_seal ADD CONSTRAINT audit_seal_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);
ALTER TABLE audit_seal ADD CONSTRAINT audit_seal_in_order CHECK (seal_number > 0);

-- Which seal covers an entry, and the entry's own hash: by it a changed row can be named, not only the seal that does not fit any more.
CREATE TABLE audit_sealed (
  organization_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  seal_number integer NOT NULL,
  entry_hash bytea NOT NULL,
  PRIMARY KEY (organization_id, entry_id)
);
SELECT distribute('audit_sealed');
CREATE INDEX audit_sealed_by ON audit_sealed (organization_id, seal_number, entry_id);
