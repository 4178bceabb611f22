-- The token bucket of each caller: `spent` requests at the time `at`, refilled evenly since then. A
-- caller is a key or, for sessions, a user. Written once a second, so that a restart forgets at most
-- the requests of the last second.
CREATE TABLE buckets (
  caller_id TEXT PRIMARY KEY,
  spent REAL NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Counted requests by UTC day (days since 1970-01-01); key_id is empty for sessions. The counts of a
-- deleted key stay.
CREATE TABLE usage_by_day (
  user_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  key_id TEXT NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (user_id, day, key_id)
) STRICT, WITHOUT ROWID;

-- Counted requests of a billing period, by its start in epoch milliseconds. `warned` is the largest
-- share of the cap, in per cent, that the user's audit log reports.
CREATE TABLE usage_by_period (
  user_id TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  warned INTEGER NOT NULL DEFAULT 0 CHECK (warned IN (0, 80, 100)),
  PRIMARY KEY (user_id, period_start)
) STRICT, WITHOUT ROWID;
