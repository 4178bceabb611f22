-- Usable from 0025
-- As SQLite's file of this number.
CREATE TABLE provider_accounts (
  provider TEXT COLLATE "C" PRIMARY KEY,
  sealed TEXT COLLATE "C" NOT NULL
);
