-- When an issuer outside last asked the person for what they sign in with there, as its id token says. A person without a password here confirms by it
-- that it is them. NULL: not said, or signed in with a password.
ALTER TABLE user_session ADD COLUMN authenticated_at timestamptz;
