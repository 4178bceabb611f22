-- Usable from 0025
-- As SQLite's file of this number. Servers of an older release accept keys until then as if they had no end.
ALTER TABLE api_keys ADD COLUMN ends_at BIGINT;
ALTER TABLE api_keys ADD COLUMN lifetime_days BIGINT;
ALTER TABLE api_keys ADD COLUMN replaced_by TEXT COLLATE "C";
DROP TRIGGER api_keys_changed ON api_keys;
CREATE TRIGGER api_keys_changed AFTER UPDATE OF hash, scopes, allowed_origins, expires_at, ends_at ON api_keys
FOR EACH ROW EXECUTE FUNCTION record_access_change_of_owner();
