-- A value that was sealed under the service's secret key: a node whose keys do not open it must not start. One row for the whole store.
CREATE TABLE secret_key_check (
  check_number integer PRIMARY KEY CHECK (check_number = 1),
  sealed bytea NOT NULL
);
