-- Spreads an existing Stepwell store over the workers of a Citus cluster, in place. Stop every node of the service first, back the database up, and
-- run this on the coordinator as the owner of the tables:
--
--   psql "$DATABASE_URL" --set ON_ERROR_STOP=1 --single-transaction --file distribute.sql
--
-- The extension citus must exist, and the coordinator and the workers must be registered (docs/citus.md). If any part of the script fails, nothing is
-- changed. The script reads from the catalogue which tables belong to organizations: their primary key begins with `organization_id`.

CREATE TEMPORARY TABLE own_table ON COMMIT DROP AS
SELECT own.oid::regclass AS name, own.relname
FROM pg_class AS own
JOIN pg_index AS key ON key.indrelid = own.oid AND key.indisprimary
JOIN pg_attribute AS first ON first.attrelid = own.oid AND first.attnum = key.indkey[0]
WHERE own.relkind = 'r' AND own.relnamespace = current_schema()::regnamespace AND first.attname = 'organization_id';

-- A table cannot be distributed while a foreign key connects it with a table that is not distributed. So the foreign keys are dropped below, and made
-- again at the end from the definitions that are kept here.
CREATE TEMPORARY TABLE kept_key ON COMMIT DROP AS
SELECT held.conrelid::regclass AS table_name, held.conname AS name, pg_get_constraintdef(held.oid) AS definition
FROM pg_constraint AS held
WHERE held.contype = 'f' AND held.conrelid IN (SELECT name FROM own_table);

DO $$
DECLARE
  kept record;
  own record;
  other record;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
    RAISE EXCEPTION 'This database has no Citus. Run: CREATE EXTENSION citus';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM own_table WHERE relname = 'organization') THEN
    RAISE EXCEPTION 'This schema has no store of Stepwell. Check the database and the search_path.';
  END IF;
  FOR kept IN SELECT * FROM kept_key LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', kept.table_name, kept.name);
  END LOOP;
  PERFORM create_distributed_table('organization', 'organization_id');
  FOR own IN SELECT name, relname FROM own_table WHERE relname <> 'organization' ORDER BY relname LOOP
    PERFORM create_distributed_table(own.name, 'organization_id', colocate_with => 'organization');
  END LOOP;
  FOR kept IN SELECT * FROM kept_key ORDER BY table_name::text, name LOOP
    EXECUTE format('ALTER TABLE %s ADD CONSTRAINT %I %s', kept.table_name, kept.name, kept.definition);
  END LOOP;
  -- Some transactions change tables of people and of organizations. Citus commits all of their changes together only if it knows the tables of people
  -- as well.
  LOOP
    SELECT rest.oid::regclass AS name INTO other
    FROM pg_class AS rest
    WHERE rest.relkind = 'r' AND rest.relnamespace = current_schema()::regnamespace
      AND rest.relname NOT IN ('node', 'rate_usage', 'schema_migration')
      AND NOT EXISTS (SELECT 1 FROM pg_dist_partition AS known WHERE known.logicalrelid = rest.oid)
    ORDER BY rest.relname
    LIMIT 1;
    EXIT WHEN NOT FOUND;
    PERFORM citus_add_local_table_to_metadata(other.name, cascade_via_foreign_keys => true);
  END LOOP;
END $$;
