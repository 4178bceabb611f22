-- When a key ends whatever the plan; the days that its owner chose for it; the id of the key that replaces it.
ALTER TABLE api_keys ADD COLUMN ends_at INTEGER;
ALTER TABLE api_keys ADD COLUMN lifetime_days INTEGER;
ALTER TABLE api_keys ADD COLUMN replaced_by TEXT;
DROP TRIGGER api_keys_changed;
CREATE TRIGGER api_keys_changed
AFTER UPDATE OF hash, scopes, allowed_origins, expires_at, ends_at ON api_keys BEGIN
  INSERT INTO access_changes (user_id, revision)
  VALUES (NEW.user_id, (SELECT coalesce(max(revision), 0) + 1 FROM access_changes))
  ON CONFLICT (user_id) DO UPDATE SET revision = excluded.revision;
END;
