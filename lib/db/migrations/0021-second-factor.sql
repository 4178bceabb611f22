-- A second factor of a user: codes of an authenticator app, RFC 6238.
CREATE TABLE second_factors (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  -- Encrypted with the server's secret.
  secret TEXT NOT NULL,
  -- NULL: no first code was entered yet, so it is not asked for.
  confirmed_at INTEGER,
  -- The time step of the newest code that was used, so that none is good twice.
  last_step INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One row per code that is still good.
CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES second_factors (user_id) ON DELETE CASCADE,
  -- HMAC-SHA-256 with the server's secret.
  hash TEXT NOT NULL,
  PRIMARY KEY (user_id, hash)
) STRICT;
