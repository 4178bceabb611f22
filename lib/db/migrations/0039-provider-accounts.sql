-- Accounts at providers of databases, which an operator has entered.
CREATE TABLE provider_accounts (
  -- maxmind
  provider TEXT PRIMARY KEY,
  -- Encrypted: its id and licence key.
  sealed TEXT NOT NULL
) STRICT;
