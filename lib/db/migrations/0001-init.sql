CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  name TEXT,
  email_verified INTEGER NOT NULL DEFAULT 0 CHECK (email_verified IN (0, 1)),
  plan TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('secret', 'publishable')),
  scopes TEXT,
  allowed_origins TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER
) STRICT;
CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at);

-- Counts changes to users' access, so that each process notices the changes of the others.
CREATE TABLE revisions (
  subject TEXT PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT;
INSERT INTO revisions (subject, revision) VALUES ('access', 0);

CREATE TRIGGER api_keys_added AFTER INSERT ON api_keys BEGIN
  UPDATE revisions SET revision = revision + 1 WHERE subject = 'access';
END;
CREATE TRIGGER api_keys_removed AFTER DELETE ON api_keys BEGIN
  UPDATE revisions SET revision = revision + 1 WHERE subject = 'access';
END;
CREATE TRIGGER api_keys_changed
AFTER UPDATE OF user_id, hash, scopes, allowed_origins, expires_at ON api_keys BEGIN
  UPDATE revisions SET revision = revision + 1 WHERE subject = 'access';
END;
CREATE TRIGGER users_changed AFTER UPDATE OF plan ON users BEGIN
  UPDATE revisions SET revision = revision + 1 WHERE subject = 'access';
END;

CREATE TABLE audit_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  app TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  actor_label TEXT,
  action TEXT NOT NULL,
  target_type TEXT,
  target_id TEXT,
  detail TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_log_by_actor ON audit_log (actor_id, id);

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log BEGIN
  SELECT RAISE(ABORT, 'audit rows cannot be changed');
END;
-- INSERT OR REPLACE deletes a row without firing the trigger for deletions.
CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id) BEGIN
  SELECT RAISE(ABORT, 'audit rows cannot be changed');
END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log BEGIN
  SELECT RAISE(ABORT, 'audit rows cannot be deleted');
END;

-- The health check writes this table, to find out whether the database can be written.
CREATE TABLE health (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  checked_at INTEGER NOT NULL
) STRICT;
