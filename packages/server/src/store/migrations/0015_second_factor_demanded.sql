-- The user token that was made together with a password link, and stays when the link is used: everything else that the account had ends then.
ALTER TABLE password_link ADD COLUMN kept_token_id uuid;

-- The browser that a session was begun in, by the id in its cookie; and the browser in which the password was changed last, which stays known
-- though its cookie is of the password before.
ALTER TABLE user_session ADD COLUMN device_id uuid;
ALTER TABLE app_user ADD COLUMN kept_device_id uuid;

-- An organization may demand a second factor of its members. An issuer outside answers for its own sign-ins, also where one of these let a
-- device in.
ALTER TABLE organization ADD COLUMN requires_second_factor boolean NOT NULL DEFAULT false;
ALTER TABLE user_session ADD COLUMN is_vouched_for boolean NOT NULL DEFAULT false;
UPDATE user_session SET is_vouched_for = true WHERE signed_in_by LIKE 'sso:%';
