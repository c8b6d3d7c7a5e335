-- The key of each organization, one in the whole service. In a table of its own, since no constraint of an organization's table reaches over organizations.
CREATE TABLE organization_key (
  key text PRIMARY KEY,
  organization_id uuid NOT NULL
);
CREATE UNIQUE INDEX organization_key_of ON organization_key (organization_id);

-- Organizations that are there already: the oldest of a name gets the plain key, the others one that ends in their id. A plain key with such an ending could be the
-- key of another organization, so it gets an ending of its own.
INSERT INTO organization_key (key, organization_id)
SELECT CASE WHEN named.rank = 1 AND named.plain !~ '-[0-9a-f]{32}$' THEN named.plain
            ELSE left(named.plain, 31) || '-' || replace(named.organization_id::text, '-', '') END,
  named.organization_id
FROM (
  SELECT usable.organization_id, usable.plain, row_number() OVER (PARTITION BY usable.plain ORDER BY usable.organization_id) AS rank
  FROM (
    SELECT slug.organization_id,
      CASE WHEN length(slug.text) >= 3 AND slug.text !~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' THEN slug.text ELSE 'organization' END AS plain
    FROM (
      SELECT organization.organization_id,
        trim(BOTH '-' FROM left(trim(LEADING '-' FROM regexp_replace(lower(organization.name), '[^a-z0-9]+', '-', 'g')), 64)) AS text
      FROM organization
      WHERE organization.deleted_at IS NULL
    ) AS slug
  ) AS usable
) AS named;

-- The id of a role, which stays when the role is renamed. A node of an earlier release, which knows of no ids, leaves it to the default.
ALTER TABLE role ADD COLUMN role_id uuid NOT NULL DEFAULT gen_random_uuid();
CREATE UNIQUE INDEX role_by_id ON role (organization_id, role_id);
-- Names that the role had before. The mapping of an identity provider stands in the operator's file and may still use them.
ALTER TABLE role ADD COLUMN former_names text[] NOT NULL DEFAULT '{}';
