-- Links that open the dashboard signed in, once. Only `stepwell dev` makes them. One at a time for a user, so that a new one ends the one
-- before; it is gone when it was used.
CREATE TABLE sign_in_link (
  user_id uuid PRIMARY KEY REFERENCES app_user,
  link_hash bytea NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX sign_in_link_hash ON sign_in_link (link_hash);
