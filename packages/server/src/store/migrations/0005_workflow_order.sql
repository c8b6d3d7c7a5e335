-- Workflows are listed by name, byte by byte and alike at every home of the store, whatever its default order of letters is. The unique index
-- of the names is built anew in this order and serves the list as well.
ALTER TABLE workflow ALTER COLUMN name TYPE text COLLATE "C";
