-- Browser applications that an organization lets its members sign in to.
CREATE TABLE oauth_client (
  organization_id uuid NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  redirect_uris text[] NOT NULL,
  created_by json NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, client_id)
);
SELECT distribute('oauth_client');
ALTER TABLE oauth_client ADD CONSTRAINT oauth_client_organization FOREIGN KEY (organization_id) REFERENCES organization (organization_id);

-- That a member agreed that a client acts for them.
CREATE TABLE oauth_consent (
  organization_id uuid NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  user_id uuid NOT NULL,
  consented_at timestamptz NOT NULL,
  PRIMARY KEY (organization_id, client_id, user_id)
);
SELECT distribute('oauth_consent');
ALTER TABLE oauth_consent ADD CONSTRAINT oauth_consent_client
  FOREIGN KEY (organization_id, client_id) REFERENCES oauth_client (organization_id, client_id);
CREATE INDEX oauth_consent_of_user ON oauth_consent (organization_id, user_id);

-- The origins of all clients in the service: a browser's question whether a page may call comes without a credential, and names no organization.
CREATE TABLE oauth_origin (
  origin text NOT NULL,
  organization_id uuid NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (origin, organization_id, client_id)
);
CREATE INDEX oauth_origin_of_client ON oauth_origin (organization_id, client_id);

-- A sign-in to an organization's client is a session of its own, with the name that the client had. NULL: a sign-in to the service itself.
ALTER TABLE user_session ADD COLUMN organization_id uuid;
ALTER TABLE user_session ADD COLUMN client_id text COLLATE "C";
ALTER TABLE user_session ADD COLUMN client_name text;
ALTER TABLE user_session ADD CONSTRAINT user_session_client_whole
  CHECK ((organization_id IS NULL) = (client_id IS NULL) AND (client_id IS NULL) = (client_name IS NULL));
CREATE INDEX user_session_of_client ON user_session (organization_id, client_id) WHERE organization_id IS NOT NULL;
