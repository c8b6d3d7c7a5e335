-- The language in which a version's definition is written: 1 knows no expressions, so that `${` in a text is just that; 2 does. A node of an earlier
-- release names none when it registers a version, and takes only what is in language 1.
ALTER TABLE workflow_version ADD COLUMN language integer NOT NULL DEFAULT 1;
