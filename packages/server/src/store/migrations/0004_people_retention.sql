-- For what is forgotten by age.
CREATE INDEX account_activity_old ON account_activity (happened_at);
CREATE INDEX invitation_expired ON invitation (expires_at);
