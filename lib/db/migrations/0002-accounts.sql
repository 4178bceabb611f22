-- Columns that the embedded sign-in needs.
ALTER TABLE users ADD COLUMN image TEXT;
ALTER TABLE users ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
-- The id of the user at a remote auth service; null if the user has never signed in there.
ALTER TABLE users ADD COLUMN remote_id TEXT;
CREATE UNIQUE INDEX users_by_remote_id ON users (remote_id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  ip_address TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- The ways in which a user can sign in; a password is stored as its scrypt hash.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  provider_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  password TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (user_id, provider_id)
) STRICT;

-- Open requests to reset a password; the identifier is a hash.
CREATE TABLE verifications (
  id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX verifications_by_identifier ON verifications (identifier);
CREATE INDEX verifications_by_expiry ON verifications (expires_at);

CREATE TABLE sites (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
CREATE INDEX sites_by_name ON sites (name);

-- The users whose access changed, in order, so that a process loads only what has changed since it
-- last looked, no matter which process made the change.
DROP TRIGGER api_keys_added;
DROP TRIGGER api_keys_removed;
DROP TRIGGER api_keys_changed;
DROP TRIGGER users_changed;
DROP TABLE revisions;

CREATE TABLE access_changes (
  user_id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL UNIQUE
) STRICT;

CREATE TRIGGER api_keys_added AFTER INSERT ON api_keys BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.user_id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER api_keys_removed AFTER DELETE ON api_keys BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (OLD.user_id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER api_keys_changed
AFTER UPDATE OF hash, scopes, allowed_origins, expires_at ON api_keys BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.user_id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER users_plan_changed AFTER UPDATE OF plan ON users BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;

-- Every new session and every new password gets an audit row in the same transaction.
CREATE TRIGGER sessions_login AFTER INSERT ON sessions BEGIN
  INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
  SELECT 'api', id, email, 'login', NEW.created_at FROM users WHERE id = NEW.user_id;
END;

CREATE TRIGGER accounts_password_added AFTER INSERT ON accounts WHEN NEW.password IS NOT NULL BEGIN
  INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
  SELECT 'api', id, email, 'set_password', NEW.updated_at FROM users WHERE id = NEW.user_id;
END;
CREATE TRIGGER accounts_password_changed AFTER UPDATE OF password ON accounts BEGIN
  INSERT INTO audit_log (app, actor_id, actor_label, action, created_at)
  SELECT 'api', id, email, 'set_password', NEW.updated_at FROM users WHERE id = NEW.user_id;
END;

CREATE INDEX audit_log_by_action ON audit_log (actor_id, action, id);
-- The index holds all text that a search reads, so only the rows of one page are read from the table.
-- The text is in lower case. The detail comes early, because a search reads until it finds a match.
ALTER TABLE audit_log ADD COLUMN search_text TEXT NOT NULL GENERATED ALWAYS AS (lower(
  action || char(10) || coalesce(detail, '') || char(10) || coalesce(target_type, '')
    || char(10) || coalesce(target_id, '')
)) VIRTUAL;
CREATE INDEX audit_log_by_text ON audit_log (actor_id, id, search_text);
