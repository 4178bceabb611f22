-- Keyed hashes of the addresses of users who had a trial. They outlive the accounts.
CREATE TABLE tried_addresses (
  hash TEXT PRIMARY KEY,
  first_at INTEGER NOT NULL
) STRICT;
